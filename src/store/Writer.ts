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
  /** Flush at this many queued operations. Default 50. */
  readonly maxOperations?: number | undefined
  /** Flush this many seconds after the first queued operation. Default 5. */
  readonly maxSeconds?: number | undefined
}

/**
 * Collects writes and commits them together, in the order in which they were queued. `put` means queued, `flush`
 * means durable. A failed flush keeps the queue and names in `unwritten` what is not durable; when the timer's flush
 * failed, the next call fails with its error, and without a call the flush is tried again. An `AmbiguousWriteError` takes its operations out of the queue, so that
 * nothing is written twice.
 *
 * @since 0.1.0
 * @category models
 */
export interface Writer {
  /** Queues a document, to be stored whether or not one exists; it is durable after the next flush. */
  readonly put: <C extends CollectionLike>(
    collection: C,
    id: string,
    document: InputOf<C>
  ) => Effect.Effect<void, WriteError, ContextOf<C>>
  /**
   * Queues a new document, and returns its id, generated unless `options.id` is given. The flush fails with
   * `ConflictError` where the id exists.
   */
  readonly insert: <C extends CollectionLike>(
    collection: C,
    document: InputOf<C>,
    options?: { readonly id?: string | undefined }
  ) => Effect.Effect<string, WriteError, ContextOf<C>>
  /** Queues a deletion. The flush fails with `NotFoundError` where there is no such document. */
  readonly delete: (collection: CollectionLike, id: string) => Effect.Effect<void, WriteError>
  /** Commits everything that is queued; the last commit, none when nothing had to be written. */
  readonly flush: Effect.Effect<Option.Option<string>, WriteError>
  /** Drops what is queued and not being written right now, such as an operation that cannot succeed; answers how many. */
  readonly discard: Effect.Effect<number>
  /** Operations that are not yet durable. */
  readonly pending: Effect.Effect<number>
  /** Ids of the commits made so far. */
  readonly commits: Effect.Effect<ReadonlyArray<string>>
}

/**
 * Runs a body with a writer, and flushes what it has queued at its end. Answers the body's result and the commits made.
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
