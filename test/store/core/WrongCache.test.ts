import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { AsyncCache, MemoryCache } from "../../../src/store/Cache.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { repositories } from "./Remotes.js"

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

describe.each(repositories)(
  "a cache that keeps other bytes than it was given, on %s",
  (_name, repository) => {
    it.live("does not make a write spoil a document", () =>
      Effect.gen(function* () {
        const cache = new Lying()
        const client = yield* repository
        const open = (options: StoreOptions) =>
          Effect.flatMap(client, (remote) => Effect.provideService(Store.make(options), GitRemote, remote))
        const store = yield* open({ cache })
        const c = store.collection("c")
        yield* c.insert({ n: 1 }, { id: "a" })
        cache.lie = true
        yield* c.update("a", { n: 2 })
        cache.lie = false
        const honest = yield* open({ cache: false })
        const d: any = Option.getOrThrow(yield* honest.collection("c").get("a"))
        assert.strictEqual(d.secret, undefined)
      })
    )

    it.live("and a cache that fails cost requests and never a result", () =>
      Effect.gen(function* () {
        const broken = () => {
          throw new Error("broken")
        }
        class Broken extends AsyncCache {
          get = broken
          set = broken
          delete = broken
          clear = broken
        }
        const remote = yield* yield* repository
        const store = yield* Effect.provideService(Store.make({ cache: new Broken() }), GitRemote, remote)
        const c = store.collection("c")
        yield* c.insert({ n: 1 }, { id: "a" })
        yield* store.invalidate("data/c/a.json")
        yield* c.update("a", { n: 2 })
        yield* store.invalidate()
        assert.strictEqual(Option.getOrThrow(yield* c.get("a"))["n"], 2)
      })
    )
  }
)
