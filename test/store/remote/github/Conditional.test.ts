import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Cache, type CacheEntry, Store } from "../../../../src/store/index.js"
import { AsyncCache, openStore } from "../../../../src/store/promise/index.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import { makeValidatorCache } from "../../../../src/store/remote/github/client/ValidatorCache.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import { makeServer, type Server } from "../../../support/github/InProcess.js"
import { remoteOf, token } from "../../../support/github/Remote.js"

describe("validators", () => {
  it.effect("are kept by the size of their content, the last ones first", () =>
    Effect.gen(function* () {
      const client = { generation: Effect.succeed(1) }
      const validators = makeValidatorCache<string>(client, 10, (value) => value.length)
      const held = Effect.map(
        Effect.forEach(["a", "b", "c", "d"], (key) => validators.get(key)),
        (found) => found.map((one) => one?.value)
      )
      validators.put("a", "1", 1, "aaaa")
      validators.put("b", "2", 1, "bbbb")
      validators.put("b", "3", 1, "bb")
      validators.put("c", "4", 1, "cccc")
      assert.deepStrictEqual(yield* held, ["aaaa", "bb", "cccc", undefined])
      validators.put("d", "5", 1, "dd")
      assert.deepStrictEqual(yield* held, [undefined, "bb", "cccc", "dd"])
      validators.delete("c")
      validators.put("a", "6", 1, "a".repeat(6))
      assert.deepStrictEqual(yield* held, ["aaaaaa", "bb", undefined, "dd"])
      validators.put("a", "7", 1, "a".repeat(11))
      assert.deepStrictEqual(yield* held, [undefined, "bb", undefined, "dd"], "no room is made for it")
      validators.clear()
      validators.put("a", "8", 1, "a".repeat(10))
      assert.deepStrictEqual(yield* held, ["a".repeat(10), undefined, undefined, undefined])
    })
  )
})

/** What several processes might share: entries as text, as in a file or a database. */
class Shelf {
  readonly texts = new Map<string, string>()
  get(key: string): CacheEntry | undefined {
    const text = this.texts.get(key)
    if (text === undefined) return undefined
    const { content, ...entry } = JSON.parse(text)
    return { ...entry, content: new Uint8Array(Buffer.from(content, "base64")) }
  }
  set(key: string, entry: CacheEntry) {
    const content = Buffer.from(entry.content).toString("base64")
    this.texts.set(key, JSON.stringify({ ...entry, content }))
  }
}

class EffectCache extends Cache {
  constructor(readonly shelf: Shelf) {
    super()
  }
  get(key: string) {
    return Effect.sync(() => Option.fromNullable(this.shelf.get(key)))
  }
  set(key: string, entry: CacheEntry) {
    return Effect.sync(() => this.shelf.set(key, entry))
  }
  delete(key: string) {
    return Effect.sync(() => void this.shelf.texts.delete(key))
  }
  readonly clear = Effect.sync(() => this.shelf.texts.clear())
}

class PlainCache extends AsyncCache {
  constructor(readonly shelf: Shelf) {
    super()
  }
  get(key: string) {
    return this.shelf.get(key)
  }
  set(key: string, entry: CacheEntry) {
    this.shelf.set(key, entry)
  }
  delete(key: string) {
    return this.shelf.texts.delete(key)
  }
  clear() {
    this.shelf.texts.clear()
  }
}

class LateCache extends AsyncCache {
  constructor(readonly shelf: Shelf) {
    super()
  }
  async get(key: string) {
    return this.shelf.get(key) ?? null
  }
  async set(key: string, entry: CacheEntry) {
    this.shelf.set(key, entry)
  }
  async delete(key: string) {
    this.shelf.texts.delete(key)
  }
  async clear() {
    this.shelf.texts.clear()
  }
}

class RejectingCache extends AsyncCache {
  async get(): Promise<CacheEntry> {
    throw new Error("broken")
  }
  async set() {
    throw new Error("broken")
  }
  delete() {
    throw new Error("broken")
  }
  clear() {}
}

/** The statuses of the requests for one document. */
const statusesOf = (server: Server) =>
  server.seen.filter(({ url }) => url.includes("/data/docs/a.json")).map(({ status }) => status)

const world = Effect.gen(function* () {
  const server = yield* makeServer()
  const content = new TextEncoder().encode(`{"_id":"a","_rev":1,"n":1}\n`)
  server.commit("main", [{ _tag: "Put", path: "data/docs/a.json", content }])
  return server
})

describe("a cache that several processes share", () => {
  for (const readOnly of [false, true]) {
    it.scopedLive(
      `needs no request for the document in the second process${readOnly ? ", by the raw address" : ""}`,
      () =>
        Effect.gen(function* () {
          const server = yield* world
          const shelf = new Shelf()
          const options: Partial<GitHubOptions> = { readOnly }
          const read = (cache: Cache) =>
            Effect.gen(function* () {
              const remote = Layer.succeed(GitRemote, yield* remoteOf(server, options))
              const store = yield* Layer.build(Layer.provide(Store.layer({ cache }), remote))
              return yield* Effect.provide(
                Effect.flatMap(Store, (found) => found.collection("docs").get("a")),
                store
              )
            })
          const first = yield* read(new EffectCache(shelf))
          const entries = [...shelf.texts.values()].map((text): unknown => JSON.parse(text))
          assert.lengthOf(entries, 1)
          assert.containsAllKeys(entries[0], ["oid", "content", "etag"])
          assert.deepStrictEqual(yield* read(new EffectCache(shelf)), first)
          assert.deepStrictEqual(statusesOf(server), [200, 304])
          // Somebody else's change, and validators that are none.
          const content = new TextEncoder().encode(`{"_id":"a","_rev":2,"n":2}\n`)
          server.commit("main", [{ _tag: "Put", path: "data/docs/a.json", content }])
          assert.strictEqual(Option.getOrThrow(yield* read(new EffectCache(shelf)))["n"], 2)
          for (const etag of ["a\r\nx-evil: 1", 7, "\u{1f600}", ""]) {
            for (const [key, text] of shelf.texts) {
              shelf.texts.set(key, JSON.stringify({ ...JSON.parse(text), etag }))
            }
            assert.strictEqual(Option.getOrThrow(yield* read(new EffectCache(shelf)))["n"], 2)
          }
          assert.deepStrictEqual(statusesOf(server), [200, 304, 200, 200, 200, 200, 200])
        })
    )
  }

  it.scopedLive("is written with plain or asynchronous methods where the store is one of promises", () =>
    Effect.gen(function* () {
      const server = yield* world
      const open = (cache: AsyncCache) =>
        Effect.acquireRelease(
          Effect.promise(() =>
            openStore({
              repo: server.repo,
              token,
              apiUrl: server.url,
              rawUrl: server.raw,
              fetch: server.fetch,
              cache
            })
          ),
          (store) => Effect.promise(() => store.close())
        )
      const shelf = new Shelf()
      for (const cache of [new PlainCache(shelf), new LateCache(shelf), new RejectingCache()]) {
        const docs = (yield* open(cache)).collection("docs")
        assert.strictEqual((yield* Effect.promise(() => docs.get("a")))?.["n"], 1)
      }
      assert.deepStrictEqual(statusesOf(server), [200, 304, 200])
      const store = yield* open(new LateCache(shelf))
      yield* Effect.promise(() => store.invalidate())
      assert.strictEqual(shelf.texts.size, 0)
      const wrong = { get() {}, set() {}, delete() {}, clear() {} } as never
      const refused = yield* Effect.flip(
        Effect.tryPromise(() => openStore({ repo: "o/r", apiUrl: server.url, cache: wrong }))
      )
      assert.propertyVal(refused.error, "_tag", "ValidationError")
    })
  )
})
