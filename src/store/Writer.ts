import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { WriteError } from "../domain/errors/StoreError.js"
import type { WriteOptions } from "./Collection.js"
import type { CollectionLike, ContextOf, InputOf } from "./CollectionDefinition.js"

/**
 * Options of `store.writer`.
 *
 * @since 0.1.0
 * @category options
 */
export interface WriterOptions extends WriteOptions {
  /** The number of queued operations that causes a flush. Default 50. */
  readonly maxOperations?: number | undefined
  /** The number of seconds after the first queued operation that causes a flush. Default 5. */
  readonly maxSeconds?: number | undefined
}

/**
 * Collects writes and commits them together, in the order in which they were queued. After `put` an operation is
 * queued, after `flush` it is durable. A failed flush keeps the queue and names the operations that are not durable in
 * `unwritten`. If a timed flush failed, the next call fails with its error, and without a call the flush is retried. An
 * `AmbiguousWriteError` removes its operations from the queue, so that nothing is written twice.
 *
 * @since 0.1.0
 * @category models
 */
export interface Writer {
  /** Queues a document, which is stored whether or not it exists; it is durable after the next flush. */
  readonly put: <C extends CollectionLike>(
    collection: C,
    id: string,
    document: InputOf<C>
  ) => Effect.Effect<void, WriteError, ContextOf<C>>
  /**
   * Queues a new document, and returns its id, which is generated unless `options.id` is given. The flush fails with
   * `ConflictError` if the id exists.
   */
  readonly insert: <C extends CollectionLike>(
    collection: C,
    document: InputOf<C>,
    options?: { readonly id?: string | undefined }
  ) => Effect.Effect<string, WriteError, ContextOf<C>>
  /** Queues a deletion. The flush fails with `NotFoundError` if the document does not exist. */
  readonly delete: (collection: CollectionLike, id: string) => Effect.Effect<void, WriteError>
  /** Commits all queued operations. Returns the last commit; none if nothing had to be written. */
  readonly flush: Effect.Effect<Option.Option<string>, WriteError>
  /**
   * Discards the queued operations that are not being written, such as one that cannot succeed; returns their number.
   */
  readonly discard: Effect.Effect<number>
  /** The number of operations that are not durable yet. */
  readonly pending: Effect.Effect<number>
  /** Ids of the commits made so far. */
  readonly commits: Effect.Effect<ReadonlyArray<string>>
}

/**
 * Runs a body with a writer, and flushes at the end. Returns the body's result and the commits.
 *
 * @example
 * ```ts
 * const { commits } = yield* store.writer({ maxOperations: 100, maxSeconds: 2 }, (writer) =>
 *   Stream.runForEach(measured, ({ at, value }) => writer.put("values", at, { value }))
 * )
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export type RunWriter = <A, E, R>(
  options: WriterOptions,
  body: (writer: Writer) => Effect.Effect<A, E, R>
) => Effect.Effect<{ readonly result: A; readonly commits: ReadonlyArray<string> }, E | WriteError, R>
