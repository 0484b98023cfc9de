import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Option, Stream } from "effect"
import { Store, type StoreOptions } from "../../../../src/store/index.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import { type Fault, makeServer, replying, type Server } from "../../../support/github/InProcess.js"
import { remoteOf } from "../../../support/github/Remote.js"

const recorded: StoreOptions = { indexes: { docs: ["kind"] }, manifests: ["docs"], shardDepth: 1 }

const open = (server: Server, options: Partial<GitHubOptions>, store: StoreOptions = {}) =>
  Effect.gen(function* () {
    const remote = yield* remoteOf(server, options)
    const layer = Store.layer({ ...store, ...(options.ref === undefined ? {} : { ref: options.ref }) })
    return yield* Effect.provide(
      Store,
      yield* Layer.build(Layer.provide(layer, Layer.succeed(GitRemote, remote)))
    )
  })

/** Three documents with recorded settings; none is where a store without them would look. */
const world = (options: { readonly private?: boolean } = {}) =>
  Effect.gen(function* () {
    const server = yield* makeServer(options)
    const writer = yield* open(server, {}, recorded)
    for (const id of ["x", "y", "z"]) {
      yield* writer.collection("docs").insert({ kind: id === "z" ? "b" : "a" }, { id })
    }
    server.seen.length = 0
    return { server, commit: server.head("main") as string }
  })

/** Everything that a store for reading tells of the collection. */
const told = (server: Server, options: Partial<GitHubOptions>) =>
  Effect.gen(function* () {
    const store = yield* open(server, options)
    const docs = store.collection("docs")
    const idsOf = (documents: Iterable<unknown>) =>
      Array.from(documents, (document) => (document as { readonly _id: string })._id)
    const run = (documents: Stream.Stream<unknown, unknown>) =>
      Effect.map(Stream.runCollect(documents), (all) => idsOf(Chunk.toReadonlyArray(all)))
    const view = (yield* store.snapshot).collection("docs")
    return {
      get: Option.map(yield* docs.get("x"), (found) => found["_id"]),
      missing: yield* docs.get("missing"),
      exists: [yield* docs.exists("y"), yield* docs.exists("missing")],
      list: yield* docs.list(),
      all: yield* run(docs.all()),
      find: yield* run(docs.find(() => true)),
      findBy: idsOf(yield* docs.findBy("kind", "a")),
      explain: (yield* docs.explain("kind", "a")).source,
      page: idsOf((yield* docs.page({ limit: 2 })).documents),
      view: [Option.isSome(yield* view.get("z")), Option.isSome(yield* view.get("missing"))],
      inView: yield* run(view.all())
    }
  })

const everything: Effect.Effect.Success<ReturnType<typeof told>> = {
  get: Option.some("x"),
  missing: Option.none(),
  exists: [true, false],
  list: ["x", "y", "z"],
  all: ["x", "y", "z"],
  find: ["x", "y", "z"],
  findBy: ["x", "y"],
  explain: "index",
  page: ["x", "y"],
  view: [true, false],
  inView: ["x", "y", "z"]
}

const raw = (server: Server) => server.seen.filter(({ url }) => url.startsWith("/raw/")).length

/** A file that is there, denied by the raw address once or always. */
const denial = (reply: { readonly status: number; readonly headers?: { readonly [name: string]: string } }) =>
  replying({ body: "no", ...reply }) satisfies Fault

describe("a store for reading", () => {
  const ways = (commit: string): ReadonlyArray<readonly [string, Partial<GitHubOptions>]> => [
    ["readOnly", { readOnly: true }],
    ["ref", { ref: commit }],
    ["the branch by its name", { readOnly: true, pinRef: false }],
    ["readOnly, with GraphQL", { readOnly: true, useGraphql: true }]
  ]

  it.scopedLive(
    "of a private repository reads everything by the API, since the raw address denies it all",
    () =>
      Effect.gen(function* () {
        const { commit, server } = yield* world({ private: true })
        for (const [way, options] of ways(commit)) {
          server.seen.length = 0
          assert.deepStrictEqual(yield* told(server, options), everything, way)
          assert.isAtMost(raw(server), 4, `${way}: after three denials and an absent document it is given up`)
        }
        assert.deepStrictEqual(server.problems, [])
      })
  )

  it.scopedLive("ignores a single 404 of the raw address, and uses it further", () =>
    Effect.gen(function* () {
      const { commit, server } = yield* world()
      for (const [way, options] of ways(commit).slice(0, 3)) {
        server.seen.length = 0
        server.fault = () => undefined
        assert.deepStrictEqual(yield* told(server, options), everything, way)
        const asked = raw(server)
        assert.isAtLeast(asked, 6, `${way}: ${server.seen.map(({ url }) => url).join("\n")}`)
        for (let nth = 0; nth < asked; nth++) {
          let seen = 0
          server.fault = ({ url }) =>
            url.startsWith("/raw/") && seen++ === nth ? denial({ status: 404 }) : undefined
          assert.deepStrictEqual(yield* told(server, options), everything, `${way}, denial ${nth}`)
        }
      }
    })
  )

  it.scopedLive("reads by the API where the raw address asks for a login or sends elsewhere", () =>
    Effect.gen(function* () {
      const { server } = yield* world()
      for (const reply of [
        { status: 401 },
        { status: 403 },
        { status: 302, headers: { location: "https://login.example.org/" } }
      ]) {
        server.fault = ({ url }) => (url.startsWith("/raw/") ? denial(reply) : undefined)
        assert.deepStrictEqual(yield* told(server, { readOnly: true }), everything, String(reply.status))
      }
    })
  )

  it.scopedLive("takes documents from the raw address, however they are asked for", () =>
    Effect.gen(function* () {
      const { commit, server } = yield* world()
      for (const [way, options] of ways(commit)) {
        server.seen.length = 0
        const store = yield* open(server, options)
        yield* Stream.runDrain(store.collection("docs").all())
        const files = server.seen.filter(({ url }) => /\/(contents|git\/blobs)\/|^\/graphql/.test(url))
        assert.deepStrictEqual(
          files.map(({ url }) => url),
          [],
          way
        )
      }
    })
  )
})

describe("a store that reads by the API", () => {
  it.scopedLive("believes no stray denial of a directory or of a listed document", () =>
    Effect.gen(function* () {
      const { server } = yield* world()
      const answers = Effect.gen(function* () {
        const store = yield* open(server, {})
        const docs = store.collection("docs")
        const ids = yield* docs.list()
        const all = yield* Stream.runCollect(docs.all())
        return [ids, yield* docs.count, Array.from(all, (document) => document["_id"])]
      })
      const expected = [["x", "y", "z"], 3, ["x", "y", "z"]]
      server.seen.length = 0
      assert.deepStrictEqual(yield* answers, expected)
      const asked = server.seen.filter(({ url }) => url.includes("/git/"))
      assert.isAtLeast(asked.length, 4)
      for (let nth = 0; nth < asked.length; nth++) {
        let seen = 0
        server.fault = ({ url }) =>
          url.includes("/git/") && seen++ === nth
            ? replying({ status: 404, body: { message: "Not Found" } })
            : undefined
        assert.deepStrictEqual(yield* answers, expected, `denial of ${asked[nth]!.url}`)
      }
      server.fault = () => undefined
      const store = yield* open(server, {})
      yield* store.collection("docs").list()
      assert.deepStrictEqual(yield* store.collection("nothing").list(), [])
    })
  )
})
