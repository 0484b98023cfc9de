import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ReadError, ValidationError, WriteError } from "../domain/errors/StoreError.js"
import { StoreCache } from "./Cache.js"
import * as Core from "./internal/commit/MakeCore.js"
import * as Assembly from "./internal/MakeStore.js"
import { GitRemote } from "./remote/GitRemote.js"
import { resolveOptions, type StoreOptions } from "./StoreOptions.js"
import type { StoreService } from "./StoreService.js"
import type { TransactionOptions } from "./Transaction.js"

/** The errors of opening a store: only a `ref` is looked up in the repository. */
export type OpenError<Ref extends string | undefined = string | undefined> = [Ref] extends [undefined]
  ? ValidationError
  : ReadError

/** Excludes an object whose type is a type variable, because it may have further members. */
type OnlyTransactionOptions<T> =
  T extends Effect.Effect<any, any, any>
    ? unknown
    : { readonly [K in Exclude<keyof T, keyof TransactionOptions>]: never }

/**
 * Opens a store on a remote. Fails if options are wrong. The repository is read by the first operation, or here if a
 * `ref` is given.
 */
export const make = <Ref extends string | undefined = undefined>(
  options: StoreOptions<Ref> = {}
  // Without a ref no request is made, so only the options can be wrong.
): Effect.Effect<StoreService, OpenError<Ref>, GitRemote> => open(options) as never

/** Values from plain JavaScript are checked later. */
const isObject = (given: unknown): boolean => typeof given === "object" && given !== null

const open = (options: StoreOptions): Effect.Effect<StoreService, ReadError, GitRemote> =>
  Effect.gen(function* () {
    const provided = Option.getOrUndefined(yield* Effect.serviceOption(StoreCache))
    const given =
      provided === undefined || !isObject(options)
        ? options
        : { ...options, cache: options.cache ?? provided }
    const resolved = yield* Either.match(resolveOptions(given), {
      onLeft: (error) => Effect.fail(error),
      onRight: (found) => Effect.succeed(found)
    })
    const core = yield* Core.makeCore(yield* GitRemote, resolved)
    return Assembly.makeStore(core)
  })

/**
 * The document store: collections of JSON documents in one branch of a Git repository.
 *
 * @example
 * ```ts
 * const program = Effect.gen(function* () {
 *   const store = yield* Store
 *   const people = store.collection("people", Schema.Struct({ name: Schema.String }))
 *   const id = yield* people.insert({ name: "Ada" })
 *   return yield* people.get(id)
 * })
 * const runnable = program.pipe(Effect.provide(Store.layer({ root: "data" })), Effect.provide(Memory.layer()))
 * ```
 *
 * @since 0.1.0
 * @category services
 */
export class Store extends Context.Tag("chainstore/store/Store")<Store, StoreService>() {
  static readonly make = make
  /** A layer of a store on the provided remote. */
  static readonly layer = <Ref extends string | undefined = undefined>(
    options: StoreOptions<Ref> = {}
  ): Layer.Layer<Store, OpenError<Ref>, GitRemote> => layer(options)
  /** The same, with options from configuration. */
  static readonly layerConfig = (
    options: Config.Config.Wrap<StoreOptions>
  ): Layer.Layer<Store, ReadError | ConfigError.ConfigError, GitRemote> => layerConfig(options)
  /**
   * Runs an effect as one transaction of the provided store: see `StoreService.withTransaction`.
   *
   * @example
   * ```ts
   * const transfer = Effect.gen(function* () {
   *   yield* accounts.withdraw("ada", 30)
   *   yield* accounts.deposit("bob", 30)
   * }).pipe(Store.withTransaction())
   * ```
   *
   * @since 0.1.0
   */
  static readonly withTransaction: <T extends Effect.Effect<any, any, any> | TransactionOptions = {}>(
    effect?: T & OnlyTransactionOptions<T>,
    options?: T extends Effect.Effect<any, any, any> ? TransactionOptions : undefined
  ) => T extends Effect.Effect<infer A, infer E, infer R>
    ? Effect.Effect<A, E | WriteError, R | Store>
    : <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | WriteError, R | Store> = dual(
    (args) => Effect.isEffect(args[0]),
    <A, E, R>(effect: Effect.Effect<A, E, R>, options?: TransactionOptions) =>
      Effect.flatMap(Store, (store) => store.withTransaction(effect, options))
  )
}

/** A layer of a store on the provided remote. */
export const layer = <Ref extends string | undefined = undefined>(
  options: StoreOptions<Ref> = {}
): Layer.Layer<Store, OpenError<Ref>, GitRemote> => Layer.effect(Store, make(options))

/** The same, with options from configuration. */
export const layerConfig = (
  options: Config.Config.Wrap<StoreOptions>
): Layer.Layer<Store, ReadError | ConfigError.ConfigError, GitRemote> =>
  Layer.effect(Store, Effect.flatMap(Config.unwrap(options), open))
