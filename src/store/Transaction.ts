import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { WriteError } from "../domain/errors/StoreError.js"
import type { RunBatch } from "./Batch.js"
import type { Collections, WriteOptions } from "./Collection.js"

/**
 * Options of `store.transaction` and `store.withTransaction`.
 *
 * @since 0.1.0
 * @category options
 */
export interface TransactionOptions extends WriteOptions {
  /** The name of the work branch. Default: generated. */
  readonly branch?: string | undefined
}

/**
 * A transaction: commits on a work branch that are published together.
 *
 * @since 0.1.0
 * @category models
 */
export interface Transaction {
  /** The name of the work branch, `chainstore-tx-` and a ULID. */
  readonly branch: string
  /** Opens a collection whose reads and writes are part of the transaction. */
  readonly collection: Collections
  /** See `store.batch`; runs on the work branch. */
  readonly batch: RunBatch
}

/**
 * Runs a body on a work branch, and publishes its commits atomically.
 *
 * @example
 * ```ts
 * yield* store.transaction({ message: "move" }, (tx) =>
 *   Effect.gen(function* () {
 *     const tea = yield* Effect.flatten(tx.collection("stock").get("tea"))
 *     yield* tx.collection("cellar").insert(tea, { id: "tea" })
 *     yield* tx.collection("stock").delete("tea")
 *   })
 * )
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export type RunTransaction = <A, E, R>(
  options: TransactionOptions,
  body: (transaction: Transaction) => Effect.Effect<A, E, R>
) => Effect.Effect<{ readonly result: A; readonly commitSha: Option.Option<string> }, E | WriteError, R>

/**
 * Runs an effect as one transaction, which every operation inside it on this branch of this store joins: operations of
 * services, of collections that were opened before, of streams that run inside, and of fibers that are started inside.
 * If the effect fails or is interrupted, nothing is written. A nested transaction becomes part of the outer one when it
 * succeeds; if it fails, the outer one continues without its writes.
 *
 * @since 0.1.0
 * @category transactions
 */
export type WithTransaction = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options?: TransactionOptions
) => Effect.Effect<A, E | WriteError, R>
