import { writeSync } from "node:fs"
import { Effect, Layer, Logger } from "effect"
import { AccessEntry } from "./AccessEntry.js"

// Access lines come by the thousand: their JSON is written out by hand, field by field, and escaped where text is foreign.
const accessLine = (entry: AccessEntry, date: Date): string =>
  `{"timestamp":"${date.toISOString()}","level":"INFO","message":"request","requestId":"${entry.requestId}","method":"${entry.method}","path":${JSON.stringify(entry.path)},"status":${entry.status},"durationMs":${entry.durationMs.toFixed(3)},"bytes":${entry.bytes},"remote":"${entry.remote}"}\n`

const line = (options: Logger.Logger.Options<unknown>): string => {
  const message = options.message
  const only = Array.isArray(message) && message.length === 1 ? message[0] : message
  if (only instanceof AccessEntry) return accessLine(only, options.date)
  const {
    annotations,
    cause,
    fiberId,
    logLevel,
    message: text,
    spans,
    timestamp
  } = Logger.structuredLogger.log(options)
  return `${JSON.stringify({
    timestamp,
    level: logLevel,
    message: text,
    fiberId,
    ...(cause === undefined ? {} : { cause }),
    ...(Object.keys(spans).length === 0 ? {} : { spans }),
    ...annotations
  })}\n`
}

const flushAt = 16_384

const sink = (descriptor: number) => {
  let pending = ""
  let scheduled = false
  const flush = () => {
    scheduled = false
    let bytes = Buffer.from(pending)
    pending = ""
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(descriptor, bytes))
      } catch (error) {
        // A pipe set to non-blocking by its reader is full: what is left waits for the next turn.
        if (error instanceof Error && "code" in error && error.code === "EAGAIN") {
          pending = bytes.toString("utf8") + pending
          schedule()
        }
        return
      }
    }
  }
  const schedule = () => {
    if (scheduled) return
    scheduled = true
    setTimeout(flush, 2).unref()
  }
  const append = (text: string) => {
    pending += text
    if (pending.length >= flushAt) flush()
    else schedule()
  }
  return { append, flush }
}

/**
 * One JSON object per line to a file descriptor (1: standard output), gathered for at most two milliseconds;
 * what is pending is written when the layer closes and when the process exits.
 */
export const layer = (descriptor: number): Layer.Layer<never> =>
  Layer.unwrapScoped(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => {
          const out = sink(descriptor)
          process.on("exit", out.flush)
          return out
        }),
        (out) =>
          Effect.sync(() => {
            process.off("exit", out.flush)
            out.flush()
          })
      ),
      (out) =>
        Logger.replace(
          Logger.defaultLogger,
          Logger.make((options) => out.append(line(options)))
        )
    )
  )

/** Pretty lines on a terminal, JSON lines anywhere else. */
export const layerAuto: Layer.Layer<never> = Layer.unwrapEffect(
  Effect.sync(() => (process.stdout.isTTY ? Logger.pretty : layer(1)))
)
