import type * as Effect from "effect/Effect"
import type { ReadError } from "../domain/errors/StoreError.js"

/** Identifies a `Batching`. */
export const BatchingTypeId: unique symbol = Symbol.for("chainstore/store/Batching")

/** A read that can be combined with others. */
export interface BatchedRead<I, A> {
  /** Reads with the same key are combined. */
  readonly key: object
  readonly input: I
  /** The read on its own. */
  readonly alone: Effect.Effect<A, ReadError>
  /** Reads all inputs; returns one effect for each, in their order. */
  readonly together: (
    inputs: ReadonlyArray<I>
  ) => Effect.Effect<ReadonlyArray<Effect.Effect<A, ReadError>>, ReadError>
}

/**
 * Combines the reads that one fiber tree makes at the same time. `chainstore/batching` exports the implementation.
 *
 * @since 0.1.0
 * @category batching
 */
export interface Batching {
  /** Makes a read, combined with concurrent ones. */
  readonly [BatchingTypeId]: <I, A>(read: BatchedRead<I, A>) => Effect.Effect<A, ReadError>
}
