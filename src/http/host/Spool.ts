import { randomUUID } from "node:crypto"
import { type FileHandle, mkdir, open, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option, type Scope, Stream } from "effect"
import { RemoteError } from "../../domain/StoreError.js"

const pieceBytes = 256 * 1024

/** A file for what is too large for memory. It has no name, so nothing of it outlives the process. */
export interface Spool {
  /** How many bytes it has. */
  readonly size: () => number
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, RemoteError>
  readonly read: (start: number, end: number) => Stream.Stream<Uint8Array, RemoteError>
}

const broken = (cause: unknown) =>
  new RemoteError({
    operation: "Spool",
    message: "The request body could not be taken in: is there space left on the disk?",
    reason: "Server",
    cause
  })

const nameless = async (directory: string): Promise<FileHandle> => {
  await mkdir(directory, { recursive: true })
  const file = join(directory, `.spool-${randomUUID()}`)
  const handle = await open(file, "wx+", 0o600)
  await rm(file)
  return handle
}

/** Opens one on the disk of `directory`. */
export const make = (directory: string): Effect.Effect<Spool, RemoteError, Scope.Scope> =>
  Effect.gen(function* () {
    // Closing waits for what is under way.
    const handle = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => nameless(directory), catch: broken }),
      (opened) => Effect.promise(() => opened.close())
    )
    let size = 0
    return {
      size: () => size,
      append: (bytes) =>
        Effect.tryPromise({
          try: async () => {
            for (let at = 0; at < bytes.length; ) {
              const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, size)
              at += bytesWritten
              size += bytesWritten
            }
          },
          catch: broken
        }),
      read: (start, end) =>
        Stream.unfoldEffect(start, (at) =>
          at >= end
            ? Effect.succeedNone
            : Effect.tryPromise({
                try: async () => {
                  const wanted = Math.min(pieceBytes, end - at)
                  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, at)
                  if (bytesRead === 0) throw new Error("The file is shorter than what was written to it")
                  return Option.some([buffer.subarray(0, bytesRead), at + bytesRead] as const)
                },
                catch: broken
              })
        )
    }
  })
