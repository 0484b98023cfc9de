import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Stream } from "effect"
import { SourceError } from "../store/transfer/SourceError.js"

const unreadable =
  (operation: string, file: string) =>
  (cause: PlatformError): SourceError =>
    new SourceError({
      operation,
      message:
        cause._tag === "SystemError" && cause.reason === "NotFound"
          ? `there is no file ${file}`
          : `${file} cannot be read: ${cause.message}`,
      hint: "check the path, or write - for standard input",
      cause
    })

/** The size of a file that a command reads, and its bytes. Fails at once if the file does not exist. */
export const inputFile = (operation: string, file: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { size } = yield* files.stat(file)
    return { size: Number(size), bytes: Stream.mapError(files.stream(file), unreadable(operation, file)) }
  }).pipe(Effect.mapError(unreadable(operation, file)))
