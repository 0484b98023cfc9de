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
   * Queues a document, to be stored whether or not one exists; fails with `ValidationError` at once where it breaks the
   * schema or its id is not valid.
   */
  readonly put: <C extends CollectionLike>(
    collection: C,
    id: string,
    document: InputOf<C>
  ) => Effect.Effect<void, WriteError, ContextOf<C>>
  /**
   * Queues a new document, and returns its id, generated unless `options.id` is given. The commit fails with
   * `ConflictError` where the id exists.
   */
  readonly insert: <C extends CollectionLike>(
    collection: C,
    document: InputOf<C>,
    options?: { readonly id?: string | undefined }
  ) => Effect.Effect<string, WriteError, ContextOf<C>>
  /**
   * Queues a deletion. Committing fails with `NotFoundError` where there is no such document, before anything is written.
   */
  readonly delete: (collection: CollectionLike, id: string) => Effect.Effect<void, WriteError>
  /** One expectation a document: a revision, a blob id, or that it is absent. */
  readonly expect: (
    collection: CollectionLike,
    id: string,
    expectation: { readonly rev: number } | { readonly sha: string } | { readonly absent: true }
  ) => Effect.Effect<void, WriteError>
  /**
   * Writes what is queued as one commit and empties the queue; its id, none when nothing was queued. A commit that fails
   * keeps the queue, but for an `AmbiguousWriteError`: what may be written is not written twice.
   */
  readonly commit: Effect.Effect<Option.Option<string>, WriteError>
  /** Forgets everything queued so far, expectations too; nothing of it is written. */
  readonly discard: Effect.Effect<void>
  /** How many operations are queued. */
  readonly operations: Effect.Effect<number>
  /** How many expectations are queued. */
  readonly expectations: Effect.Effect<number>
}

/**
 * Runs a body and commits what it queued; a body that fails or is interrupted discards it. Answers the body's result and
 * the last commit.
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
