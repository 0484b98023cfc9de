import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { JsonObject } from "../../domain/json/Json.js"
import { type DerivedFields, derivedProblems } from "../history/DerivedCheck.js"
import { readSnapshot } from "../history/HistoryReader.js"
import { read } from "./StoreDocumentLaws.js"
import { type LawContext, law, promiseOf } from "./StoreLaw.js"

const store = promiseOf("store")

const settings = { indexes: { people: ["city", "tags"] }, manifests: { people: ["city"], tags: [] } }

/** Index and manifest files of every commit since the law began, against a rebuild. */
const problemsOf = ({ commits, remote, root }: LawContext, fields: DerivedFields = settings) =>
  Effect.gen(function* () {
    const contents = new Map()
    const found: Array<string> = []
    for (const info of yield* commits) {
      const snapshot = yield* readSnapshot(remote, info, root, contents)
      for (const collection of ["people", "tags"]) {
        for (const problem of derivedProblems(snapshot, collection, fields)) {
          found.push(`after "${info.message.trim().split("\n")[0]}": ${problem}`)
        }
      }
    }
    return found
  })

/** At every commit, index and manifest files equal a rebuild from the documents. */
export const derivedFiles = law(
  "derivedFiles",
  store(
    "index and manifest change in the commit of the document",
    "files-in-the-repository",
    "Index and manifest files change in the commit of the document."
  ),
  (given) =>
    Effect.gen(function* () {
      const { people, expectEqual, store } = given
      const tags = store.collection("tags")
      yield* people.insert({ city: "London", tags: ["x", "y", "x"] }, { id: "a" })
      yield* people.insert({ city: null, tags: [] }, { id: "b" })
      yield* people.insert({ city: 1.5, name: "C" }, { id: "c" })
      yield* people.upsert("d", { city: "London", tags: "x" })
      yield* tags.insert({ of: "nothing" }, { id: "t" })
      yield* people.update("b", { city: "Paris" })
      yield* people.replace("c", { name: "without a city", tags: [1, "1", { deep: true }] })
      yield* people.upsert("a", { tags: ["y"] })
      const second = Option.getOrThrow(
        (yield* store.batch({}, (batch) =>
          Effect.all([
            batch.put("people", "a", { city: ["London", "Rome"] }),
            batch.insert("people", { city: true }, { id: "f" }),
            batch.delete("people", "b"),
            batch.put("tags", "u", {})
          ])
        )).commitSha
      )
      yield* people.delete("d")
      yield* people.restore("d", second)
      yield* store.revert(second, { force: true })
      yield* store.writer({ maxOperations: 2 }, (writer) =>
        Effect.forEach(["g", "h", "i"], (id) => writer.put("people", id, { city: id, tags: [id, "x"] }))
      )
      yield* store.transaction({}, (transaction) =>
        Effect.zipRight(
          transaction.collection("people").update("g", { city: "London" }),
          transaction.collection("people").delete("h")
        )
      )
      yield* people.importRecords(
        [
          { _id: "j", city: "London" },
          { _id: "g", city: "Oslo" }
        ],
        { chunkSize: 1 }
      )
      yield* expectEqual("index and manifest files", yield* problemsOf(given), [])
      yield* expectEqual("collections", yield* store.collections, ["people", "tags"])
      const found = yield* people.findBy("city", "London")
      yield* expectEqual(
        "findBy",
        found.map(({ _id }) => _id),
        ["a", "d", "j"]
      )
      for (const id of yield* people.list()) yield* people.delete(id)
      yield* expectEqual("of an empty collection", yield* problemsOf(given), [])
    }),
  settings
)

/** Each file names what it is, when it was written, and which tree of the collection it describes. */
export const derivedForm = law(
  "derivedForm",
  store(
    "what lies in index and manifest files",
    "files-in-the-repository",
    "from a value's key to ids; `tree` names the version of the collection that it describes"
  ),
  ({ file, people, remote, root, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ city: "London", n: 1 }, { id: "a" })
      yield* people.insert({ city: ["Rome", "London"] }, { id: "b" })
      const last = yield* people.insert({ city: { b: 1, a: [1, "x"] } }, { id: "c" })
      const parsed = (path: string) => Effect.map(file(path), (text) => JSON.parse(text ?? "null") as any)
      const index = yield* parsed("_index/people/city.json")
      const head = Option.getOrThrow(yield* remote.head("main"))
      const tree = Option.getOrThrow(yield* remote.tree(head, `${root}/people`)).oid
      const key = '{"a": [1, "x"], "b": 1}'
      yield* expectEqual(
        "the index",
        { ...index, updated_at: null },
        {
          _index: "city",
          collection: "people",
          ids: { a: ["London"], b: ["Rome", "London"], c: [key] },
          tree,
          updated_at: null,
          values: { London: ["a", "b"], Rome: ["b"], [key]: [last] }
        }
      )
      const manifest = yield* parsed("_manifest/people.json")
      const time = (yield* read(people, "c"))?._updated_at
      yield* expectEqual("their time", [index.updated_at, manifest.updated_at], [time, time])
      yield* expectEqual(
        "the manifest",
        { ...manifest, updated_at: null },
        {
          collection: "people",
          count: 3,
          documents: {
            a: { city: "London" },
            b: { city: ["Rome", "London"] },
            c: { city: { a: [1, "x"], b: 1 } }
          },
          ids: ["a", "b", "c"],
          tree,
          updated_at: null
        }
      )
      yield* expectEqual(
        "settings",
        yield* parsed("_chainstore.json").pipe(Effect.map((it) => [it.format, it.indexes])),
        [1, { people: ["city", "tags"] }]
      )
      yield* store.collection("tags").insert({ city: "none" }, { id: "t" })
      const plain = yield* parsed("_manifest/tags.json")
      yield* expectEqual(
        "a manifest without fields",
        [plain.count, plain.ids, plain.documents],
        [1, ["t"], {}]
      )
    }),
  { ...settings, branch: "main" }
)

const foreign = (city: string, rev = 1): string =>
  JSON.stringify({
    _rev: rev,
    _created_at: "2020-01-01T00:00:00.000Z",
    _updated_at: "2020-01-01T00:00:00.000Z",
    city
  })

const byCity = { indexes: { people: ["city"] }, manifests: { people: ["city"] } }

/** Commits by others are noticed: queries scan until the next write or `reindex`, and `explain` says so. */
export const foreignCommits = law(
  "foreignCommits",
  store(
    "commits by others are noticed",
    "files-in-the-repository",
    "`findBy` scans until the next write or `reindex` updates the index, and `explain` says so."
  ),
  (given) =>
    Effect.gen(function* () {
      const { file, people, push, expectEqual, store } = given
      const found = Effect.map(people.findBy("city", "London"), (all) => all.map(({ _id }) => _id))
      const how = Effect.map(people.explain("city", "London"), ({ current, source }) => [source, current])
      yield* people.insert({ city: "London" }, { id: "a" })
      yield* expectEqual("before", [yield* found, yield* how], [["a"], ["index", true]])
      yield* push({ "people/b.json": foreign("London") })
      yield* expectEqual(
        "after a document",
        [yield* found, yield* how],
        [
          ["a", "b"],
          ["scan", false]
        ]
      )
      yield* people.insert({ city: "Rome" }, { id: "c" })
      yield* expectEqual(
        "after the next write",
        [yield* found, yield* how],
        [
          ["a", "b"],
          ["index", true]
        ]
      )
      yield* push({ "people/a.json": foreign("Paris", 2), "people/b.json": null })
      yield* expectEqual("after a removal", [yield* found, yield* how], [[], ["scan", false]])
      const read: Array<number> = []
      const onProgress = (progress: { documents: number; total: number }) =>
        Effect.sync(() => void read.push(progress.documents, progress.total))
      const report = yield* people.reindex({ onProgress })
      yield* expectEqual(
        "after reindex",
        [Option.isSome(report), yield* found, yield* how],
        [true, [], ["index", true]]
      )
      yield* expectEqual("its progress", read.slice(-2), [2, 2])
      yield* expectEqual("a second reindex", Option.isNone(yield* people.reindex()), true)
      yield* expectEqual(
        "index and manifest",
        (yield* problemsOf(given, byCity)).filter((it) => !it.startsWith('after "somebody else"')),
        []
      )
      const index = JSON.parse((yield* file("_index/people/city.json"))!) as JsonObject
      const { tree: _, ...without } = index
      yield* push({ "_index/people/city.json": JSON.stringify({ ...without, values: {}, ids: {} }) })
      const paris = Effect.map(people.findBy("city", "Paris"), (all) => all.length)
      yield* expectEqual("an index without tree", [yield* paris, yield* how], [1, ["scan", false]])
      const trusting = yield* given.open({ trustForeignIndexes: true })
      const trusted = yield* trusting.collection("people").findBy("city", "Paris")
      const explained = yield* trusting.collection("people").explain("city", "Paris")
      yield* expectEqual(
        "trustForeignIndexes",
        [trusted.length, explained.source, explained.current],
        [0, "index", false]
      )
      yield* push({ "_index/people/city.json": "no JSON" })
      yield* expectEqual("a broken index", yield* paris, 1)
      yield* store.batch({}, (batch) => batch.put("people", "d", {}))
      yield* expectEqual("mended by a write", [yield* paris, yield* how], [1, ["index", true]])
    }),
  { ...byCity, shardDepth: 0 }
)

/** The key of a number keeps its spelling, and is found by either. */
export const numberKeys = law(
  "numberKeys",
  store(
    "numbers are found by either spelling",
    "files-in-the-repository",
    '`10` and `10.0` are different keys, and `findBy("n", 10)`'
  ),
  ({ file, people, push, expectEqual }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 10 }, { id: "a" })
      yield* push({
        "people/b.json": '{"n": 10.0}',
        "people/c.json": '{"n": [1e1, 2]}',
        "people/d.json": '{"n": "10"}'
      })
      yield* people.reindex()
      const found = Effect.map(people.findBy("n", 10), (all) => all.map(({ _id }) => _id))
      yield* expectEqual("findBy", yield* found, ["a", "b", "c"])
      yield* expectEqual("explain", (yield* people.explain("n", 10)).source, "index")
      const index = JSON.parse((yield* file("_index/people/n.json"))!) as { values: JsonObject }
      yield* expectEqual(
        "keys",
        [index.values["10"], index.values["10.0"]],
        [
          ["a", "d"],
          ["b", "c"]
        ]
      )
      yield* people.insert({ n: 11 }, { id: "e" })
      const later = JSON.parse((yield* file("_index/people/n.json"))!) as { values: JsonObject }
      yield* expectEqual("keys after another write", later.values["10.0"], ["b", "c"])
    }),
  { indexes: { people: ["n"] }, shardDepth: 0 }
)
