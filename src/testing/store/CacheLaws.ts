import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { MemoryRepository } from "../../git/memory/MemoryRepository.js"
import { AsyncCache, type Cache, type CacheEntry, fromAsync } from "../../store/Cache.js"
import * as Memory from "../../store/remote/memory/Memory.js"
import { formatValue } from "../laws/CallRecord.js"
import type { LawPromise } from "../laws/LawPromise.js"
import { assert } from "./LawAssert.js"
import { describeCause, documents, promiseOf } from "./StoreLaw.js"
import { freshReads } from "./StoreViewLaws.js"

/**
 * A law that does not hold for a cache.
 *
 * @since 0.1.0
 * @category errors
 */
export class CacheLawViolation extends Data.TaggedError("CacheLawViolation")<{
  readonly law: string
  readonly promise: LawPromise
  readonly found: string
}> {
  override get message() {
    const { found, law, promise } = this
    return `CacheLaws.all.${law} does not hold.\nPromise: ${promise.title}\n  "${promise.sentence}" (${promise.link})\nFound: ${found}`
  }
}

/**
 * Makes an empty cache, for as long as the scope is open.
 *
 * @since 0.1.0
 * @category caching
 */
export type MakeCache = Effect.Effect<Cache | AsyncCache, any, Scope.Scope>

/**
 * A statement about every cache of a store.
 *
 * @since 0.1.0
 * @category models
 */
export interface CacheLaw {
  /** Its name in `CacheLaws`. */
  readonly name: string
  /** What it holds a cache to, and where that is written. */
  readonly promise: LawPromise
  /** Fails where a cache that the effect makes breaks the promise. `evicts`: see `Parameters`. */
  readonly check: (make: MakeCache, seed: number, evicts?: boolean) => Effect.Effect<void, CacheLawViolation>
}

const promise = promiseOf("store")
const kept = "An entry contains `content`, the blob id `oid` and, over GitHub, the `etag`. Store all of it"
const own =
  "or your own subclass of `Cache` (methods return Effects) or of `AsyncCache` (plain values or promises)"

/** Asserts that a cache has this entry for a key, or none. */
type Holds = (key: string, wanted: CacheEntry | undefined, what: string) => Effect.Effect<void>

const holdsIn =
  (cache: Cache, evicts: boolean): Holds =>
  (key, wanted, what) =>
    Effect.map(cache.get(key), (found) => {
      if (evicts && Option.isNone(found)) return
      const hint =
        wanted !== undefined && Option.isNone(found)
          ? ". If the cache has evicted the entry, check it with { evicts: true }"
          : ""
      assert.deepStrictEqual(
        plain(found),
        plain(Option.fromNullable(wanted)),
        `${what}: get(${formatValue(key)})${hint}`
      )
    })

const law = (
  name: string,
  title: string,
  sentence: string,
  body: (
    cache: Cache,
    holds: Holds,
    seed: number,
    given: Cache | AsyncCache
  ) => Effect.Effect<unknown, unknown>
): CacheLaw => {
  const broken = promise(title, "options", sentence)
  return {
    name,
    promise: broken,
    check: (make, seed, evicts = false) =>
      Effect.flatMap(make, (given) => {
        const cache = given instanceof AsyncCache ? fromAsync(given) : given
        return body(cache, holdsIn(cache, evicts), seed, given)
      }).pipe(
        Effect.scoped,
        Effect.asVoid,
        Effect.catchAllCause(
          (cause) => new CacheLawViolation({ law: name, promise: broken, found: describeCause(cause) })
        )
      )
  }
}

const entry = (content: ReadonlyArray<number> | Uint8Array, digit = "a", etag?: string): CacheEntry => ({
  oid: digit.repeat(40) as Oid,
  content: Uint8Array.from(content),
  ...(etag === undefined ? {} : { etag })
})

const plain = (found: Option.Option<CacheEntry>) =>
  Option.match(found, {
    onNone: () => null,
    onSome: ({ content, etag, oid }) => ({ oid, etag, content: Array.from(content) })
  })

/** Keys as stores make them. */
const keys = FastCheck.sample(
  FastCheck.tuple(
    FastCheck.constantFrom("https://api.github.com/a/b", "file:///tmp/a.git", "memory:1"),
    FastCheck.constantFrom("refs/heads/main", "refs/heads/x", "0123456789012345678901234567890123456789"),
    FastCheck.stringMatching(/^data\/[a-z]{1,3}\/[A-Za-z0-9._-]{1,60}\.json$/)
  ).map((parts) => parts.join(" ")),
  { numRuns: 40, seed: 7 }
)

/**
 * Every law of a cache, by name.
 *
 * @since 0.1.0
 * @category laws
 */
export const all = {
  /** What was set is what is found, whole. */
  roundTrip: law("roundTrip", "an entry is kept whole", kept, (cache, holds, seed) =>
    Effect.gen(function* () {
      yield* holds("nothing", undefined, "an empty cache")
      const contents = FastCheck.sample(FastCheck.uint8Array({ maxLength: 300 }), { numRuns: 20, seed })
      for (const [at, content] of contents.entries()) {
        const given = entry(content, "abc"[at % 3], at % 2 === 0 ? `W/"${at}"` : undefined)
        yield* cache.set("k", given)
        yield* holds("k", given, "after set")
      }
      const large = entry(Uint8Array.from({ length: 70_000 }, (_, at) => at % 256))
      yield* cache.set("large", large)
      yield* holds("large", large, "a large file of every byte")
      yield* cache.set("empty", entry([]))
      yield* holds("empty", entry([]), "an empty file")
    })
  ),
  /** Keys that differ are different entries, however alike they are. */
  keysApart: law("keysApart", "keys are kept apart", own, (cache, holds) =>
    Effect.gen(function* () {
      const all = [
        ...new Set([...keys, "a", "A", "a ", "a/b", "a/b/", "é", "e\u0301", "__proto__", "constructor"])
      ]
      yield* Effect.forEach(all, (key, at) => cache.set(key, entry([at % 256])))
      yield* Effect.forEach(all, (key, at) => holds(key, entry([at % 256]), "after many"))
      yield* cache.delete("a")
      yield* holds("a", undefined, "after delete")
      yield* holds("A", entry([all.indexOf("A")]), "after the delete of another key")
    })
  ),
  /** The last entry counts; `delete` and `clear` forget. */
  forgetting: law("forgetting", "delete and clear forget", own, (cache, holds) =>
    Effect.gen(function* () {
      yield* cache.delete("never set")
      yield* cache.set("a", entry([1], "a", "one"))
      yield* cache.set("a", entry([2], "b"))
      yield* holds("a", entry([2], "b"), "after a second set")
      yield* cache.set("b", entry([3]))
      yield* cache.delete("a")
      yield* holds("a", undefined, "after delete")
      yield* holds("b", entry([3]), "after the delete of another key")
      yield* cache.set("a", entry([4]))
      yield* cache.clear
      for (const key of ["a", "b"]) yield* holds(key, undefined, "after clear")
      yield* cache.set("a", entry([5]))
      yield* holds("a", entry([5]), "after clear and set")
      const large = entry(new Uint8Array(70_000).fill(6), "c")
      yield* cache.set("a", large)
      yield* holds("a", large, "after a set of a larger entry")
      yield* cache.set("a", entry([7]))
      yield* holds("a", entry([7]), "after a set of a smaller entry")
      yield* cache.clear
      yield* holds("a", undefined, "after a second clear")
    })
  ),
  /** Calls of several fibers at once do not disturb each other. */
  concurrency: law("concurrency", "calls at once do not disturb each other", own, (cache, holds) =>
    Effect.gen(function* () {
      yield* Effect.forEach(keys, (key, at) => Effect.zipRight(cache.set(key, entry([at])), cache.get(key)), {
        concurrency: "unbounded"
      })
      const last = new Map(keys.map((key, at) => [key, at]))
      for (const [key, at] of last) yield* holds(key, entry([at]), "after sets at once")
    })
  ),
  /** A store over the cache answers as one without it. */
  answers: law("answers", "a store over the cache sees every write", own, (_cache, _holds, seed, given) => {
    const repository = new MemoryRepository()
    const [fields = []] = FastCheck.sample(documents, { numRuns: 1, seed })
    return freshReads.run({ remote: Memory.make({ repository }), options: { cache: given } }, fields)
  })
} satisfies Record<string, CacheLaw>

/**
 * How a law is checked.
 *
 * @since 0.1.0
 * @category caching
 */
export interface Parameters {
  /** Chooses the keys and contents; the same seed chooses the same. Default: a new one. */
  readonly seed?: number | undefined
  /**
   * The cache may evict any entry at any time, so an absent entry is no violation, but a wrong one is. Default false: the cache
   * keeps 60 entries of up to 70 kB.
   */
  readonly evicts?: boolean | undefined
}

/**
 * Checks a law for a cache, which is made anew and empty. Rejects with a counterexample.
 *
 * @since 0.1.0
 * @category checking
 */
export const check = async (
  given: CacheLaw,
  make: MakeCache,
  { evicts = false, seed = 1 }: Parameters = {}
): Promise<void> => {
  const result = await Effect.runPromise(Effect.either(given.check(make, seed, evicts)))
  if (Either.isLeft(result)) throw result.left
}

/**
 * Checks every law for a cache, one after another. Rejects with the first counterexample.
 *
 * @since 0.1.0
 * @category checking
 */
export const checkAll = async (make: MakeCache, parameters: Parameters = {}): Promise<void> => {
  for (const one of Object.values(all)) await check(one, make, parameters)
}
