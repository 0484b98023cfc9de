import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { ReadError } from "../domain/errors/StoreError.js"
import { type CollectionLike, nameIn } from "./CollectionDefinition.js"
import type { StoreService } from "./StoreService.js"

/**
 * An operation of a store, as decorators see it.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreOperation {
  /** The member, such as `insert` or `findBy`. */
  readonly name: string
  /** The collection, if it is an operation of one. */
  readonly collection: string | undefined
  /** The document, if the operation has one as its argument. */
  readonly id: string | undefined
  /** Whether it may change the repository. */
  readonly writes: boolean
}

/**
 * Code that runs around the operations of a store, its collections, views and transactions.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreDecorator {
  /** Wraps an operation that is an effect; the returned effect runs in its place. */
  readonly effect: <A, E, R>(
    operation: StoreOperation,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ReadError, R>
  /** Wraps an operation that is a stream. Default: streams are not changed. */
  readonly stream?: <A, E, R>(
    operation: StoreOperation,
    stream: Stream.Stream<A, E, R>
  ) => Stream.Stream<A, E | ReadError, R>
}

const writing = new Set(
  "insert update replace upsert edit delete restore importRecords reindex createIndex dropIndex writeJsonSchema batch writer transaction withTransaction removeTransaction revert createBranch deleteBranch merge propose rebase accept close".split(
    " "
  )
)

/** Operations whose first argument is the id of a document. */
const named = new Set("get version exists history update replace edit upsert delete restore".split(" "))

/**
 * Members with operations of their own: the member returns them, an effect returns them, or a function receives them.
 */
const inner = new Set(
  "collection onBranch at snapshot transaction preview propose proposal update".split(" ")
)

type Members = Readonly<Record<string, unknown>>

const decorated = (target: Members, decorator: StoreDecorator, collection?: string): Members => {
  const within = (value: unknown, given: ReadonlyArray<unknown>) => {
    const [name] = given as ReadonlyArray<CollectionLike>
    return decorated(value as Members, decorator, name === undefined ? undefined : nameIn(name))
  }
  const around = (name: string, value: unknown, args: ReadonlyArray<unknown>): unknown => {
    const operation: StoreOperation = {
      name,
      collection,
      id: collection !== undefined && named.has(name) ? String(args[0]) : undefined,
      writes: writing.has(name)
    }
    if (Effect.isEffect(value)) {
      const run = Effect.suspend(() => decorator.effect(operation, value))
      return name === "at" || name === "snapshot" ? Effect.map(run, (view) => within(view, [])) : run
    }
    if (Predicate.hasProperty(value, Stream.StreamTypeId)) {
      const stream = value as unknown as Stream.Stream<unknown>
      return Stream.suspend(() => decorator.stream?.(operation, stream) ?? stream)
    }
    return name === "collection" ? within(value, args) : inner.has(name) ? within(value, []) : value
  }
  const method =
    (name: string, call: (...args: ReadonlyArray<unknown>) => unknown) =>
    (...args: ReadonlyArray<unknown>) => {
      // A schema is a function, but does not receive operations.
      const given =
        inner.has(name) && name !== "collection"
          ? args.map((arg) =>
              typeof arg === "function" ? (handle: unknown) => arg(within(handle, [])) : arg
            )
          : args
      return around(name, call(...given), args)
    }
  return Object.fromEntries(
    Object.entries(target).map(([name, member]) => {
      // It cannot fail, and only clears caches.
      if (name === "invalidate") return [name, member]
      return [name, typeof member === "function" ? method(name, member as never) : around(name, member, [])]
    })
  )
}

/**
 * Decorates all operations of a store, for example with a log, a limit or a refusal. `batch` and `writer` are decorated
 * as a whole, not the operations inside them.
 *
 * @example
 * ```ts
 * const logged = Layer.effect(
 *   Store,
 *   Effect.map(Store, (store) =>
 *     decorate(store, { effect: ({ name }, run) => Effect.tap(run, Effect.logInfo(name)) })
 *   )
 * )
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const decorate = (store: StoreService, decorator: StoreDecorator): StoreService =>
  decorated(store as unknown as Members, decorator) as unknown as StoreService
