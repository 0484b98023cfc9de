import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Stream } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import { GitRemote, type GitRemoteService, type Head } from "../../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../../src/store/Store.js"
import { replying, verbs } from "../../../support/github/InProcess.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"

const bytes = (text: string) => new TextEncoder().encode(text)
const put = (path: string, text: string) => ({ _tag: "Put", path, content: bytes(text) }) as const
const text = (content: Uint8Array) => new TextDecoder().decode(content)

const ways: ReadonlyArray<Partial<GitHubOptions>> = [
  {},
  { listVia: "contents" },
  { useGraphql: true, commitVia: "graphql" }
]

/** A commit that everybody has, one that somebody made since, and a client that has heard of both. */
const start = (options: Partial<GitHubOptions>) =>
  Effect.gen(function* () {
    const it = yield* virtual(options)
    const { flight, remote, server } = it
    server.commit("main", [put("data/docs/a.json", '{"n":1}')], "base")
    const base = server.head("main")
    // The host has said by now that it knows paths below a revision, and the remote believes what it is told.
    yield* settle(
      flight,
      Effect.zipRight(remote.head("main"), remote.snapshot("main").directory("data/docs"))
    )
    server.snapshot()
    server.commit("main", [put("data/new/b.json", '{"n":2}')], "theirs")
    const { result } = yield* settle(flight, remote.head("main"))
    const head = Option.getOrThrow(Either.getOrThrow(result))
    const lagging = (millis: number) =>
      Effect.zipRight(
        Effect.sync(() => {
          server.lagging = true
        }),
        Effect.fork(
          Effect.zipRight(
            Effect.sleep(millis),
            Effect.sync(() => {
              server.lagging = false
            })
          )
        )
      )
    return { ...it, base, head, lagging }
  })

const reads: ReadonlyArray<{
  readonly name: string
  readonly read: (remote: GitRemoteService, head: Head, base: Oid) => Effect.Effect<unknown, unknown>
  readonly answer: unknown
}> = [
  {
    name: "the root of a commit",
    read: (remote, head) =>
      Effect.map(remote.tree(head, "", { recursive: true }), (tree) =>
        Option.getOrThrow(tree).entries.map(({ path }) => path)
      ),
    answer: ["data/docs/a.json", "data/new/b.json"]
  },
  {
    name: "a new directory",
    read: (remote, head) =>
      Effect.map(remote.tree(head, "data/new"), (tree) =>
        Option.getOrThrow(tree).entries.map(({ path }) => path)
      ),
    answer: ["b.json"]
  },
  {
    name: "a directory that is really missing",
    read: (remote, head) => remote.tree(head, "data/missing"),
    answer: Option.none()
  },
  {
    name: "a new file",
    read: (remote, head) =>
      Effect.map(remote.file(head, "data/new/b.json"), (file) => text(Option.getOrThrow(file).content)),
    answer: '{"n":2}'
  },
  {
    name: "a new file of a commit that is named by its id",
    read: (remote, head) =>
      Effect.map(remote.file(head.commit, "data/new/b.json"), (file) =>
        text(Option.getOrThrow(file).content)
      ),
    answer: '{"n":2}'
  },
  {
    name: "a file that is really missing",
    read: (remote, head) => remote.file(head, "data/missing.json"),
    answer: Option.none()
  },
  {
    name: "files in bulk, by path and by id",
    read: (remote, head) =>
      Effect.flatMap(remote.tree(head, "", { recursive: true }), (tree) =>
        remote.blobs(head, [...Option.getOrThrow(tree).entries, { path: "data/new/b.json" }]).pipe(
          Stream.runCollect,
          Effect.map((blobs) => Array.from(blobs, ({ content }) => text(content)))
        )
      ),
    answer: ['{"n":1}', '{"n":2}', '{"n":2}']
  },
  {
    name: "which commit stands on which",
    read: (remote, head, base) => remote.isAncestor(base, head.commit),
    answer: true
  },
  {
    name: "a commit",
    read: (remote, head) =>
      Effect.map(remote.commitInfo(head.commit), (info) => Option.getOrThrow(info).message),
    answer: "theirs"
  }
]

describe.each(ways)("a machine that is ten seconds behind the others, with %j", (options) => {
  for (const { answer, name, read } of reads) {
    it.scoped(`denies nothing for long: ${name}`, () =>
      Effect.gen(function* () {
        const { base, flight, head, lagging, remote, server } = yield* start(options)
        yield* lagging(10_000)
        const { result, took } = yield* settle(flight, read(remote, head, base))
        assert.isTrue(Either.isRight(result), String(Option.getOrNull(Either.getLeft(result))))
        assert.deepStrictEqual(Either.getOrThrow(result), answer)
        assert.isBelow(took, 60_000)
        const again = yield* settle(flight, read(remote, head, base))
        assert.deepStrictEqual(Either.getOrThrow(again.result), answer)
        assert.deepStrictEqual(server.problems, [])
      })
    )
  }

  it.scoped("a commit is based on the head of another replica, with any cache of its own", () =>
    Effect.gen(function* () {
      const { flight, lagging, remote, server } = yield* start(options)
      yield* lagging(10_000)
      const store = yield* Effect.provideService(
        Store.make({ indexes: { new: ["n"] }, manifests: ["new"] }),
        GitRemote,
        remote
      )
      const { result } = yield* settle(
        flight,
        store.batch({ message: "ours" }, (batch) => batch.put("new", "c", { n: 3 }))
      )
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      assert.deepStrictEqual(server.history(), ["ours", "theirs", "base"])
      const { result: ids } = yield* settle(flight, store.collection("new").list())
      assert.deepStrictEqual(Either.getOrThrow(ids), ["b", "c"])
      const { result: found } = yield* settle(flight, store.collection("new").findBy("n", 2))
      assert.deepStrictEqual(
        Either.getOrThrow(found).map(({ _id }) => _id),
        ["b"]
      )
    })
  )
})

describe.each(ways)("a branch that was made a moment ago, with %j", (options) => {
  it.scoped("is read and written if a replica does not know it yet", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* start(options)
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      server.snapshot()
      server.lagging = true
      const { result } = yield* settle(
        flight,
        Effect.gen(function* () {
          const { result } = yield* store.transaction({}, (tx) =>
            Effect.gen(function* () {
              const docs = tx.collection("docs")
              const before = yield* docs.get("a")
              assert.strictEqual(Option.getOrThrow(before)["n"], 1)
              yield* docs.update("a", { m: 2 })
              yield* docs.insert({ n: 3 }, { id: "c" })
              assert.deepStrictEqual(yield* docs.list(), ["a", "c"])
              return yield* docs.get("a")
            })
          )
          assert.deepInclude(Option.getOrThrow(result), { n: 1, m: 2 })
          assert.deepStrictEqual(yield* store.collection("docs").list(), ["a", "c"])
        })
      )
      assert.isTrue(Either.isRight(result), String(Option.getOrNull(Either.getLeft(result))))
      assert.deepStrictEqual([...server.refs().keys()], ["refs/heads/main"])
      assert.deepStrictEqual(server.history().slice(0, 2), ["insert docs/c", "update docs/a"])
    })
  )
})

describe.each(ways)("documents that a transaction has just published, with %j", (options) => {
  it.scoped("are read as it left them where a machine is behind", () =>
    Effect.gen(function* () {
      const { flight, lagging, remote, server } = yield* start(options)
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      const docs = store.collection("docs")
      server.commit("main", [put("data/docs/gone.json", '{"n":1}')])
      server.snapshot()
      const published = store.transaction({}, (tx) =>
        Effect.zipRight(
          tx.collection("docs").update("a", { n: 2 }),
          Effect.zipRight(
            tx.collection("docs").insert({ n: 3 }, { id: "new" }),
            tx.collection("docs").delete("gone")
          )
        )
      )
      assert.strictEqual((yield* settle(flight, published)).result._tag, "Right")
      yield* lagging(10_000)
      const { result } = yield* settle(
        flight,
        Effect.forEach(["a", "new", "gone"], (id) => docs.get(id))
      )
      const found = Either.getOrThrow(result).map(Option.map(({ n }) => n))
      assert.deepStrictEqual(found, [Option.some(2), Option.some(3), Option.none()])
    })
  )
})

describe.each(ways)("what we wrote on top of what others had just written, with %j", (options) => {
  /** Two commits of others, of which a lagging machine knows the first; our own stands on the second. */
  const written = Effect.gen(function* () {
    const it = yield* start(options)
    const { flight, remote, server } = it
    const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
    server.commit("main", [put("data/docs/a.json", '{"n":2}')], "theirs, first")
    server.snapshot()
    server.commit("main", [put("data/docs/a.json", '{"n":3}')], "theirs, second")
    const docs = store.collection("docs")
    const update = docs.update("a", { n: 4 })
    assert.strictEqual((yield* settle(flight, update)).result._tag, "Right")
    return { ...it, docs, store }
  })

  it.scoped("is read where a machine shows the first of their commits", () =>
    Effect.gen(function* () {
      const { docs, flight, lagging, remote, server } = yield* written
      const head = server.head("main")
      yield* lagging(5_000)
      const looks = Effect.all({
        document: docs.get("a"),
        all: Stream.runCollect(docs.all()),
        head: remote.head("main")
      })
      const found = Either.getOrThrow((yield* settle(flight, looks)).result)
      assert.deepStrictEqual<unknown>(
        {
          document: Option.map(found.document, ({ n }) => n),
          all: Array.from(found.all, ({ n }) => n),
          head: Option.map(found.head, ({ commit }) => commit)
        },
        { document: Option.some(4), all: [4], head: Option.some(head) }
      )
    })
  )

  it.scoped("is the base of the next write", () =>
    Effect.gen(function* () {
      const { docs, flight, lagging, store } = yield* written
      yield* lagging(5_000)
      const writes = Effect.zipRight(
        store.transaction({}, (tx) => tx.collection("docs").update("a", { m: 5 })),
        docs.insert({ n: 6 }, { id: "b" })
      )
      assert.strictEqual((yield* settle(flight, writes)).result._tag, "Right")
      const { result } = yield* settle(flight, docs.get("a"))
      const document = Option.getOrThrow(Either.getOrThrow(result))
      assert.deepStrictEqual([document["n"], document["m"]], [4, 5])
    })
  )

  it.scoped("yields to what others write later, which is doubted once", () =>
    Effect.gen(function* () {
      const { docs, flight, server } = yield* written
      server.commit("main", [put("data/docs/b.json", '{"n":5}')], "theirs, third")
      server.commit("main", [put("data/docs/a.json", '{"n":6}')], "theirs, fourth")
      const read = settle(
        flight,
        Effect.map(docs.get("a"), (found) => Option.getOrThrow(found)["n"])
      )
      assert.deepStrictEqual((yield* read).result, Either.right(6))
      server.seen.length = 0
      assert.deepStrictEqual((yield* read).result, Either.right(6))
      assert.lengthOf(server.seen, 1, verbs(server).join("\n"))
    })
  )
})

it.scoped("a machine that never catches up is an error, not an absence", () =>
  Effect.gen(function* () {
    const { flight, head, remote, server } = yield* start({})
    server.lagging = true
    const all: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
      remote.tree(head, ""),
      remote.tree(head, "data/new"),
      remote.file(head, "data/new/b.json")
    ]
    for (const read of all) {
      const { result, took } = yield* settle(flight, read)
      assert.strictEqual(Option.getOrThrow(Either.getLeft(result))._tag, "NotFoundError")
      assert.isAtMost(took, 30_000)
    }
  })
)

describe("a head remembered from before another client's commit", () => {
  it.scoped("refuses nothing, even where no retry is allowed", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      const bytes = (text: string) => new TextEncoder().encode(text)
      server.commit("main", [{ _tag: "Put", path: "data/notes/a.json", content: bytes("{}") }], "base")
      const work = Effect.gen(function* () {
        const options = { batchRetries: 0, conflictRetries: 0 }
        const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
        const put = (id: string, n: number) =>
          store.batch({}, (batch) =>
            Effect.zipRight(batch.put("notes", id, { n }), batch.put("notes", "both", { n }))
          )
        yield* put("b", 1)
        server.commit("main", [{ _tag: "Put", path: "data/notes/b.json", content: bytes("{}") }], "theirs")
        yield* put("b", 2)
        server.commit(
          "main",
          [{ _tag: "Put", path: "data/notes/b.json", content: bytes('{"n":9}') }],
          "theirs"
        )
        yield* store.writer({}, (writer) =>
          Effect.zipRight(writer.put("notes", "b", { n: 3 }), writer.put("notes", "both", { n: 3 }))
        )
      })
      const { result } = yield* settle(flight, work)
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
    })
  )

  for (const options of [{}, { useGraphql: true, commitVia: "graphql" }] as const) {
    it.scoped(`costs one look where the branch is, with ${JSON.stringify(options)}`, () =>
      Effect.gen(function* () {
        const { flight, remote, server } = yield* virtual(options)
        const bytes = (text: string) => new TextEncoder().encode(text)
        const theirs = (n: number) =>
          server.commit("main", [{ _tag: "Put", path: "data/theirs/a.json", content: bytes(`{"n":${n}}`) }])
        theirs(0)
        const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
        const put = (n: number) =>
          store.batch({}, (batch) =>
            Effect.zipRight(batch.put("notes", "a", { n }), batch.put("notes", "b", { n }))
          )
        yield* settle(flight, put(1))
        theirs(1)
        server.seen.length = 0
        const { result } = yield* settle(flight, put(2))
        assert.isTrue(Either.isRight(result), JSON.stringify(result))
        const looks = verbs(server).filter((verb) => verb.startsWith("GET /branches/"))
        assert.deepStrictEqual(looks, ["GET /branches/main"], verbs(server).join("\n"))
        assert.deepStrictEqual(server.problems, [])
      })
    )
  }
})

describe("a commit by GraphQL that is refused as if there were no such branch", () => {
  const graphql = { useGraphql: true, commitVia: "graphql" } as const
  const content = new TextEncoder().encode("{}")
  const world = (refusals: number) =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual(graphql)
      server.commit("main", [{ _tag: "Put", path: "data/notes/a.json", content }], "base")
      let met = 0
      server.fault = ({ body }) =>
        body.includes('"mutation ') && met++ < refusals
          ? replying({
              status: 200,
              body: { data: null, errors: [{ type: "NOT_FOUND", message: "Could not resolve it." }] }
            })
          : undefined
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      const put = store.batch({}, (batch) =>
        Effect.zipRight(batch.put("notes", "a", { n: 1 }), batch.put("notes", "b", { n: 1 }))
      )
      return yield* settle(flight, put)
    })

  it.scoped("is repeated while a replica may be outdated, and is not a lost race then", () =>
    Effect.gen(function* () {
      const { result, took } = yield* world(Number.POSITIVE_INFINITY)
      assert.isTrue(Either.isLeft(result))
      if (Either.isLeft(result)) assert.strictEqual(result.left._tag, "NotFoundError")
      assert.isBelow(took, 26_000)
      assert.isTrue(Either.isRight((yield* world(3)).result))
    })
  )
})
