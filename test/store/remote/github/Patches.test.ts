import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Stream } from "effect"
import { Store, type StoreOptions } from "../../../../src/store/index.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import type { StoreService } from "../../../../src/store/StoreService.js"
import { makeServer, type Reply, replying, type Server } from "../../../support/github/InProcess.js"
import { remoteOf } from "../../../support/github/Remote.js"

const open = (server: Server, github: Partial<GitHubOptions> = {}, options: StoreOptions = {}) =>
  Effect.gen(function* () {
    const remote = yield* remoteOf(server, { maxRetries: 0, ...github })
    const layer = Layer.provide(Store.layer(options), Layer.succeed(GitRemote, remote))
    return yield* Effect.provide(Store, yield* Layer.build(layer))
  })

/** The documents without what a time is written in. */
const documents = (store: StoreService) =>
  Effect.map(Stream.runCollect(store.collection("docs").all()), (all) =>
    Chunk.toReadonlyArray(all).map(({ _created_at, _updated_at, ...rest }) => rest)
  )

const long = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [`m${index + 10}`, "text ".repeat(9)])
)

/** A commit that changes, adds, removes and moves documents, some of which no patch shows whole. */
const changed = Effect.gen(function* () {
  const server = yield* makeServer()
  const store = yield* open(server)
  yield* store.batch({}, (batch) =>
    Effect.all([
      batch.put("docs", "short", { n: 1 }),
      batch.put("docs", "long", { ...long, a: 1, z: "ü" }),
      batch.put("docs", "gone", { n: 1 }),
      batch.put("docs", "moved", { ...long, n: 1 })
    ])
  )
  const bytes = (text: string) => new TextEncoder().encode(text)
  server.commit("main", [
    { _tag: "Put", path: "data/docs/foreign.json", content: bytes('{\r\n"_rev": 7,\r\n"n": 1}') }
  ])
  const before = yield* documents(store)
  const short = server.show("data/docs/short.json")!
  const sha = server.commit("main", [
    { _tag: "Put", path: "data/docs/short.json", content: bytes(short.replace('"n": 1', '"n": 2')) },
    {
      _tag: "Put",
      path: "data/docs/long.json",
      content: bytes(server.show("data/docs/long.json")!.replace('"a": 1', '"a": 2').replace("ü", "ö"))
    },
    { _tag: "Put", path: "data/docs/foreign.json", content: bytes('{\r\n"_rev": 9,\r\n"n": 2}') },
    { _tag: "Remove", path: "data/docs/gone.json" },
    { _tag: "Remove", path: "data/docs/moved.json" },
    { _tag: "Put", path: "data/docs/new.json", content: bytes(server.show("data/docs/moved.json")!) }
  ])
  return { server, sha, before }
})

/** Changes what the answers that describe a commit say of its files. */
const editFiles = (
  server: Server,
  edit: (file: Record<string, unknown>) => Record<string, unknown> | null
) => {
  server.edit = ({ url }, sent) => {
    if (!/\/commits\/[0-9a-f]{40}/.test(url) || url.includes("/git/") || sent.status !== 200) return sent
    const body = JSON.parse(new TextDecoder().decode(sent.body))
    const files = body.files?.map(edit).filter((file: unknown) => file !== null)
    return { ...sent, body: new TextEncoder().encode(JSON.stringify({ ...body, files })) }
  }
}

const refused: Reply = { status: 500, body: { message: "this diff takes too long" } }
const answers: ReadonlyArray<readonly [what: string, spoil: (server: Server) => void]> = [
  ["as the host says", () => {}],
  ["without files", (server) => editFiles(server, () => null)],
  ["without patches", (server) => editFiles(server, ({ patch: _, ...file }) => file)],
  [
    "with patches that lie",
    (server) =>
      editFiles(server, (file) => ({
        ...file,
        patch: String(file["patch"]).replace(/"(n|a)": /g, '"$1": 9')
      }))
  ],
  ["with files of another shape", (server) => editFiles(server, ({ patch }) => ({ name: 7, patch }))],
  [
    "with an error",
    (server) => {
      server.fault = ({ url }) =>
        /\/repos\/[^/]+\/[^/]+\/commits\//.test(url) ? replying(refused) : undefined
    }
  ]
]

describe.each([
  ["REST", {}],
  ["GraphQL", { useGraphql: true, commitVia: "graphql" }]
] as const)("a revert over %s", (_way, options) => {
  for (const [what, spoil] of answers) {
    it.scopedLive(`is the same where the commit is described ${what}`, () =>
      Effect.gen(function* () {
        const { before, server, sha } = yield* changed
        spoil(server)
        const store = yield* open(server, options)
        const reverted = yield* store.revert(sha)
        assert.deepStrictEqual(reverted.skipped, [])
        const revs: Record<string, number> = { short: 2, long: 2, foreign: 10, gone: 2, moved: 2 }
        assert.deepStrictEqual(
          yield* documents(store),
          before.map((document) => ({ ...document, _rev: revs[document._id]! }))
        )
        assert.deepStrictEqual(server.problems, [])
      })
    )
  }

  it.scopedLive("takes the current versions where the documents have changed since, if it is forced", () =>
    Effect.gen(function* () {
      const { before, server, sha } = yield* changed
      const store = yield* open(server, options)
      yield* store.collection("docs").update("short", { n: 3 })
      yield* store.collection("docs").update("short", { n: 4 })
      assert.strictEqual((yield* Effect.flip(store.revert(sha)))._tag, "ConflictError")
      yield* store.revert(sha, { force: true })
      const revs: Record<string, number> = { short: 4, long: 2, foreign: 10, gone: 2, moved: 2 }
      assert.deepStrictEqual(
        yield* documents(store),
        before.map((document) => ({ ...document, _rev: revs[document._id]! }))
      )
    })
  )

  it.scopedLive("reads the patches of all pages of a commit", () =>
    Effect.gen(function* () {
      const server = yield* makeServer()
      const seeding = yield* open(server)
      for (const n of [1, 2]) {
        yield* seeding.batch({}, (batch) =>
          Effect.forEach(Array.from({ length: 650 }), (_, index) => batch.put("docs", `d${index}`, { n }), {
            discard: true
          })
        )
      }
      const store = yield* open(server, options)
      server.seen.length = 0
      const { documents } = yield* store.revert(server.head())
      assert.strictEqual(documents.length, 650)
      assert.isAtMost(server.seen.length, 16)
      assert.isTrue(
        (yield* Stream.runCollect(seeding.collection("docs").all())).pipe(Chunk.every(({ n }) => n === 1))
      )
    })
  )
})
