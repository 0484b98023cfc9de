import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { ReadError } from "../domain/errors/StoreError.js"
import { type CollectionLike, nameIn } from "./CollectionDefinition.js"
import type { StoreService } from "./StoreService.js"

/**
 * An operation of a store, as a decorator is told of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreOperation {
  /** The member, such as `insert` or `findBy`. */
  readonly name: string
  /** Of operations of a collection. */
  readonly collection: string | undefined
  /** The document, where the operation is about one that is named. */
  readonly id: string | undefined
  /** Whether it may change the repository. */
  readonly writes: boolean
}

/**
 * What happens around the operations of a store, its collections, views and transactions.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreDecorator {
  /** Wraps an operation that is an effect; what it returns runs in place of it. */
  readonly effect: <A, E, R>(
    operation: StoreOperation,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ReadError, R>
  /** Wraps an operation that is a stream. Default: streams stay as they are. */
  readonly stream?: <A, E, R>(
    operation: StoreOperation,
    stream: Stream.Stream<A, E, R>
  ) => Stream.Stream<A, E | ReadError, R>
}

const writing = new Set(
  "insert update replace upsert edit delete restore importRecords reindex writeJsonSchema batch writer transaction withTransaction removeTransaction revert createBranch deleteBranch merge propose rebase accept close".split(
    " "
  )
)

/** Operations whose first argument is the id of a document. */
const named = new Set("get version exists history update replace upsert delete restore".split(" "))

/** What has operations of its own: a member gives it, an effect gives it, or a function is given it. */
const inner = new Set("collection onBranch at snapshot transaction preview propose proposal".split(" "))

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
      // A schema is a function, and is not given anything.
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
      // It cannot fail, and forgets alone.
      if (name === "invalidate") return [name, member]
      return [name, typeof member === "function" ? method(name, member as never) : around(name, member, [])]
    })
  )
}

/**
 * The same store with something around each of its operations: a log, a limit, a refusal. Operations inside batches and
 * writers are not told of one by one: `batch` and `writer` are.
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
