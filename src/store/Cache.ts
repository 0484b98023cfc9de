import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../domain/identifiers/Oid.js"
import { LruCache } from "../domain/runtime/LruCache.js"

/**
 * A cached file: its bytes, their blob id, and the validator of the reply.
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
   * The ETag of the reply, if there was one. It is sent with the next request, so that GitHub replies "not modified"
   * and does not count the request.
   */
  readonly etag?: string | undefined
}

/**
 * A cache of files that a store has read. Keys contain remote, repository, ref, path and representation, so several
 * stores can share a cache. A store never returns an entry without asking the remote whether it is current.
 *
 * @since 0.1.0
 * @category caching
 */
export abstract class Cache {
  /** The last entry that was set for this key; none if there is none or it was evicted. */
  abstract get(key: string): Effect.Effect<Option.Option<CacheEntry>>
  /** Stores an entry; replaces the previous one. */
  abstract set(key: string, entry: CacheEntry): Effect.Effect<void>
  /** Removes an entry; succeeds if there is none. */
  abstract delete(key: string): Effect.Effect<void>
  /** Removes all entries. */
  abstract readonly clear: Effect.Effect<void>
}

/**
 * A cache for programs without Effect: each method returns its result or a promise of it. A method that throws or
 * rejects costs requests, but does not change results.
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
  /** The entry that was set; `undefined` or `null` if there is none. */
  abstract get(key: string): CacheEntry | null | undefined | PromiseLike<CacheEntry | null | undefined>
  /** Stores an entry; a returned promise is awaited. */
  abstract set(key: string, entry: CacheEntry): unknown
  /** Removes an entry; succeeds if there is none. */
  abstract delete(key: string): unknown
  /** Removes all entries. */
  abstract clear(): unknown
}

/**
 * The cache of stores that are opened where it is provided, unless their options name another one. It is optional.
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

/** Adapts the cache for the store. */
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
 * A cache that keeps nothing.
 *
 * @since 0.1.0
 * @category caching
 */
export class NullCache extends Cache {
  /** Always none. */
  get(_key: string) {
    return Effect.succeedNone
  }
  /** Does nothing. */
  set(_key: string, _entry: CacheEntry) {
    return Effect.void
  }
  /** Does nothing. */
  delete(_key: string) {
    return Effect.void
  }
  /** Does nothing. */
  readonly clear = Effect.void
}

/**
 * Limits of a `MemoryCache`.
 *
 * @since 0.1.0
 * @category options
 */
export interface MemoryCacheOptions {
  /** The most entries. Default 10,000. */
  readonly maxEntries?: number | undefined
  /** The most bytes of content. Default 64 MiB. */
  readonly maxBytes?: number | undefined
}

/**
 * A cache in memory that evicts the least recently used entries.
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

  /** The current number of entries, and of bytes of content. */
  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#entries.weight }
  }

  /** The entry for this key, which becomes the most recently used one; none if there is none or it was evicted. */
  get(key: string): Effect.Effect<Option.Option<CacheEntry>> {
    return Effect.sync(() =>
      Option.map(Option.fromNullable(this.#entries.get(key)), (entry) => ({
        ...entry,
        content: entry.content.slice()
      }))
    )
  }

  /** Stores an entry, and evicts the least recently used ones until the limits are met. */
  set(key: string, entry: CacheEntry) {
    return Effect.sync(() => void this.#entries.set(key, { ...entry, content: entry.content.slice() }))
  }

  /** Removes an entry; succeeds if there is none. */
  delete(key: string) {
    return Effect.sync(() => this.#entries.delete(key))
  }

  /** Removes all entries. */
  readonly clear = Effect.sync(() => this.#entries.clear())
}
