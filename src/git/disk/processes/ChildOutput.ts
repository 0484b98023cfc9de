import type { Readable } from "node:stream"
import * as Stream from "effect/Stream"

/**
 * The output of a child process as a stream. Interrupting the stream does not wait for the next piece, as ending Node's iterator
 * does. The caller ends the child.
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
