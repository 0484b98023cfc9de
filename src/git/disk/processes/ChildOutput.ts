import type { Readable } from "node:stream"
import * as Stream from "effect/Stream"

/**
 * What a child puts out, as it comes. Who leaves does not wait for the next piece, as the end of Node's own iterator does:
 * whoever started the child ends it.
 */
export const outputOf = <E>(output: Readable, failed: (cause: unknown) => E): Stream.Stream<Uint8Array, E> =>
  Stream.fromAsyncIterable(
    {
      [Symbol.asyncIterator]: () => {
        const pieces: AsyncIterator<Uint8Array> = output[Symbol.asyncIterator]()
        return { next: () => pieces.next() }
      }
    },
    failed
  )
