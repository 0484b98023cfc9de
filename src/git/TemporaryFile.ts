import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { RemoteError } from "../domain/errors/StoreError.js"

/**
 * Bytes that are too many for the memory, for as long as a scope lasts.
 *
 * @since 0.1.0
 * @category models
 */
export interface TemporaryFile {
  /** How many bytes it has. */
  readonly size: () => number
  /** Adds bytes to its end. */
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, RemoteError>
  /** The bytes between two places, in pieces. */
  readonly read: (start: number, end: number) => Stream.Stream<Uint8Array, RemoteError>
}

/** The same in memory, where there is no disk. What is appended is kept as it is, and read where it was appended. */
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
