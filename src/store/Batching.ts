import type * as Effect from "effect/Effect"
import type { ReadError } from "../domain/errors/StoreError.js"

/** Marks a `Batching`. */
export const BatchingTypeId: unique symbol = Symbol.for("chainstore/store/Batching")

/** A read that may be made together with others. */
export interface BatchedRead<I, A> {
  /** Reads with the same key are made together. */
  readonly key: object
  readonly input: I
  /** The read by itself. */
  readonly alone: Effect.Effect<A, ReadError>
  /** The reads of all inputs, in their order; each has an outcome of its own. */
  readonly together: (
    inputs: ReadonlyArray<I>
  ) => Effect.Effect<ReadonlyArray<Effect.Effect<A, ReadError>>, ReadError>
}

/**
 * How a store reads documents together that one fiber tree asks for at the same time: `chainstore/batching` exports it.
 *
 * @since 0.1.0
 * @category batching
 */
export interface Batching {
  /** Marks it. */
  readonly [BatchingTypeId]: <I, A>(read: BatchedRead<I, A>) => Effect.Effect<A, ReadError>
}
