import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { RemoteError } from "../domain/errors/StoreError.js"

/**
 * A file for data that is too large for memory. It exists as long as its scope.
 *
 * @since 0.1.0
 * @category models
 */
export interface TemporaryFile {
  /** Its size in bytes. */
  readonly size: () => number
  /** Appends bytes. */
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, RemoteError>
  /** Streams the bytes from `start` to `end`. */
  readonly read: (start: number, end: number) => Stream.Stream<Uint8Array, RemoteError>
}

/** A temporary file in memory, for environments without a disk. It keeps the appended arrays without copying them. */
export const makeInMemory = (): TemporaryFile => {
  const pieces: Array<{ readonly start: number; readonly bytes: Uint8Array }> = []
  let size = 0
  return {
    size: () => size,
    append: (bytes) =>
      Effect.sync(() => {
        pieces.push({ start: size, bytes })
        size += bytes.length
      }),
    read: (start, end) =>
      Stream.fromIterable(pieces).pipe(
        Stream.filter((piece) => piece.start < end && piece.start + piece.bytes.length > start),
        Stream.map((piece) =>
          piece.bytes.subarray(Math.max(0, start - piece.start), Math.max(0, end - piece.start))
        )
      )
  }
}
