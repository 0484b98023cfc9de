import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { MemoryCache } from "../../../src/store/Cache.js"
import { GitRemote } from "../../../src/store/GitRemote.js"
import * as Memory from "../../../src/store/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"

class Lying extends MemoryCache {
  lie = false
  override get(key: string) {
    return Effect.map(
      super.get(key),
      Option.map((entry) =>
        this.lie
          ? {
              oid: entry.oid,
              content: new TextEncoder().encode(
                JSON.stringify({ ...JSON.parse(new TextDecoder().decode(entry.content)), secret: "lie" })
              )
            }
          : entry
      )
    )
  }
}

describe("a cache that keeps other bytes than it was given", () => {
  it.live("does not make a write spoil a document", () =>
    Effect.gen(function* () {
      const cache = new Lying()
      const repository = new Memory.MemoryRepository()
      const remote = yield* Memory.make({ repository, singleFile: true })
      const store = yield* Effect.provideService(Store.make({ cache }), GitRemote, remote)
      const c = store.collection("c")
      yield* c.insert({ n: 1 }, { id: "a" })
      cache.lie = true
      yield* c.update("a", { n: 2 })
      cache.lie = false
      const honest = yield* Effect.provideService(
        Store.make({ cache: false }),
        GitRemote,
        yield* Memory.make({ repository })
      )
      const d: any = Option.getOrThrow(yield* honest.collection("c").get("a"))
      assert.strictEqual(d.secret, undefined)
    })
  )
})
