import { writeSync } from "node:fs"
import { Effect, Layer, Logger, Schedule } from "effect"
import { AccessEntry } from "./AccessLog.js"

// The access line is written on every request, so its JSON is built by hand. Only the path can need escaping.
const accessLine = (entry: AccessEntry, timestamp: string): string =>
  `{"timestamp":"${timestamp}","level":"INFO","message":"request","requestId":"${entry.requestId}","method":"${entry.method}","path":${JSON.stringify(entry.path)},"status":${entry.status},"durationMs":${entry.durationMs.toFixed(3)},"bytes":${entry.bytes},"remote":"${entry.remote}"}\n`

/** The bounds within which a value that `JSON.stringify` rejects is written. */
const maxMembers = 1000
const maxDepth = 50

/** Converts a value to valid JSON: bigints to text, and placeholders for cycles, excess and getters that throw. */
const printable = (given: unknown): unknown => {
  const around = new Set<object>()
  let members = 0
  const look = (value: unknown): unknown => {
    if (typeof value === "bigint") return String(value)
    if (typeof value !== "object" || value === null) return value
    if (around.has(value)) return "(circular)"
    if (around.size >= maxDepth) return "(too deep)"
    around.add(value)
    try {
      const own = (value as { readonly toJSON?: unknown }).toJSON
      if (typeof own === "function") return look(own.call(value))
      const entries = Object.entries(value).slice(0, maxMembers)
      const shown = entries.map(([key, member]) => [
        key,
        ++members > maxMembers ? "(too much)" : look(member)
      ])
      return Array.isArray(value) ? shown.map(([, member]) => member) : Object.fromEntries(shown)
    } catch (error) {
      return `(cannot be read: ${error})`
    } finally {
      around.delete(value)
    }
  }
  return look(given)
}

const jsonOf = (fields: object): string => {
  try {
    return JSON.stringify(fields)
  } catch {
    return JSON.stringify(printable(fields))
  }
}

const line = (options: Logger.Logger.Options<unknown>, timestamps: Timestamps): string => {
  const message = options.message
  const only = Array.isArray(message) && message.length === 1 ? message[0] : message
  if (only instanceof AccessEntry) return accessLine(only, timestamps.format(options.date))
  const {
    annotations,
    cause,
    fiberId,
    logLevel,
    message: text,
    spans,
    timestamp
  } = Logger.structuredLogger.log(options)
  return `${jsonOf({
    timestamp,
    level: logLevel,
    message: text,
    fiberId,
    ...(cause === undefined ? {} : { cause }),
    ...(Object.keys(spans).length === 0 ? {} : { spans }),
    ...annotations
  })}\n`
}

/** Formats dates in ISO 8601. Under load several entries share a millisecond, so the last text is reused. */
class Timestamps {
  private millis = Number.NaN
  private text = ""

  format(date: Date): string {
    if (date.getTime() !== this.millis) {
      this.millis = date.getTime()
      this.text = date.toISOString()
    }
    return this.text
  }
}

const flushAt = 16_384

/** The maximum number of bytes that wait for a slow reader. Further lines are dropped and counted. */
const maxWaitingBytes = 4 * 1024 * 1024

const retryMillis = 10

const isFull = (error: unknown) => error instanceof Error && "code" in error && error.code === "EAGAIN"

/** Buffers lines for a file descriptor for at most two milliseconds. */
class Sink {
  private gathered = ""
  /** Bytes that a full pipe has not accepted yet. */
  private waiting: Buffer = Buffer.alloc(0)
  private lost = 0
  private timer: NodeJS.Timeout | undefined = undefined

  constructor(private readonly descriptor: number) {}

  append(text: string): void {
    if (this.waiting.length + this.gathered.length > maxWaitingBytes) {
      this.lost++
      return
    }
    this.gathered += text
    if (this.gathered.length >= flushAt && this.waiting.length === 0) this.flush()
    else this.schedule(2)
  }

  /** Writes as much as the descriptor accepts. Returns whether the buffer is empty. */
  readonly flush = (): boolean => {
    try {
      this.write()
      while (this.gathered.length > 0) {
        this.waiting = Buffer.from(this.gathered + this.report())
        this.gathered = ""
        this.write()
      }
      return true
    } catch (error) {
      if (isFull(error)) {
        this.schedule(retryMillis)
        return false
      }
      // The reader has closed the pipe.
      this.waiting = Buffer.alloc(0)
      this.gathered = ""
      return true
    }
  }

  private write(): void {
    while (this.waiting.length > 0) {
      this.waiting = this.waiting.subarray(writeSync(this.descriptor, this.waiting))
    }
  }

  private report(): string {
    if (this.lost === 0) return ""
    const message = `${this.lost} log lines were dropped because the reader was too slow`
    this.lost = 0
    return `${JSON.stringify({ timestamp: new Date().toISOString(), level: "WARN", message })}\n`
  }

  private schedule(millis: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      this.flush()
    }, millis).unref()
  }
}

/** Flushes the buffer. A slow reader has one second. */
const drained = (sink: Sink): Effect.Effect<void> =>
  Effect.sync(sink.flush).pipe(
    Effect.repeat({ until: (done) => done, schedule: Schedule.spaced(retryMillis) }),
    Effect.timeoutOption("1 second"),
    Effect.asVoid
  )

/**
 * Logs one JSON object per line to a file descriptor (1 is standard output). Lines are buffered for at most two
 * milliseconds, and flushed when the layer closes and when the process exits. A reader that does not read never blocks
 * the process: above 4 MiB of buffered lines further lines are dropped, and a later line reports their number.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (descriptor: number): Layer.Layer<never> =>
  Layer.unwrapScoped(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => {
          const sink = new Sink(descriptor)
          process.on("exit", sink.flush)
          return sink
        }),
        (sink) =>
          Effect.zipRight(
            Effect.interruptible(drained(sink)),
            Effect.sync(() => process.off("exit", sink.flush))
          )
      ),
      (sink) => {
        const timestamps = new Timestamps()
        return Logger.replace(
          Logger.defaultLogger,
          Logger.make((options) => sink.append(line(options, timestamps)))
        )
      }
    )
  )

/**
 * Logs in a readable format on a terminal, and as JSON lines elsewhere.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerAuto: Layer.Layer<never> = Layer.unwrapEffect(
  Effect.sync(() => (process.stdout.isTTY ? Logger.pretty : layer(1)))
)
