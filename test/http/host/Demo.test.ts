import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { GitRepositories } from "../../../src/git/disk/GitRepositories.js"
import * as Demo from "../../../src/http/host/Demo.js"
import * as HostLayer from "../../../src/http/host/HostLayer.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import { fromRepository } from "../../../src/store/remote/local/LocalGit.js"
import { Store } from "../../../src/store/Store.js"

const opened = Effect.gen(function* () {
  const git = yield* (yield* GitRepositories).open(Demo.name.owner, Demo.name.name)
  const store = yield* Effect.provideService(Store.make(), GitRemote, fromRepository(git))
  return { git, store }
})

const host = (directory: string) =>
  HostLayer.layer({ atRoot: false, createOnFirstUse: true, directory }).pipe(
    Layer.provideMerge(HostLayer.layerRepositories(directory, { durability: "none", maintenance: false }))
  )

it.scopedLive("the demo is written on the first start, and never again", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    const first = yield* Effect.gen(function* () {
      const { git, store } = yield* opened
      const counts = yield* Effect.forEach(
        ["products", "flags", "articles"],
        (name) => store.collection(name).count
      )
      assert.deepStrictEqual(counts, [200, 20, 50])
      assert.deepStrictEqual(yield* store.collections, ["articles", "flags", "products"])
      const lamps = yield* store.collection("products").findBy("category", "lighting")
      assert.strictEqual(lamps.length, 20)
      yield* store.collection("flags").delete("search-voice")
      return yield* git.ref("refs/heads/main")
    }).pipe(Effect.scoped, Effect.provide(host(directory)))
    const second = yield* Effect.gen(function* () {
      const { git, store } = yield* opened
      assert.strictEqual(yield* store.collection("flags").count, 19)
      return yield* git.ref("refs/heads/main")
    }).pipe(Effect.scoped, Effect.provide(host(directory)))
    assert.deepStrictEqual(second, first)
  }).pipe(Effect.provide(NodeContext.layer))
)
