import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import type * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { inDaemonFiber } from "../../domain/concurrency/DaemonFiber.js"
import {
  type Destination,
  type DestinationContext,
  DestinationError,
  type DestinationFailure
} from "./Destination.js"

const destinationError = (operation: string, path?: string) => (cause: unknown) =>
  new DestinationError({
    operation,
    path,
    message: `cannot write ${path ?? "to the destination"}: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: path === undefined ? undefined : "check that the directory exists and is writable",
    cause
  })

/** Writes all bytes. A file is replaced only when the new one is complete; a failure keeps the old file. */
export const writeTo = <D extends Destination<unknown, unknown>, E, R>(
  destination: D,
  bytes: Stream.Stream<Uint8Array, E, R>,
  operation: string
): Effect.Effect<void, E | DestinationError | DestinationFailure<D>, R | DestinationContext<D>> => {
  const written =
    typeof destination === "string"
      ? toFile(destination, bytes, operation)
      : destination instanceof WritableStream
        ? toWritable(destination, bytes, operation)
        : Effect.asVoid(Stream.run(bytes, destination as Sink.Sink<unknown, Uint8Array>))
  return written as Effect.Effect<
    void,
    E | DestinationError | DestinationFailure<D>,
    R | DestinationContext<D>
  >
}

const toFile = <E, R>(path: string, bytes: Stream.Stream<Uint8Array, E, R>, operation: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const existing = yield* Effect.option(files.stat(path))
    // A pipe or a device cannot be replaced by a rename.
    const isDevice = Option.exists(existing, ({ type }) => type !== "File" && type !== "Directory")
    yield* isDevice
      ? Stream.run(bytes, files.sink(path, { flag: "a" }))
      : replaceFile(files, path, existing, bytes)
  }).pipe(
    Effect.mapError((error) => (isFileError(error) ? destinationError(operation, path)(error) : (error as E)))
  )

const isFileError = (error: unknown): error is PlatformError =>
  Predicate.isTagged(error, "SystemError") || Predicate.isTagged(error, "BadArgument")

/** The most symbolic links that are followed, as on Linux. */
const maxLinks = 40

/** The path of a missing file: that to which symbolic links lead, if there are any. */
const missingFile = (
  files: FileSystem.FileSystem,
  path: string,
  links = 0
): Effect.Effect<string, PlatformError> =>
  Effect.flatMap(Effect.option(files.readLink(path)), (found) => {
    if (Option.isNone(found)) return Effect.succeed(path)
    // Fails with the reason of the system.
    if (links === maxLinks) return files.realPath(path)
    const link = found.value
    const isAbsolute = /^(?:[A-Za-z]:)?[\\/]/.test(link)
    const directory = path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)
    return missingFile(files, isAbsolute ? link : `${directory}${link}`, links + 1)
  })

/** Writes a temporary file in the same directory, and renames it to the file when it is complete. */
const replaceFile = <E, R>(
  files: FileSystem.FileSystem,
  path: string,
  existing: Option.Option<FileSystem.File.Info>,
  bytes: Stream.Stream<Uint8Array, E, R>
) =>
  Effect.gen(function* () {
    // Keeps a symbolic link, and replaces or creates its target.
    const target = yield* Option.isNone(existing) ? missingFile(files, path) : files.realPath(path)
    const partial = `${target}.${(yield* Random.nextIntBetween(0x1000_0000, 0x7fff_ffff)).toString(16)}.partial`
    // From the beginning, so that others who may not read the file cannot read the new one while it is written.
    const mode = Option.map(existing, (file) => file.mode & 0o777)
    yield* Stream.run(bytes, files.sink(partial, { mode: Option.getOrElse(mode, () => 0o666) })).pipe(
      Effect.zipRight(
        // The umask may have removed permissions.
        Option.match(mode, { onNone: () => Effect.void, onSome: (all) => files.chmod(partial, all) })
      ),
      Effect.zipRight(files.rename(partial, target)),
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.ignore(files.remove(partial))))
    )
  })

const toWritable = <E, R>(
  writable: WritableStream<Uint8Array>,
  bytes: Stream.Stream<Uint8Array, E, R>,
  operation: string
) =>
  Effect.acquireUseRelease(
    Effect.try({ try: () => writable.getWriter(), catch: destinationError(operation) }),
    (writer) => {
      const attempt = (write: () => Promise<void>) =>
        Effect.tryPromise({ try: write, catch: destinationError(operation) })
      return Effect.zipRight(
        Stream.runForEach(bytes, (chunk) =>
          attempt(async () => {
            await writer.ready
            await writer.write(chunk)
          })
        ),
        attempt(() => writer.close())
      )
    },
    (writer, exit) =>
      Exit.isSuccess(exit)
        ? Effect.void
        : inDaemonFiber(
            Effect.promise(() => writer.abort().catch(() => {})).pipe(
              Effect.timeout("5 seconds"),
              Effect.ignoreLogged
            )
          )
  )
