import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../domain/identifiers/Oid.js"
import { LruCache } from "../domain/runtime/LruCache.js"

/**
 * What a cache keeps of one path: the file's bytes, their blob id, and the validator that came with them.
 *
 * @since 0.1.0
 * @category caching
 */
export interface CacheEntry {
  /** The id of the file's blob. */
  readonly oid: Oid
  /** The bytes of the file, not to be changed. */
  readonly content: Uint8Array
  /**
   * The ETag of the answer, where the remote gave one. A process that finds it here sends it, so that GitHub answers
   * "not modified" and charges nothing.
   */
  readonly etag?: string | undefined
}

/**
 * Where a store keeps what it has read. Keys hold remote, repository, ref, path and representation, so that one cache
 * may serve many stores. An entry is never an answer by itself: the store asks the remote whether it still stands.
 *
 * @since 0.1.0
 * @category caching
 */
export abstract class Cache {
  /** The entry that was set last under this key; none where there is none, or it was evicted. */
  abstract get(key: string): Effect.Effect<Option.Option<CacheEntry>>
  /** Keeps an entry; an entry before it under this key is replaced. */
  abstract set(key: string, entry: CacheEntry): Effect.Effect<void>
  /** Forgets an entry; a key that is not there is no failure. */
  abstract delete(key: string): Effect.Effect<void>
  /** Forgets every entry. */
  abstract readonly clear: Effect.Effect<void>
}

/**
 * A cache for programs without Effect: each method returns its result or a promise of it. A method that throws or
 * rejects costs requests and never an answer.
 *
 * @example
 * ```ts
 * class MapCache extends AsyncCache {
 *   readonly entries = new Map<string, CacheEntry>()
 *   get(key: string) { return this.entries.get(key) }
 *   set(key: string, entry: CacheEntry) { this.entries.set(key, entry) }
 *   delete(key: string) { this.entries.delete(key) }
 *   clear() { this.entries.clear() }
 * }
 * ```
 *
 * @since 0.1.0
 * @category caching
 */
export abstract class AsyncCache {
  /** The entry as it was set; `undefined` or `null` where there is none. */
  abstract get(key: string): CacheEntry | null | undefined | PromiseLike<CacheEntry | null | undefined>
  /** Keeps an entry; a promise that it returns is waited for. */
  abstract set(key: string, entry: CacheEntry): unknown
  /** Forgets an entry; a key that is not there is no failure. */
  abstract delete(key: string): unknown
  /** Forgets every entry. */
  abstract clear(): unknown
}

/**
 * The cache of the stores that are opened where it is provided, unless their options name another one. Nobody has to
 * provide it.
 *
 * @example
 * ```ts
 * const live = Store.layer().pipe(Layer.provide(Layer.succeed(StoreCache, new MemoryCache({ maxEntries: 100 }))))
 * ```
 *
 * @since 0.1.0
 * @category caching
 */
export class StoreCache extends Context.Tag("chainstore/store/StoreCache")<
  StoreCache,
  Cache | AsyncCache
>() {}

const settled = <A>(evaluate: () => A | PromiseLike<A>) => Effect.promise<A>(async () => evaluate())

/** The same cache for the store, which is written with Effect. */
export const fromAsync = (cache: AsyncCache): Cache =>
  new (class extends Cache {
    get(key: string) {
      return Effect.map(
        settled(() => cache.get(key)),
        Option.fromNullable
      )
    }
    set(key: string, entry: CacheEntry) {
      return settled(() => cache.set(key, entry))
    }
    delete(key: string) {
      return settled(() => cache.delete(key))
    }
    readonly clear = settled(() => cache.clear())
  })()

/**
 * Keeps nothing.
 *
 * @since 0.1.0
 * @category caching
 */
export class NullCache extends Cache {
  /** None, always. */
  get(_key: string) {
    return Effect.succeedNone
  }
  /** Keeps nothing. */
  set(_key: string, _entry: CacheEntry) {
    return Effect.void
  }
  /** Has nothing to forget. */
  delete(_key: string) {
    return Effect.void
  }
  /** Has nothing to forget. */
  readonly clear = Effect.void
}

/**
 * Bounds of a `MemoryCache`.
 *
 * @since 0.1.0
 * @category options
 */
export interface MemoryCacheOptions {
  /** At most this many entries. Default 10,000. */
  readonly maxEntries?: number | undefined
  /** At most this many bytes of content. Default 64 MiB. */
  readonly maxBytes?: number | undefined
}

/**
 * Keeps what was used last, within bounds, for the life of the process.
 *
 * @since 0.1.0
 * @category caching
 */
export class MemoryCache extends Cache {
  readonly #entries: LruCache<CacheEntry>

  constructor(options: MemoryCacheOptions = {}) {
    super()
    const maxBytes = options.maxBytes ?? 64 * 1024 * 1024
    this.#entries = new LruCache(maxBytes, ({ content }) => content.length, {
      entries: options.maxEntries ?? 10_000,
      largest: maxBytes
    })
  }

  /** How many entries and bytes of content it holds now. */
  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#entries.weight }
  }

  /** The entry under this key, which counts as used now; none where there is none, or it was evicted. */
  get(key: string): Effect.Effect<Option.Option<CacheEntry>> {
    return Effect.sync(() =>
      Option.map(Option.fromNullable(this.#entries.get(key)), (entry) => ({
        ...entry,
        content: entry.content.slice()
      }))
    )
  }

  /** Keeps an entry, and evicts those used longest ago until the bounds hold. */
  set(key: string, entry: CacheEntry) {
    return Effect.sync(() => void this.#entries.set(key, { ...entry, content: entry.content.slice() }))
  }

  /** Forgets an entry; a key that is not there is no failure. */
  delete(key: string) {
    return Effect.sync(() => this.#entries.delete(key))
  }

  /** Forgets every entry. */
  readonly clear = Effect.sync(() => this.#entries.clear())
}
