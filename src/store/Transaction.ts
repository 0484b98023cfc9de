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
  /** Name of the work branch; generated when not given. */
  readonly branch?: string | undefined
}

/**
 * Commits on a work branch that become visible together.
 *
 * @since 0.1.0
 * @category models
 */
export interface Transaction {
  /** The name of the work branch, `chainstore-tx-` and a ULID. */
  readonly branch: string
  /** Opens a collection whose reads and writes are part of the transaction. */
  readonly collection: Collections
  /** As `store.batch`, on the work branch. */
  readonly batch: RunBatch
}

/**
 * Runs a body on a work branch, and publishes what it committed there in one step.
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
 * Runs an effect as one transaction, which every operation on this branch of this store joins that runs inside: those
 * of services, of collections that were opened before, of streams that run inside and of fibers that are started there.
 * An effect that fails or is interrupted writes nothing. A transaction inside another one becomes part of it when it
 * succeeds; where it fails, the other one goes on without what it wrote.
 *
 * @since 0.1.0
 * @category transactions
 */
export type WithTransaction = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options?: TransactionOptions
) => Effect.Effect<A, E | WriteError, R>
