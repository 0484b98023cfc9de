import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { WriteError } from "../domain/errors/StoreError.js"
import type { WriteOptions } from "./Collection.js"
import type { CollectionLike, ContextOf, InputOf } from "./CollectionDefinition.js"

/**
 * Options of `store.batch`.
 *
 * @since 0.1.0
 * @category options
 */
export interface BatchOptions extends WriteOptions {}

/**
 * Queued operations of one commit; the last operation on a document wins.
 *
 * @since 0.1.0
 * @category models
 */
export interface Batch {
  /**
   * Queues a document, which is stored whether or not it exists. Fails with `ValidationError` at once if it does not
   * match the schema or its id is not valid.
   */
  readonly put: <C extends CollectionLike>(
    collection: C,
    id: string,
    document: InputOf<C>
  ) => Effect.Effect<void, WriteError, ContextOf<C>>
  /**
   * Queues a new document, and returns its id, which is generated unless `options.id` is given. The commit fails with
   * `ConflictError` if the id exists.
   */
  readonly insert: <C extends CollectionLike>(
    collection: C,
    document: InputOf<C>,
    options?: { readonly id?: string | undefined }
  ) => Effect.Effect<string, WriteError, ContextOf<C>>
  /** Queues a deletion. The commit fails with `NotFoundError`, and writes nothing, if the document does not exist. */
  readonly delete: (collection: CollectionLike, id: string) => Effect.Effect<void, WriteError>
  /** Expects a revision or a blob id of a document, or that it is absent. */
  readonly expect: (
    collection: CollectionLike,
    id: string,
    expectation: { readonly rev: number } | { readonly sha: string } | { readonly absent: true }
  ) => Effect.Effect<void, WriteError>
  /**
   * Writes the queued operations as one commit and empties the queue. Returns the id of the commit; none if nothing was
   * queued. A commit that fails keeps the queue, except with `AmbiguousWriteError`: operations that may have been
   * written are not written again.
   */
  readonly commit: Effect.Effect<Option.Option<string>, WriteError>
  /** Discards everything that is queued, including expectations. */
  readonly discard: Effect.Effect<void>
  /** The number of queued operations. */
  readonly operations: Effect.Effect<number>
  /** The number of queued expectations. */
  readonly expectations: Effect.Effect<number>
}

/**
 * Runs a body and commits the operations that it queued. If the body fails or is interrupted, they are discarded.
 * Returns the body's result and the last commit.
 *
 * @example
 * ```ts
 * const { commitSha } = yield* store.batch({ message: "take stock" }, (batch) =>
 *   Effect.all([batch.put("stock", "tea", { count: 3 }), batch.delete("stock", "milk")])
 * )
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export type RunBatch = <A, E, R>(
  options: BatchOptions,
  body: (batch: Batch) => Effect.Effect<A, E, R>
) => Effect.Effect<{ readonly result: A; readonly commitSha: Option.Option<string> }, E | WriteError, R>
