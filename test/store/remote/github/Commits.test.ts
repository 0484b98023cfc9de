import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import { type Change, GitRemote } from "../../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../../src/store/Store.js"
import type { StoreOptions } from "../../../../src/store/StoreOptions.js"
import { idsOf } from "../../../support/documents.js"
import { replying, verbs } from "../../../support/github/InProcess.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"
import { storePairsOnGitHub } from "../../../support/github/StorePairs.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"
import { messages } from "../../operations/StorePair.js"

it.scopedLive("a first commit that is refused halfway leaves no file behind, and the next one succeeds", () =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh()
    const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
    const batch = store.batch({}, (queue) =>
      Effect.zipRight(queue.put("c", "a", {}), queue.put("c", "b", {}))
    )
    const body = { message: "Repository rule violations found\n\nSecret detected in content" }
    server.fault = ({ method, url }) =>
      method === "PATCH" && url.includes("/git/refs/") ? replying({ status: 422, body }) : undefined
    const error = yield* Effect.flip(batch)
    assert.propertyVal(error, "reason", "Denied")
    server.fault = () => undefined
    const files = Effect.gen(function* () {
      const head = Option.getOrThrow(yield* remote.head("main"))
      const tree = Option.getOrThrow(yield* remote.tree(head, "", { recursive: true }))
      return tree.entries.map(({ path }) => path)
    })
    assert.deepStrictEqual(yield* files, [])
    yield* batch
    assert.deepStrictEqual(yield* files, ["data/c/a.json", "data/c/b.json"])
    assert.deepStrictEqual(server.problems, [])
  })
)

it.scopedLive("a commit that is too large for GraphQL is one by Git Data", () =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh({ useGraphql: true, commitVia: "graphql" })
    const put = (path: string, size: number) =>
      ({ _tag: "Put", path, content: new Uint8Array(size).fill(120) }) as const
    server.commit("main", [put("first", 1)], "base")
    const small = yield* remote.commit("main", yield* remote.head("main"), {
      message: "small",
      changes: [put("a", 10), put("b", 10)]
    })
    server.seen.length = 0
    const changes = [1, 2, 3].map((n) => put(`large/${n}`, 9_000_000))
    const made = yield* remote.commit("main", Option.some(small), { message: "large", changes })
    assert.deepStrictEqual(verbs(server), [
      "POST /git/blobs",
      "POST /git/blobs",
      "POST /git/blobs",
      "POST /git/trees",
      "POST /git/commits",
      "PATCH /git/refs/heads/main"
    ])
    assert.strictEqual(server.head("main"), made.commit)
    assert.strictEqual(server.id("main^"), small.commit)
  })
)

describe("an index edited by hand", () => {
  it.scoped("sends no request anywhere else", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
      server.commit(
        "main",
        [
          { _tag: "Put", path: "data/notes/a.json", content: text({ f: 1 }) },
          {
            _tag: "Put",
            path: "data/_index/notes/f.json",
            content: text({ values: { "1": ["a", "../../../../../../../user", "x/y"] } })
          }
        ],
        "base"
      )
      const work = Effect.gen(function* () {
        const store = yield* Effect.provideService(
          Store.make({ trustForeignIndexes: true }),
          GitRemote,
          remote
        )
        return yield* store.collection("notes").findBy("f", 1)
      })
      yield* settle(flight, work)
      assert.isTrue(server.seen.every((seen) => seen.url.startsWith("/repos/")))
    })
  )
})

const ways: ReadonlyArray<Partial<GitHubOptions>> = [{}, { useGraphql: true, commitVia: "graphql" }]

describe.each(ways)("a proxy that delivers every write twice, with %j", (options) => {
  const world = (
    storeOptions: StoreOptions,
    body: (store: Store.Store["Type"]) => Effect.Effect<void, unknown>
  ) =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual(options)
      const store = yield* Effect.provideService(Store.make(storeOptions), GitRemote, remote)
      yield* settle(flight, store.collection("notes").insert({ n: 1 }, { id: "a" }))
      server.fault = (seen) =>
        seen.method === "PUT" || /createCommitOnBranch/.test(JSON.stringify(seen))
          ? { _tag: "Twice" }
          : undefined
      const { result } = yield* settle(flight, body(store))
      server.fault = () => undefined
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      const { result: stored } = yield* settle(flight, store.collection("notes").get("a", { fresh: true }))
      const { result: history } = yield* settle(flight, store.collection("notes").history("a"))
      return {
        stored: Option.getOrThrow(Either.getOrThrow(stored)),
        commits: Either.getOrThrow(history).length
      }
    })

  it.scoped("updates a document once", () =>
    Effect.gen(function* () {
      const { commits, stored } = yield* world({}, (store) => store.collection("notes").update("a", { n: 2 }))
      assert.deepInclude(stored, { n: 2, _rev: 2 })
      assert.strictEqual(commits, 2)
    })
  )

  it.scoped("updates it once where a revision is expected and no retry allowed", () =>
    Effect.gen(function* () {
      const { commits, stored } = yield* world({ conflictRetries: 0 }, (store) =>
        store.collection("notes").replace("a", { n: 2 }, { expectedRev: 1 })
      )
      assert.deepInclude(stored, { n: 2, _rev: 2 })
      assert.strictEqual(commits, 2)
    })
  )

  it.scoped("commits a batch once", () =>
    Effect.gen(function* () {
      const { commits, stored } = yield* world({}, (store) =>
        store.batch({}, (batch) =>
          Effect.zipRight(batch.put("notes", "a", { n: 2 }), batch.put("notes", "b", { n: 2 }))
        )
      )
      assert.deepInclude(stored, { n: 2, _rev: 2 })
      assert.strictEqual(commits, 2)
    })
  )
})

describe.each(ways)("a writer through GitHub's API, with %j", (options) => {
  const make = storePairsOnGitHub(options)

  it.live("writes when so many wait, when the time has come, and at the end", () =>
    Effect.gen(function* () {
      const it = yield* make({ indexes: { notes: ["n"] }, manifests: ["notes"] })
      const { commits, result } = yield* it.store.writer({ maxOperations: 3, maxSeconds: 0.05 }, (writer) =>
        Effect.gen(function* () {
          yield* Effect.forEach([0, 1, 2, 3], (n) => writer.put("notes", `n${n}`, { n }))
          yield* Effect.repeat(Effect.zipRight(Effect.sleep(5), writer.pending), {
            until: (waiting) => waiting === 0
          })
          assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["n0", "n1", "n2", "n3"])
          yield* writer.delete("notes", "n0")
          return yield* writer.insert("notes", { n: 1 })
        })
      )
      assert.deepStrictEqual(yield* messages(it), [
        "writer: 3 operations",
        "writer: 1 operations",
        "writer: 2 operations"
      ])
      const head = Option.getOrThrow(yield* it.remote.head("main"))
      assert.strictEqual(commits.at(-1), head.commit)
      const found = yield* it.other.collection("notes").findBy("n", 1)
      assert.deepStrictEqual(idsOf(found), [result, "n1"].sort())
    })
  )
})

const bytes = (content: string) => new TextEncoder().encode(content)

const submodule = (path: string): Change => ({
  _tag: "Link",
  path,
  oid: "5".repeat(40) as Oid,
  mode: "160000"
})

describe("a submodule below a directory, to a client that has read nothing yet", () => {
  it.live("is removed by a commit", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh({})
      server.commit("main", [{ _tag: "Put", path: "some/file", content: bytes("1") }])
      yield* Effect.flatMap(remote.head("main"), (head) =>
        remote.commit("main", head, { message: "add", changes: [submodule("some/sub")] })
      )
      const cold = yield* remoteOf(server, {})
      yield* Effect.flatMap(cold.head("main"), (head) =>
        cold.commit("main", head, { message: "remove", changes: [{ _tag: "Remove", path: "some/sub" }] })
      )
      assert.notInclude(server.git(["ls-tree", "-r", "main"]), "160000")
    })
  )

  it.live("is removed by a merge", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh({})
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      yield* store.collection("notes").insert({ n: 1 }, { id: "x" })
      const commit = (branch: string, ...changes: ReadonlyArray<Change>) =>
        Effect.flatMap(remote.head(branch), (head) =>
          remote.commit(branch, head, { message: "by hand", changes })
        )
      yield* commit("main", submodule("some/deep/sub"), {
        _tag: "Put",
        path: "some/deep/file",
        content: bytes("1")
      })
      yield* store.createBranch("draft")
      yield* store.collection("notes").update("x", { n: 2 })
      yield* commit(
        "draft",
        { _tag: "Remove", path: "some/deep/sub" },
        { _tag: "Put", path: "new", content: bytes("1") }
      )
      const cold = yield* Effect.provideService(Store.make(), GitRemote, yield* remoteOf(server, {}))
      yield* cold.merge("draft")
      assert.notInclude(server.git(["ls-tree", "-r", "main"]), "160000")
      assert.strictEqual(Option.getOrThrow(yield* cold.collection("notes").get("x"))["n"], 2)
    })
  )
})
