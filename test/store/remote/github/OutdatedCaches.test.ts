import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Store, type StoreOptions } from "../../../../src/store/index.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import type { Server } from "../../../support/github/InProcess.js"
import { replying } from "../../../support/github/InProcess.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"

const opened = (server: Server, options: Partial<GitHubOptions>, store: StoreOptions) =>
  Effect.gen(function* () {
    const remote = yield* remoteOf(server, options)
    const layer = Layer.provide(Store.layer(store), Layer.succeed(GitRemote, remote))
    return { remote, store: yield* Effect.provide(Store, yield* Layer.build(layer)) }
  })

const open = (server: Server, options: Partial<GitHubOptions>, store: StoreOptions) =>
  Effect.map(opened(server, options, store), ({ store }) => store)

const both: ReadonlyArray<Partial<GitHubOptions>> = [{}, { useGraphql: true, commitVia: "graphql" }]

describe.each(both)("what is remembered is never believed over the host, with %j", (options) => {
  const world = (settings: StoreOptions = {}) =>
    Effect.gen(function* () {
      const { server } = yield* fresh()
      const other = yield* open(server, {}, settings)
      yield* other.collection("docs").insert({ n: 0, kind: "a" }, { id: "first" })
      const store = yield* open(server, options, settings)
      return { server, docs: store.collection("docs"), store, other: other.collection("docs") }
    })

  it.scopedLive("an upsert of a document that has come since merges with it", () =>
    Effect.gen(function* () {
      const { docs, other, server } = yield* world()
      assert.isTrue(Option.isNone(yield* docs.get("new")))
      yield* other.insert({ theirs: 1 }, { id: "new" })
      const made = yield* docs.upsert("new", { ours: 2 })
      assert.deepInclude(made, { theirs: 1, ours: 2, _rev: 2 })
      assert.deepStrictEqual(server.problems, [])
    })
  )

  it.scopedLive("a query by index sees what somebody else changed, with and without the index", () =>
    Effect.gen(function* () {
      const { docs, other, server } = yield* world({ indexes: { docs: ["kind"] } })
      const ids = Effect.map(docs.findBy("kind", "a"), (found) => found.map(({ _id }) => _id))
      assert.deepStrictEqual(yield* ids, ["first"])
      yield* other.insert({ kind: "a" }, { id: "second" })
      assert.deepStrictEqual(yield* ids, ["first", "second"])
      assert.deepStrictEqual(yield* ids, ["first", "second"])
      server.commit("main", [
        { _tag: "Put", path: "data/docs/third.json", content: new TextEncoder().encode('{"kind":"a"}') }
      ])
      assert.deepStrictEqual(yield* ids, ["first", "second", "third"])
      yield* other.delete("first")
      assert.deepStrictEqual(yield* ids, ["second", "third"])
    })
  )

  it.scopedLive("writes with an index are based on concurrent writes of others", () =>
    Effect.gen(function* () {
      const { docs, other } = yield* world({ indexes: { docs: ["kind"] }, manifests: ["docs"] })
      for (let round = 0; round < 3; round++) {
        yield* docs.insert({ kind: "b" }, { id: `ours${round}` })
        yield* other.insert({ kind: "b" }, { id: `theirs${round}` })
        yield* docs.update("first", { n: round })
      }
      const found = yield* other.findBy("kind", "b")
      assert.strictEqual(found.length, 6)
      assert.isTrue((yield* docs.explain("kind", "b")).current)
    })
  )

  it.scopedLive("a merge is based on the head of its branch, also if the other branch contains it", () =>
    Effect.gen(function* () {
      const { docs, server } = yield* world()
      const { remote, store } = yield* opened(server, options, {})
      const other = yield* opened(server, {}, {})
      const headOf = (branch: string) => Effect.map(other.remote.head(branch), Option.getOrThrow)
      yield* store.collection("docs").update("first", { n: 1 })
      yield* docs.insert({}, { id: "second" })
      const between = yield* headOf("main")
      yield* other.store.createBranch("side")
      yield* other.store.onBranch("side").collection("docs").insert({}, { id: "third" })
      const side = yield* headOf("side")
      yield* store.merge("side", { fastForward: false })
      const { parents } = Option.getOrThrow(yield* other.remote.commitInfo((yield* headOf("main")).commit))
      assert.deepStrictEqual(parents, [between.commit, side.commit])

      yield* other.store.onBranch("side").collection("docs").insert({}, { id: "fourth" })
      const { commitSha } = yield* other.store.merge("side")
      assert.strictEqual((yield* store.merge("side", { fastForward: false })).kind, "upToDate")
      assert.strictEqual(Option.getOrThrow(yield* remote.head("main")).commit, Option.getOrThrow(commitSha))
    })
  )

  it.scopedLive("a restore distinguishes a missing commit from a missing document", () =>
    Effect.gen(function* () {
      const { docs, store } = yield* world()
      const commit = Option.getOrThrow(yield* store.commitSha)
      yield* docs.update("first", { n: 5 })
      const missing = yield* Effect.flip(docs.restore("first", "f".repeat(40)))
      assert.match(missing.message, /has no commit/)
      const absent = yield* Effect.flip(docs.restore("nobody", commit))
      assert.match(absent.message, /is not in commit/)
      assert.deepInclude(yield* docs.restore("first", commit), { n: 0, _rev: 3 })
    })
  )

  it.scopedLive("if the prefetching query fails, plain reads are used", () =>
    Effect.gen(function* () {
      const { docs, server, store } = yield* world({ indexes: { docs: ["kind"] } })
      server.fault = (seen) =>
        seen.url === "/graphql" && seen.body.includes("query Prefetch")
          ? replying({ status: 200, body: { data: null, errors: [{ message: "Something went wrong" }] } })
          : undefined
      yield* docs.insert({ kind: "a" }, { id: "second" })
      assert.strictEqual((yield* docs.findBy("kind", "a")).length, 2)
      assert.isTrue(Option.isSome(yield* store.commitSha))
    })
  )
})
