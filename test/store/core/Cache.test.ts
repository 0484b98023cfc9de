import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Oid } from "../../../src/domain/identifiers/Oid.js"
import { MemoryCache, NullCache, StoreCache } from "../../../src/store/Cache.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { Store } from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"

const entry = (size: number) => ({ oid: Oid.make("0".repeat(40)), content: new Uint8Array(size).fill(1) })

describe("caches", () => {
  it.effect("in memory are bounded by entries, and forget what was used longest ago", () =>
    Effect.gen(function* () {
      const cache = new MemoryCache({ maxEntries: 2 })
      yield* cache.set("a", entry(1))
      yield* cache.set("b", entry(1))
      yield* cache.get("a")
      yield* cache.set("c", entry(1))
      assert.isTrue(Option.isSome(yield* cache.get("a")))
      assert.isTrue(Option.isNone(yield* cache.get("b")))
      assert.deepStrictEqual(cache.size, { entries: 2, bytes: 2 })
    })
  )

  it.effect("in memory are bounded by bytes", () =>
    Effect.gen(function* () {
      const cache = new MemoryCache({ maxBytes: 10 })
      yield* cache.set("a", entry(6))
      yield* cache.set("b", entry(6))
      assert.deepStrictEqual(cache.size, { entries: 1, bytes: 6 })
      yield* cache.set("b", entry(11))
      assert.deepStrictEqual(cache.size, { entries: 0, bytes: 0 })
      yield* cache.set("c", entry(3))
      yield* cache.set("c", entry(4))
      assert.deepStrictEqual(cache.size, { entries: 1, bytes: 4 })
      yield* cache.delete("c")
      yield* cache.delete("c")
      yield* cache.clear
      assert.deepStrictEqual(cache.size, { entries: 0, bytes: 0 })
    })
  )

  it.effect("share nothing with their callers", () =>
    Effect.gen(function* () {
      const cache = new MemoryCache()
      const given = entry(1)
      yield* cache.set("a", given)
      given.content[0] = 2
      const read = Option.getOrThrow(yield* cache.get("a"))
      read.content[0] = 3
      assert.strictEqual(Option.getOrThrow(yield* cache.get("a")).content[0], 1)
      const none = new NullCache()
      yield* none.set("a", given)
      assert.isTrue(Option.isNone(yield* none.get("a")))
    })
  )

  it.effect("that are provided as a service are used by stores without the option", () =>
    Effect.gen(function* () {
      const kept = (options: StoreOptions) =>
        Effect.gen(function* () {
          const cache = new MemoryCache()
          const live = Store.layer(options).pipe(
            Layer.provide(Memory.layer()),
            Layer.provide(Layer.succeed(StoreCache, cache))
          )
          const writing = Effect.flatMap(Store, ({ collection }) =>
            Effect.flatMap(collection("people").insert({ n: 1 }, { id: "a" }), collection("people").get)
          )
          assert.strictEqual(Option.getOrThrow(yield* Effect.provide(writing, live))["n"], 1)
          return cache.size.entries
        })
      assert.isAbove(yield* kept({}), 0)
      assert.strictEqual(yield* kept({ cache: false }), 0)
      assert.strictEqual(yield* kept({ cache: new MemoryCache() }), 0)
    })
  )
})
