import { Command as Process } from "@effect/platform"
import { Chunk, Effect, Stream } from "effect"
import { RemoteError } from "../domain/errors/StoreError.js"

const decoder = new TextDecoder()

const collect = <E, R>(stream: Stream.Stream<Uint8Array, E, R>) =>
  Effect.map(Stream.runCollect(stream), (chunks) =>
    Chunk.toReadonlyArray(chunks)
      .map((chunk) => decoder.decode(chunk, { stream: true }))
      .join("")
  )

const run = (
  directory: string,
  line: ReadonlyArray<string>,
  isDone: (code: number, err: string) => boolean
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const command = `git ${line.find((part) => !part.startsWith("-"))}`
      const child = yield* Process.start(Process.make("git", "-C", directory, ...line))
      const [out, err, code] = yield* Effect.all(
        [collect(child.stdout), collect(child.stderr), child.exitCode],
        { concurrency: 3 }
      )
      if (isDone(code, err)) return out
      return yield* new RemoteError({
        operation: command,
        reason: "Unsupported",
        message: err.trim() || `${command} ended with ${code}`
      })
    })
  ).pipe(
    Effect.catchTags({
      BadArgument: (error) => unavailable(error.message),
      SystemError: (error) => unavailable(error.message)
    })
  )

/** Runs Git in the work tree of a clone, and returns its output. */
export const git = (directory: string, ...line: ReadonlyArray<string>) =>
  run(directory, line, (code) => code === 0)

/** Runs a search by Git, which exits with 1 if it finds nothing. */
export const gitSearch = (directory: string, ...line: ReadonlyArray<string>) =>
  run(directory, line, (code, err) => code === 0 || (code === 1 && err === ""))

const unavailable = (message: string) =>
  new RemoteError({
    operation: "git",
    reason: "Unsupported",
    message: `git cannot be run: ${message}`,
    hint: "install Git, and run this in a clone"
  })
