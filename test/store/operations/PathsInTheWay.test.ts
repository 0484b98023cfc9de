import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import { ValidationError } from "../../../src/domain/errors/StoreError.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { type Change, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { clientsOnHost, onHost } from "../../support/github/OnHost.js"
import { layer as host } from "../../support/host/HostServer.js"
import { file, foreignCommit } from "../core/ForeignCommit.js"
import { remotes } from "../core/Remotes.js"

const submodule = (path: string): Change => ({
  _tag: "Link",
  path: `data/${path}`,
  oid: "5".repeat(40) as Oid,
  mode: "160000"
})

// The host is not checked: GitHub tells no address of a submodule that `.gitmodules` does not name, unlike its description.
const clients = [
  ["over REST", {}],
  ["over GraphQL", { useGraphql: true, commitVia: "graphql" }],
  ["with commits over GraphQL", { commitVia: "graphql" }],
  ["with reads over GraphQL", { useGraphql: true }],
  ["by push", { commitVia: "push" }]
] as const

const onHosts = clients.map(
  ([way, options]) =>
    [`GitHub's client ${way}`, Layer.provide(onHost(options), host({ checked: false }))] as const
)

const entryAt = (remote: GitRemoteService, path: string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const { entries } = Option.getOrThrow(yield* remote.tree(head, "", { recursive: true }))
    return entries.find((entry) => entry.path === `data/${path}`)?.mode
  })

describe.each([...remotes, ...onHosts])("on %s", (_name, layer) => {
  const test = (title: string, body: (remote: GitRemoteService) => Effect.Effect<void, unknown>) =>
    it.live(
      title,
      () =>
        Effect.provide(Effect.flatMap(GitRemote, body), Layer.fresh(layer)) as Effect.Effect<void, unknown>,
      60_000
    )

  for (const [what, change, mode] of [
    ["a directory", file("notes/x.json/inner", "kept"), "100644"],
    ["a submodule", submodule("notes/x.json"), "160000"]
  ] as const) {
    test(`a batch does not replace ${what} that has the name of a document`, (remote) =>
      Effect.gen(function* () {
        const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
        yield* store.collection("notes").insert({ n: 0 }, { id: "a" })
        yield* foreignCommit(remote, change)
        const put = store.batch({}, (batch) =>
          Effect.zipRight(batch.put("notes", "x", { n: 1 }), batch.put("notes", "y", { n: 1 }))
        )
        const written = yield* Effect.either(put)
        const path = change.path.slice("data/".length)
        assert.strictEqual(yield* entryAt(remote, path), mode)
        assert.instanceOf(Option.getOrNull(Either.getLeft(written)), ValidationError)
        assert.deepStrictEqual(yield* store.collection("notes").list(), ["a"])
      }))

    test(`an insert does not replace ${what} that has the name of its document`, (remote) =>
      Effect.gen(function* () {
        const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
        yield* store.collection("notes").insert({ n: 0 }, { id: "a" })
        yield* foreignCommit(remote, change)
        const written = yield* Effect.either(store.collection("notes").insert({ n: 1 }, { id: "x" }))
        assert.strictEqual(yield* entryAt(remote, change.path.slice("data/".length)), mode)
        assert.instanceOf(Option.getOrNull(Either.getLeft(written)), ValidationError)
      }))
  }

  test("a write does not replace a directory that has the name of an index file", (remote) =>
    Effect.gen(function* () {
      const options = { indexes: { notes: ["n"] } }
      const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
      yield* store.collection("others").insert({ n: 0 }, { id: "a" })
      yield* foreignCommit(remote, file("_index/notes/n.json/inner", "kept"))
      const written = yield* Effect.either(store.collection("notes").insert({ n: 1 }, { id: "x" }))
      assert.strictEqual(yield* entryAt(remote, "_index/notes/n.json/inner"), "100644")
      assert.instanceOf(Option.getOrNull(Either.getLeft(written)), ValidationError)
    }))

  test("a revert leaves a submodule alone that took the place of a document", (remote) =>
    Effect.gen(function* () {
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      yield* store.collection("notes").insert({ n: 0 }, { id: "x" })
      yield* store.collection("notes").insert({ n: 0 }, { id: "y" })
      const other = file("notes/y.json", { _id: "y", _rev: 2, n: 5 })
      const { commit } = yield* foreignCommit(remote, submodule("notes/x.json"), other)
      const { documents, skipped } = yield* store.revert(commit)
      assert.deepStrictEqual(documents, [{ collection: "notes", id: "y" }])
      assert.deepStrictEqual(skipped, ["data/notes/x.json"])
      assert.strictEqual(yield* entryAt(remote, "notes/x.json"), "160000")
    }))
})

describe.concurrent("a submodule that another client has committed", () => {
  for (const [way, options] of clients.filter(([way]) => way !== "by push")) {
    for (const prefetched of [false, true]) {
      it.scopedLive(
        `is not replaced ${way} by a client that has ${prefetched ? "prefetched and " : ""}read its path only`,
        () =>
          Effect.gen(function* () {
            const client = yield* clientsOnHost(options)
            const [theirs, ours] = [yield* client, yield* client]
            const store = yield* Effect.provideService(Store.make(), GitRemote, theirs)
            yield* store.collection("notes").insert({ n: 0 }, { id: "a" })
            yield* foreignCommit(theirs, submodule("notes/x.json"))
            const change = file("notes/x.json", { _id: "x", _rev: 1 })
            const written = yield* Effect.either(
              ours.commitNext("main", (snapshot) =>
                Effect.gen(function* () {
                  if (prefetched) yield* snapshot.prefetch(() => ({ files: [change.path], directories: [] }))
                  yield* snapshot.file(change.path)
                  return { commit: Option.some({ message: "ours", changes: [change] }), result: undefined }
                })
              )
            )
            assert.strictEqual(yield* entryAt(theirs, "notes/x.json"), "160000")
            assert.instanceOf(Option.getOrNull(Either.getLeft(written)), ValidationError)
          }).pipe(Effect.provide(Layer.fresh(host({ checked: false })))),
        60_000
      )
    }
  }
})
