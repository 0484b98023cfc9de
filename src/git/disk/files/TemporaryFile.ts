import { randomUUID } from "node:crypto"
import { type FileHandle, mkdir, open, rm } from "node:fs/promises"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { RemoteError } from "../../../domain/errors/StoreError.js"
import type { TemporaryFile } from "../../TemporaryFile.js"

const pieceBytes = 256 * 1024

const failure = (cause: unknown) =>
  new RemoteError({
    operation: "TemporaryFile",
    message: "A temporary file could not be written or read: is there space left on the disk?",
    reason: "Server",
    cause
  })

const openNameless = async (directory: string): Promise<FileHandle> => {
  await mkdir(directory, { recursive: true })
  const file = join(directory, `.spool-${randomUUID()}`)
  const handle = await open(file, "wx+", 0o600)
  await rm(file)
  return handle
}

/**
 * A temporary file in `directory`. It has no name, so that it does not outlive the process. The first `inMemory` bytes are kept
 * in memory, and the file is opened when there are more.
 */
export const make = (
  directory: string,
  inMemory = 0
): Effect.Effect<TemporaryFile, RemoteError, Scope.Scope> =>
  Effect.gen(function* () {
    let file: FileHandle | undefined
    let buffered: Buffer = Buffer.alloc(0)
    let size = 0
    const write = async (handle: FileHandle, bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, size)
        at += bytesWritten
        size += bytesWritten
      }
    }
    const opened = async () => {
      if (file !== undefined) return file
      file = await openNameless(directory)
      size = 0
      await write(file, buffered)
      buffered = Buffer.alloc(0)
      return file
    }
    // Closing waits for pending reads and writes.
    yield* Effect.addFinalizer(() => Effect.promise(async () => file?.close()))
    return {
      size: () => size,
      append: (bytes) =>
        Effect.uninterruptible(
          Effect.tryPromise({
            try: async () => {
              if (file === undefined && size + bytes.length <= inMemory) {
                buffered = Buffer.concat([buffered, bytes])
                size = buffered.length
              } else await write(await opened(), bytes)
            },
            catch: failure
          })
        ),
      read: (start, end) =>
        Stream.unfoldEffect(start, (at) =>
          at >= end
            ? Effect.succeedNone
            : Effect.tryPromise({
                try: async () => {
                  if (file === undefined) return Option.some([buffered.subarray(at, end), end] as const)
                  const length = Math.min(pieceBytes, end - at)
                  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at)
                  if (bytesRead === 0) throw new Error("The file is shorter than what was written to it")
                  return Option.some([buffer.subarray(0, bytesRead), at + bytesRead] as const)
                },
                catch: failure
              })
        )
    }
  })
