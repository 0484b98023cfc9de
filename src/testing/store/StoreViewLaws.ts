import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as GitObject from "../../git/GitObject.js"
import { AsyncCache, Cache, type CacheEntry, StoreCache } from "../../store/Cache.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { law, promiseOf } from "./StoreLaw.js"
import { idsOf, reads } from "./StoreReadLaws.js"

const store = promiseOf("store")

/** Another client's writes are seen by every read, whatever was read and cached before. */
export const freshReads = law(
  "freshReads",
  store("a read sees the head", "reading", reads),
  ({ open, people, push, expectEqual, store }) =>
    Effect.gen(function* () {
      const others = (yield* open()).collection("people")
      yield* people.insert({ n: 1 }, { id: "a" })
      for (const n of [2, 3]) {
        yield* others.update("a", { n })
        yield* others.upsert(`b${n}`, { n })
        yield* expectEqual("get", shape(yield* read(people, "a")), wanted(n, { n }))
        yield* expectEqual(
          "fresh",
          shape(Option.getOrNull(yield* people.get("a", { fresh: true }))),
          wanted(n, { n })
        )
        yield* expectEqual("list", yield* people.list(), n === 2 ? ["a", "b2"] : ["a", "b2", "b3"])
        yield* expectEqual("count", yield* people.count, n)
        yield* expectEqual("findBy", idsOf(yield* people.findBy("n", n)), ["a", `b${n}`])
        yield* expectEqual("exists", [yield* people.exists("a"), yield* people.exists("c")], [true, false])
      }
      yield* push({ "people/a.json": null })
      yield* expectEqual(
        "after a removal",
        [yield* read(people, "a"), yield* people.list()],
        [null, ["b2", "b3"]]
      )
      yield* store.invalidate()
      yield* expectEqual("after invalidate", yield* people.list(), ["b2", "b3"])
    }),
  { shardDepth: 0 }
)

/** A cache of one's own that lies about nothing, and counts. */
class Counting extends Cache {
  readonly entries = new Map<string, CacheEntry>()
  readonly given: Array<CacheEntry> = []
  sets = 0
  override get(key: string) {
    return Effect.sync(() => Option.fromNullable(this.entries.get(key)))
  }
  override set(key: string, entry: CacheEntry) {
    return Effect.sync(() => {
      this.sets++
      this.given.push(entry)
      this.entries.set(key, entry)
    })
  }
  override delete(key: string) {
    return Effect.sync(() => void this.entries.delete(key))
  }
  override readonly clear = Effect.sync(() => this.entries.clear())
}

/** Answers are the same with a cache, without one, with one of one's own, and with one that forgets or is behind. */
export const caches = law(
  "caches",
  store("a cache changes no answer", "options", "An entry contains `content`, the blob id `oid`"),
  ({ head, open, people, remote, root, expectEqual }) =>
    Effect.gen(function* () {
      const cache = new Counting()
      const stores = [yield* open({ cache: false }), yield* open({ cache }), yield* open({ cache: true })]
      yield* people.insert({ n: 0 }, { id: "a" })
      let rev = 1
      const seen = (what: string, n: number) =>
        Effect.forEach(stores, (one) =>
          Effect.flatMap(read(one.collection("people"), "a"), (found) =>
            expectEqual(what, shape(found), wanted(rev, { n }))
          )
        )
      for (const n of [1, 2, 3]) {
        const before = new Map(cache.entries)
        const behind = Effect.sync(() => {
          cache.entries.clear()
          for (const [key, entry] of before) cache.entries.set(key, entry)
        })
        yield* people.replace("a", { n })
        rev++
        yield* seen("get", n)
        yield* behind
        yield* seen("get, with a cache that is behind", n)
        yield* behind
        const written = yield* stores[1]!.collection("people").update("a", { n }, { expectedRev: rev })
        yield* expectEqual("a write, with a cache that is behind", written._rev, ++rev)
      }
      yield* expectEqual("a cache of one's own is used", cache.sets > 0, true)
      for (const { content, oid } of cache.given) {
        yield* expectEqual("the bytes that a cache was given", GitObject.hash("blob", content), oid)
      }
      const listed = yield* remote.tree((yield* head) as never, `${root}/people`, { recursive: true })
      const file = Option.getOrThrow(listed).entries.find(({ path }) => path.endsWith("a.json"))?.path
      const kept = () =>
        [...cache.entries.keys()].filter((key) => key.includes(`${root}/people/${file}`)).length
      yield* read(stores[1]!.collection("people"), "a")
      cache.entries.set("of another store", cache.given[0]!)
      yield* stores[1]!.invalidate(`${root}/people/${file}`)
      yield* expectEqual(
        "entries of a path, and of another one, after invalidate of the path",
        [kept(), cache.entries.has("of another store")],
        [0, true]
      )
      yield* stores[1]!.invalidate()
      yield* expectEqual("entries after invalidate", cache.entries.size, 0)
      const provided = new Counting()
      const own = yield* Effect.provideService(open({ cache }), StoreCache, provided)
      const before = cache.sets
      yield* read(own.collection("people"), "a")
      yield* expectEqual(
        "the cache of the option is used, and not the provided one",
        [cache.sets > before, provided.sets],
        [true, 0]
      )
      yield* people.delete("a")
      for (const one of stores)
        yield* expectEqual("deleted", yield* read(one.collection("people"), "a"), null)
    })
)

/** A cache whose methods fail in turn: each throws, or dies, on every second call. */
class Failing extends AsyncCache {
  readonly entries = new Map<string, CacheEntry>()
  calls = 0
  private fail() {
    if (this.calls++ % 2 === 0) throw new Error("the cache is not there")
  }
  get(key: string) {
    this.fail()
    return this.entries.get(key)
  }
  async set(key: string, entry: CacheEntry) {
    this.fail()
    this.entries.set(key, entry)
  }
  async delete(key: string) {
    this.fail()
    this.entries.delete(key)
  }
  clear() {
    this.fail()
    this.entries.clear()
  }
}

/** Answers are the same with a cache that fails. */
export const failingCaches = law(
  "failingCaches",
  store(
    "a cache that fails changes no result",
    "options",
    "A cache whose methods throw or reject costs requests, but does not change results"
  ),
  ({ open, people, expectEqual }) =>
    Effect.gen(function* () {
      const cache = new Failing()
      const one = yield* open({ cache })
      const cached = one.collection("people")
      yield* people.insert({ n: 0 }, { id: "a" })
      for (const n of [1, 2, 3, 4]) {
        yield* expectEqual("get", shape(yield* read(cached, "a")), wanted(2 * n - 1, { n: n - 1 }))
        yield* (n % 2 === 0 ? people : cached).replace("a", { n: 0 })
        const updated = yield* cached.update("a", { n }, { expectedRev: 2 * n })
        yield* expectEqual("update", updated._rev, 2 * n + 1)
        yield* expectEqual("get again", shape(yield* read(cached, "a")), wanted(2 * n + 1, { n }))
        yield* one.invalidate()
      }
      yield* expectEqual("a cache of one's own is used", cache.calls > 0, true)
      yield* cached.delete("a")
      yield* expectEqual("deleted", yield* read(cached, "a"), null)
    })
)

/** `version` gives what tells one version from another. */
export const versions = law(
  "versions",
  store(
    "version gives a document with its revision, blob id and commit",
    "reading",
    "`version(id)` returns a document with its revision, its blob id (`sha`, for `expect`) and the commit that was read."
  ),
  ({ head, people, expectFailure, remote, root, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1 }, { id: "a" })
      yield* people.update("a", { n: 2 })
      const version = Option.getOrThrow(yield* people.version("a"))
      const listed = Option.getOrThrow(
        yield* remote.tree(version.commit as never, `${root}/people`, { recursive: true })
      )
      const oid = listed.entries.find(({ path }) => path.endsWith("a.json"))?.oid
      yield* expectEqual("version", [version.rev, version.sha, version.commit], [2, oid, yield* head])
      yield* expectEqual("its document", shape(version.document), wanted(2, { n: 2 }))
      yield* expectEqual("of a missing document", Option.isNone(yield* people.version("b")), true)
      const guarded = (sha: string) =>
        store.batch({}, (batch) =>
          Effect.zipRight(batch.expect("people", "a", { sha }), batch.put("people", "a", { n: 3 }))
        )
      yield* guarded(version.sha)
      yield* expectFailure("an expectation of an old version", guarded(version.sha), "ConflictError")
    })
)

const views =
  "`snapshot` and `at(ref)` are views of one commit: they have no write methods, and a cache of their own."

/** A view sees its commit alone, has no write methods, and a ref is what Git takes for one. */
export const viewing = law(
  "viewing",
  store("views see one commit", "reading", views),
  ({ branch, head, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1 }, { id: "a" })
      const first = yield* head
      const before = yield* store.snapshot
      yield* people.update("a", { n: 2 })
      yield* people.insert({ n: 2 }, { id: "b" })
      const second = yield* head
      const view = before.collection("people")
      yield* expectEqual(
        "get",
        shape(yield* Effect.map(view.get("a"), Option.getOrNull)),
        wanted(1, { n: 1 })
      )
      yield* expectEqual("list and count", [yield* view.list(), yield* view.count], [["a"], 1])
      yield* expectEqual(
        "findBy",
        [yield* view.findBy("n", 2), idsOf(yield* view.findBy("n", 1))],
        [[], ["a"]]
      )
      yield* expectEqual("exists", yield* view.exists("b"), false)
      yield* expectEqual("its commit", Option.getOrNull(yield* before.commitSha), first)
      yield* expectEqual("the store's commit", Option.getOrNull(yield* store.commitSha), second)
      for (const method of [
        "insert",
        "update",
        "replace",
        "upsert",
        "delete",
        "restore",
        "importRecords",
        "reindex"
      ]) {
        yield* expectEqual(`a view's ${method}`, method in view, false)
      }
      for (const method of ["batch", "writer", "transaction", "revert"]) {
        yield* expectEqual(`a view's ${method}`, method in before, false)
      }
      const refs: Record<string, string | undefined> = {
        [first!]: first,
        [first!.slice(0, 12)]: first,
        [branch]: second,
        [`${branch}~1`]: (yield* people.history("a"))[0]?.sha,
        [`${second}~2`]: first,
        [`${second}^^`]: first
      }
      for (const [ref, commit] of Object.entries(refs)) {
        yield* expectEqual(`resolveRef(${ref})`, Option.getOrNull(yield* store.resolveRef(ref)), commit)
        yield* expectEqual(`at(${ref})`, Option.getOrNull(yield* (yield* store.at(ref)).commitSha), commit)
      }
      const past = (yield* store.at(first!)).collection("people")
      yield* expectEqual("at a commit", yield* past.list(), ["a"])
      yield* expectFailure("at a missing ref", store.at("no-such-ref"), "NotFoundError")
      yield* expectEqual(
        "resolveRef of a missing ref",
        Option.isNone(yield* store.resolveRef("no-such-ref")),
        true
      )
    })
)

const Numbered = Schema.Struct({ n: Schema.Number })

/** A store for reading refuses every write; one of a ref reads that commit. */
export const readOnly = law(
  "readOnly",
  store(
    "a store for reading refuses writes",
    "options",
    "writes fail with `AuthError`; `ref` reads one commit or tag"
  ),
  ({ branch, head, open, people, root, expectFailure, expectEqual, store: writing }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1 }, { id: "a" })
      const first = yield* head
      yield* people.update("a", { n: 2 })
      const second = yield* head
      const name = `draft-${root.replaceAll("/", "-")}`
      yield* writing.createBranch(name)
      const { proposal } = yield* writing.propose({ title: "n", into: branch }, (draft) =>
        draft.collection("people").update("a", { n: 3 })
      )
      for (const [what, options, n] of [
        ["readOnly", { readOnly: true }, 2],
        ["ref", { ref: first! }, 1]
      ] as const) {
        const store = yield* open(options)
        const reading = store.collection("people")
        const it = store.proposal(proposal.id)
        yield* expectEqual(`${what}: get`, shape(yield* read(reading, "a")), wanted(n, { n }))
        const writes: Record<string, Effect.Effect<unknown, unknown>> = {
          insert: reading.insert({}),
          update: reading.update("a", {}),
          replace: reading.replace("a", {}),
          upsert: reading.upsert("a", {}),
          delete: reading.delete("a"),
          restore: reading.restore("a", first!),
          reindex: reading.reindex(),
          batch: store.batch({}, (batch) => batch.put("people", "b", {})),
          writer: store.writer({}, (writer) => writer.put("people", "b", {})),
          transaction: store.transaction({}, () => Effect.void),
          revert: store.revert(second!),
          importRecords: reading.importRecords([{ n: 1 }]),
          edit: reading.edit("a", (document) => document),
          createIndex: reading.createIndex("n"),
          dropIndex: reading.dropIndex("n"),
          writeJsonSchema: store.collection("people", Numbered).writeJsonSchema(),
          createBranch: store.createBranch(`${name}-other`),
          deleteBranch: store.deleteBranch(name),
          merge: store.merge(name),
          propose: store.propose({ title: "n" }, (draft) => draft.collection("people").insert({})),
          "proposal.update": it.update((draft) => draft.collection("people").insert({})),
          "proposal.rebase": it.rebase(),
          "proposal.accept": it.accept(),
          "proposal.close": it.close(),
          "store.reindex": store.reindex(),
          removeTransaction: store.removeTransaction("chainstore-tx-01ARZ3NDEKTSV4RRFFQ69G5FAV")
        }
        for (const [method, effect] of Object.entries(writes))
          yield* expectFailure(`${what}: ${method}`, effect, "AuthError")
      }
      yield* expectEqual("nothing was written", yield* head, second)
      const names = (yield* writing.branches).map((one) => one.name)
      const own = [name, `${name}-other`].map((one) => names.includes(one))
      yield* expectEqual("the branches", own, [true, false])
      yield* expectEqual("the proposal", yield* writing.proposal(proposal.id).get(), proposal)
      for (const one of [name, proposal.branch]) yield* writing.deleteBranch(one)
    }),
  { indexes: undefined, manifests: undefined }
)
