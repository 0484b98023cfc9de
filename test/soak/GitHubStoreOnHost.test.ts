import { assert, describe, it } from "@effect/vitest"
import { Store } from "chainstore/store"
import { StoreLaws } from "chainstore/testing"
import { Context, Effect, Layer, Option } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import { makeServer } from "../support/github/InProcess.js"
import { newRepository, scopedClientOf } from "../support/github/OnHost.js"
import { remoteOf } from "../support/github/Remote.js"
import { HostServer, layer as host } from "../support/host/HostServer.js"

const ways = [
  ["over REST", {}],
  ["over GraphQL", { useGraphql: true, commitVia: "graphql" }],
  ["by push", { commitVia: "push" }]
] as const

const stores = [
  ["plain", {}],
  ["sharded", { shardBy: "hash", shardDepth: 1 }]
] as const

for (const [way, options] of ways) {
  for (const [kind, settings] of stores) {
    describe(`the laws of a store on our own host, ${way}, ${kind}`, () => {
      for (const law of Object.values(StoreLaws.all)) {
        it.live(
          law.name,
          () =>
            Effect.gen(function* () {
              const server = Context.get(yield* Layer.build(host()), HostServer)
              const repository = yield* Effect.provideService(newRepository, HostServer, server)
              const remote = scopedClientOf(repository, options)
              yield* Effect.promise(() => StoreLaws.check(law, { remote, options: settings }, { numRuns: 1 }))
            }).pipe(Effect.scoped),
          120_000
        )
      }
    })
  }
}

describe("100,000 documents", () => {
  it.live(
    "are listed and counted by one request each, in bounded time and memory",
    () =>
      Effect.gen(function* () {
        const server = yield* makeServer()
        const content = new TextEncoder().encode('{"n":1}\n')
        const blob = server.git(["hash-object", "-w", "--stdin"], content).trim() as Oid
        const ids = Array.from({ length: 100_000 }, (_, index) => `d${String(index).padStart(6, "0")}`)
        server.commit("main", [{ _tag: "Put", path: "README.md", content }])
        server.commit(
          "main",
          ids.map((id) => ({ _tag: "Link", path: `data/docs/${id}.json`, oid: blob }))
        )
        const remote = yield* remoteOf(server)
        const context = yield* Layer.build(Layer.provide(Store.layer(), Layer.succeed(GitRemote, remote)))
        const store = yield* Effect.provide(Store, context)
        const docs = store.collection("docs")
        assert.isTrue(Option.isSome(yield* docs.get(ids[0]!)))
        server.seen.length = 0
        const before = process.memoryUsage().heapUsed
        const start = performance.now()
        const listed = yield* docs.list()
        const took = performance.now() - start
        const heap = (process.memoryUsage().heapUsed - before) / 1e6
        assert.deepStrictEqual(listed, ids)
        assert.strictEqual(server.seen.length, 1)
        assert.strictEqual(yield* docs.count, 100_000)
        assert.strictEqual(server.seen.length, 2)
        console.log(
          `100,000 entries: listed in ${took.toFixed(0)} ms, ${heap.toFixed(0)} MB of heap, server included`
        )
        assert.isBelow(took, 20_000)
        assert.isBelow(heap, 800)
      }).pipe(Effect.scoped),
    180_000
  )
})
