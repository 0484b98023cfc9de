import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { ConflictError, NotFoundError, ValidationError } from "../../../src/domain/errors/StoreError.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { type DocumentMerge, MergeRuleId } from "../../../src/domain/merge/index.js"
import { MemoryRepository } from "../../../src/git/memory/MemoryRepository.js"
import { Collection } from "../../../src/store/Collection.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { disjointWriters } from "../../support/disjointWriters.js"
import { connect, directory, hosted, pushed, remotes, repositories } from "../core/Remotes.js"

const Product = Schema.Struct({
  name: Schema.String,
  price: Schema.Number.pipe(Schema.lessThan(100)),
  code: Schema.String,
  stock: Schema.Number.annotations({ [MergeRuleId]: "counter" }),
  tags: Schema.Array(Schema.String).annotations({ [MergeRuleId]: "set" })
})
const products = Collection.define("products", Product, {
  indexes: [{ fields: ["code"], unique: true }],
  manifest: ["name"]
})
const pen = { name: "Pen", price: 1, code: "a", stock: 5, tags: ["blue"] }

const refused = <E>(effect: Effect.Effect<unknown, E>) => Effect.flip(effect)

describe.each([...remotes, ...hosted])("writes that merge on %s", (_name, layer) => {
  const on = (test: (store: StoreService) => Effect.Effect<unknown, unknown, GitRemote>) =>
    Effect.gen(function* () {
      yield* test(yield* Store.make({ collections: [products] } as StoreOptions))
    }).pipe(Effect.provide(Layer.fresh(layer)))

  it.live("keep what others changed since the base, whichever way the base is named", () =>
    on((store) =>
      Effect.gen(function* () {
        const notes = store.collection("notes")
        yield* notes.insert({ a: 1, b: 1, c: 1, d: 1 }, { id: "x" })
        const base = Option.getOrThrow(yield* notes.version("x"))
        yield* notes.update("x", { a: 2 })
        const byVersion = yield* notes.update("x", { b: 2 }, { base })
        assert.deepInclude(byVersion, { _rev: 3, a: 2, b: 2 })
        const byBlob = yield* notes.replace("x", { a: 1, b: 1, c: 2, d: 1 }, { base: base.sha })
        assert.deepInclude(byBlob, { _rev: 4, a: 2, b: 2, c: 2 })
        const byRevision = yield* notes.replace("x", { a: 1, b: 1, c: 1, d: 2, e: 2 }, { base: 1 })
        assert.deepInclude(byRevision, { _rev: 5, a: 2, b: 2, c: 2, d: 2, e: 2 })
        const current = yield* notes.update("x", { a: 9 }, { base: 5 })
        assert.deepInclude(current, { _rev: 6, a: 9, d: 2, _created_at: base.document._created_at })
        assert.deepStrictEqual(Option.getOrThrow(yield* notes.get("x")), current)
      })
    )
  )

  it.live("return both versions of a conflict, and write nothing", () =>
    on((store) =>
      Effect.gen(function* () {
        const notes = store.collection("notes")
        yield* notes.insert({ a: 1, b: 1, c: 1 }, { id: "x" })
        const base = Option.getOrThrow(yield* notes.version("x"))
        yield* notes.update("x", { a: 2, b: 2 })
        const merge: DocumentMerge = {
          base: { a: 1, b: 1, c: 1 },
          ours: { a: 3, b: 1, c: 3 },
          theirs: { a: 2, b: 2, c: 1 },
          document: { a: 3, b: 2, c: 3 },
          conflicts: [{ path: ["a"], base: 1, ours: 3, theirs: 2 }]
        }
        const now = Option.getOrThrow(yield* notes.version("x"))
        for (const onConflict of ["merge", "fail"] as const) {
          const error = yield* refused(notes.update("x", { a: 3, c: 3 }, { base, onConflict }))
          assert.instanceOf(error, ConflictError)
          assert.deepStrictEqual(error.merge, merge)
          assert.deepInclude(error.conflicts[0]?.actual, { rev: 2, sha: now.sha })
        }
        const clean = yield* refused(notes.update("x", { c: 3 }, { base, onConflict: "fail" }))
        assert.instanceOf(clean, ConflictError)
        assert.deepStrictEqual(clean.merge?.conflicts, [])
        assert.strictEqual(Option.getOrThrow(yield* notes.version("x")).rev, 2)
        const asked: Array<DocumentMerge> = []
        const resolved = yield* notes.replace(
          "x",
          { a: 3, b: 1, c: 3 },
          {
            base,
            onConflict: (found) =>
              Effect.sync(() => {
                asked.push(found)
                return { ...found.document, a: 5 }
              })
          }
        )
        assert.deepStrictEqual(asked, [merge])
        assert.deepInclude(resolved, { _rev: 3, a: 5, b: 2, c: 3 })
        assert.instanceOf(
          yield* refused(notes.update("x", { a: 7 }, { base, onConflict: () => undefined })),
          ConflictError
        )
      })
    )
  )

  it.live("settle anew what somebody else changed while a resolver was asked", () =>
    on((store) =>
      Effect.gen(function* () {
        const notes = store.collection("notes")
        yield* notes.insert({ a: 1, b: 1 }, { id: "x" })
        yield* notes.update("x", { a: 2 })
        let asked = 0
        const written = yield* notes.update(
          "x",
          { a: 3 },
          {
            base: 1,
            onConflict: ({ document, theirs }) =>
              Effect.gen(function* () {
                asked++
                if (asked === 1) yield* Effect.orDie(notes.update("x", { a: 4, b: 4 }))
                return { ...document, a: [theirs!["a"]!, 3] }
              })
          }
        )
        assert.strictEqual(asked, 2)
        assert.deepInclude(written, { _rev: 4, a: [4, 3], b: 4 })
      })
    )
  )

  it.live("hold schema, annotations and unique values for the merged document", () =>
    on((store) =>
      Effect.gen(function* () {
        const all = store.collection(products)
        yield* all.insert(pen, { id: "x" })
        yield* all.insert({ ...pen, code: "z" }, { id: "other" })
        const base = Option.getOrThrow(yield* all.version("x"))
        yield* all.update("x", { stock: 4, tags: ["blue", "new"], name: "Pencil" })
        const merged = yield* all.replace("x", { ...pen, stock: 2, tags: [], price: 2 }, { base })
        assert.deepInclude(merged, { _rev: 3, name: "Pencil", price: 2, stock: 1, tags: ["new"] })
        const unique = yield* refused(all.update("x", { code: "z" }, { base }))
        assert.instanceOf(unique, ConflictError)
        assert.strictEqual(unique.reason, "UniqueViolation")
        assert.deepStrictEqual(
          (yield* all.findBy("code", "a")).map(({ _id, stock }) => [_id, stock] as const),
          [["x", 1]]
        )
        // Each side's price fits the schema, the merged one does not.
        const rules = { fields: { price: "counter" } } as const
        const dear = Option.getOrThrow(yield* all.version("x"))
        yield* all.update("x", { price: 80 })
        assert.instanceOf(
          yield* refused(all.update("x", { price: 81 }, { base: dear, rules })),
          ValidationError
        )
        assert.strictEqual(Option.getOrThrow(yield* all.get("x")).price, 80)
      })
    )
  )

  it.live("say that a base is gone, ambiguous, or deleted meanwhile", () =>
    on((store) =>
      Effect.gen(function* () {
        const notes = store.collection("notes")
        yield* notes.insert({ a: 1 }, { id: "y" })
        yield* notes.insert({ a: 1 }, { id: "x" })
        const base = Option.getOrThrow(yield* notes.version("x"))
        const other = Option.getOrThrow(yield* notes.version("y"))
        yield* notes.update("x", { b: 1 })
        const missing = "0123456789012345678901234567890123456789"
        for (const gone of [9, 0, missing, "no id", other, { sha: missing, commit: missing }]) {
          const error = yield* refused(notes.update("x", { a: 2 }, { base: gone }))
          assert.instanceOf(error, NotFoundError, JSON.stringify(gone))
          assert.match(error.message, /of notes\/x is not in/)
          assert.match(error.hint ?? "", /version\(id\)/)
        }
        assert.instanceOf(
          yield* refused(notes.update("x", { a: 2 }, { base, expectedRev: 1 })),
          ValidationError
        )
        assert.instanceOf(
          yield* refused(notes.update("x", { a: 2 }, { onConflict: "merge" })),
          ValidationError
        )
        assert.match(
          (yield* refused(notes.update("x", { a: 2 }, { base, rules: { fields: { a: "sets" as never } } })))
            .message,
          /did you mean set/
        )
        // Somebody wrote the file by hand, and left the revision alone.
        const remote = yield* GitRemote
        const head = yield* remote.head("main")
        const content = new TextEncoder().encode(`{"_rev": 2, "a": 1, "b": 5}\n`)
        yield* remote.commit("main", head, {
          message: "by hand",
          changes: [{ _tag: "Put", path: "data/notes/x.json", content }]
        })
        yield* notes.update("x", { c: 1 })
        assert.match(
          (yield* refused(notes.update("x", { a: 2 }, { base: 2 }))).message,
          /several versions with revision 2/
        )
        yield* notes.delete("x")
        const deleted = yield* refused(notes.update("x", { a: 2 }, { base }))
        assert.instanceOf(deleted, ConflictError)
        assert.deepStrictEqual(deleted.merge, {
          base: { a: 1 },
          ours: { a: 2 },
          document: { a: 2 },
          conflicts: [{ path: [], base: { a: 1 }, ours: { a: 2 } }]
        })
        assert.instanceOf(yield* refused(notes.update("x", { a: 2 }, { base: 7 })), NotFoundError)
        assert.instanceOf(yield* refused(notes.edit("x", (document) => document)), NotFoundError)
      })
    )
  )

  it.live("of edits keep every one, and apply the function again where both changed one field", () =>
    on((store) =>
      Effect.gen(function* () {
        const notes = store.collection("notes")
        yield* notes.insert({ n: 0 }, { id: "x" })
        const add = (by: number) =>
          notes.edit("x", (document) =>
            Effect.as(Effect.yieldNow(), { ...document, n: (document["n"] as number) + 1, [`f${by}`]: by })
          )
        yield* Effect.forEach([1, 2, 3, 4, 5, 6], add, { concurrency: "unbounded", discard: true })
        const { _created_at, _id, _updated_at, ...document } = Option.getOrThrow(yield* notes.get("x"))
        assert.deepStrictEqual(document as JsonObject, {
          _rev: 7,
          n: 6,
          f1: 1,
          f2: 2,
          f3: 3,
          f4: 4,
          f5: 5,
          f6: 6
        })
        const mine = yield* refused(notes.edit("x", () => Effect.fail("mine" as const)))
        assert.strictEqual(mine, "mine")
      })
    )
  )

  it.live("see what their transaction wrote", () =>
    on((store) =>
      Effect.gen(function* () {
        const base = yield* Effect.zipRight(
          store.collection("notes").insert({ a: 1, b: 1 }, { id: "x" }),
          store.collection("notes").version("x")
        )
        yield* store.transaction({}, (transaction) =>
          Effect.gen(function* () {
            const notes = transaction.collection("notes")
            yield* notes.update("x", { a: 2 })
            yield* notes.update("x", { b: 2 }, { base: Option.getOrThrow(base) })
            yield* notes.edit("x", (document) => ({ ...document, c: 3 }))
          })
        )
        assert.deepInclude(Option.getOrThrow(yield* store.collection("notes").get("x")), {
          _rev: 4,
          a: 2,
          b: 2,
          c: 3
        })
      })
    )
  )
})

type Clients = Effect.Effect<Effect.Effect<GitRemoteService, unknown, Scope.Scope>, unknown, Scope.Scope>
const clients: ReadonlyArray<readonly [string, Clients]> = [
  [
    "Memory",
    Effect.sync(() => {
      const repository = new MemoryRepository()
      return Memory.make({ repository })
    })
  ],
  [
    "LocalGit",
    Effect.map(directory, (path) => connect(LocalGit.layer({ directory: path, durability: "none" })))
  ],
  ...repositories,
  ...pushed
]

/** Rules of merging, as another program records them in a commit. */
const record = (remote: GitRemoteService) =>
  Effect.flatMap(remote.head("main"), (head) =>
    remote.commit("main", head, {
      message: "count n",
      changes: [
        {
          _tag: "Put",
          path: "data/_chainstore.json",
          content: new TextEncoder().encode('{"format": 1, "merge": {"notes": {"n": "counter"}}}')
        }
      ]
    })
  )

/** One document in the collections of two clients. */
const shared = (repository: Clients) =>
  Effect.gen(function* () {
    const client = yield* repository
    const open = Effect.flatMap(client, (remote) => Effect.provideService(Store.make(), GitRemote, remote))
    const [notes, elsewhere] = [(yield* open).collection("notes"), (yield* open).collection("notes")]
    yield* notes.insert({ n: 5 }, { id: "x" })
    return { open, notes, elsewhere, theirs: yield* client }
  })

/** Those that push read settings by the same ways. */
const unpushed = clients.slice(0, -pushed.length)

describe("rules that the repository has recorded", () => {
  it.scopedLive.each(unpushed)(
    "hold in the commit that is made, whatever was seen of settings before, on two clients of %s",
    ([, repository]) =>
      Effect.gen(function* () {
        const { elsewhere, notes, open, theirs } = yield* shared(repository)
        const first = Option.getOrThrow(yield* notes.version("x"))
        yield* record(theirs)
        yield* elsewhere.update("x", { n: 6 })
        // Both have added one to 5.
        assert.strictEqual((yield* notes.update("x", { n: 6 }, { base: first }))["n"], 7)
        const base = Option.getOrThrow(yield* notes.version("x"))
        yield* elsewhere.update("x", { n: 8 })
        // Settings from before there were rules are seen between two writes on one commit.
        const late = yield* open
        const counted = late.collection("notes")
        yield* refused(counted.update("missing", {}))
        yield* Stream.runDrain(late.compare(first.commit, first.commit))
        assert.strictEqual((yield* counted.update("x", { n: 8 }, { base }))["n"], 9)
      }),
    60_000
  )

  it.scopedLive.each(unpushed)(
    "hold where they are recorded while a conflict is decided, on two clients of %s",
    ([, repository]) =>
      Effect.gen(function* () {
        const { elsewhere, notes, theirs } = yield* shared(repository)
        const base = Option.getOrThrow(yield* notes.version("x"))
        yield* elsewhere.update("x", { n: 6 })
        const meanwhile = Effect.orDie(Effect.zipRight(record(theirs), elsewhere.update("x", { n: 8 })))
        const decided = yield* notes.update(
          "x",
          { n: 7 },
          { base, onConflict: () => Effect.as(meanwhile, { n: 8 }) }
        )
        // Each side has added two to 6.
        assert.strictEqual(decided["n"], 10)
      }),
    60_000
  )
})

describe("8 writers of one document's own fields", () => {
  it.scopedLive.each(clients)(
    "never see a conflict, and lose none, on three clients of %s",
    ([name, repository]) =>
      Effect.gen(function* () {
        const client = yield* repository
        const updates = pushed.some(([slow]) => slow === name) ? 16 : 32
        const open = Effect.flatMap(client, (remote) =>
          Effect.provideService(Store.make({ deadline: "2 minutes" }), GitRemote, remote)
        )
        yield* disjointWriters([yield* open, yield* open, yield* open], 8, updates)
      }),
    120_000
  )
})
