import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { IndexOptions } from "../../domain/indexes/IndexDefinition.js"
import type { JsonObject } from "../../domain/json/Json.js"
import type { StoreOptions } from "../../store/StoreOptions.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { type LawContext, law, promiseOf } from "./StoreLaw.js"

const store = promiseOf("store")
const indexes = promiseOf("indexes")

/** The JSON Schema of a collection is a file of the repository, written in one commit and read by every client. */
export const jsonSchemas = law(
  "jsonSchemas",
  store(
    "schemas lie in the repository",
    "schemas-in-the-repository",
    "`writeJsonSchema` stores the JSON Schema of an Effect schema's encoded side, or a given JSON Schema, in one commit. If the same schema is stored already, it writes nothing and returns none."
  ),
  ({ commits, file, head, open, people, push, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const typed = store.collection(
        "people",
        Schema.Struct({ name: Schema.NonEmptyString, born: Schema.optional(Schema.Date) })
      )
      yield* expectEqual("nothing at first", Option.isNone(yield* people.jsonSchema), true)
      const first = yield* typed.writeJsonSchema()
      yield* expectEqual("one commit", first, Option.fromNullable((yield* commits)[0]?.commit))
      const found = Option.getOrThrow(yield* people.jsonSchema)
      yield* expectEqual("the fields", Object.keys(found["properties"] as object), ["name", "born"])
      yield* expectEqual("what is required", found["required"], ["name"])
      yield* expectEqual("the file", JSON.parse((yield* file("_schemas/people.json"))!), found)
      yield* expectEqual("no collection", (yield* store.collections).includes("_schemas"), false)
      const before = (yield* commits).length
      yield* expectEqual("the same once more", Option.isNone(yield* typed.writeJsonSchema()), true)
      yield* expectEqual(
        "the same, given",
        Option.isNone(yield* people.writeJsonSchema({ schema: found })),
        true
      )
      yield* expectEqual("no commit", (yield* commits).length, before)
      const given = { type: "object", properties: { b: { type: "integer" }, a: {} } }
      const second = Option.getOrThrow(yield* people.writeJsonSchema({ schema: given, message: "given" }))
      yield* expectEqual("its message", (yield* commits)[0]?.message.trim().split("\n")[0], "given")
      const other = (yield* open()).collection("people")
      yield* expectEqual("another client", Option.getOrThrow(yield* other.jsonSchema), given)
      yield* expectEqual(
        "its order",
        JSON.stringify(Option.getOrThrow(yield* other.jsonSchema)),
        JSON.stringify(given)
      )
      const past = (yield* store.at(Option.getOrThrow(first))).collection("people")
      yield* expectEqual("as it was", Option.getOrThrow(yield* past.jsonSchema), found)
      yield* expectEqual(
        "as it is",
        yield* store.snapshot.pipe(Effect.flatMap((it) => it.commitSha)),
        Option.some(second)
      )
      yield* expectFailure("no schema at hand", people.writeJsonSchema(), "ValidationError")
      yield* expectFailure(
        "what is not a schema",
        people.writeJsonSchema({ schema: { type: "text" } }),
        "ValidationError"
      )
      const own = yield* head
      const unwritable = store.collection(
        "people",
        Schema.Struct({ n: Schema.BigIntFromSelf }) as unknown as Schema.Schema<JsonObject>
      )
      yield* expectFailure("a schema without a JSON Schema", unwritable.writeJsonSchema(), "ValidationError")
      yield* expectFailure(
        "a schema of more than 256 KiB",
        people.writeJsonSchema({ schema: { description: "x".repeat(256 * 1024) } }),
        "ValidationError"
      )
      yield* expectFailure(
        "a schema in a transaction",
        store.transaction({}, (transaction) =>
          Effect.asVoid(transaction.collection("people").writeJsonSchema({ schema: {} }))
        ),
        "ValidationError"
      )
      yield* expectEqual("nothing was written", yield* head, own)
      yield* people.insert({ b: "not an integer" }, { id: "free" })
      yield* expectEqual("a stored schema refuses no write", yield* people.exists("free"), true)
      yield* push({ "_schemas/people.json": "[]" })
      yield* expectFailure("a file that is not one", people.jsonSchema, "ValidationError")
      yield* people.writeJsonSchema({ schema: given })
      yield* expectEqual("mended", Option.getOrThrow(yield* people.jsonSchema), given)
    })
)

/** An index is created and dropped with its files in one commit, and every client keeps to the new settings. */
export const indexChanges = law(
  "indexChanges",
  indexes(
    "indexes are created and dropped",
    "changes-of-indexes",
    "One commit changes the settings and writes or removes the files of the index."
  ),
  ({ branch, commits, head, open, remote, root, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      const one = yield* open({ indexes: undefined })
      const people = one.collection("people")
      const other = (yield* open({ indexes: undefined })).collection("people")
      const named = Effect.map(one.indexes, (all) =>
        all.map(({ collection, current, name, rows }) => [collection, name, rows, current])
      )
      const found = Effect.all([
        Effect.map(people.explain("city", "London"), ({ source }) => source),
        Effect.map(people.findBy("city", "London"), (all) => all.map(({ _id }) => _id)),
        named
      ])
      for (const [id, city] of [
        ["a", "London"],
        ["b", "Oslo"],
        ["c", "London"]
      ] as const)
        yield* people.insert({ city }, { id })
      yield* expectEqual("without an index", yield* found, ["scan", ["a", "c"], []])
      yield* expectEqual("another client", yield* other.count, 3)
      const before = (yield* commits).length
      const read: Array<number> = []
      const created = yield* people.createIndex("city", {
        message: "by city",
        onProgress: ({ documents, total }) => Effect.sync(() => void read.push(documents, total))
      })
      yield* expectEqual("its commit", Option.getOrNull(created), yield* head)
      yield* expectEqual(
        "one commit with its message",
        [(yield* commits).length - before, (yield* commits)[0]?.message.trim().split("\n")[0]],
        [1, "by city"]
      )
      yield* expectEqual("its progress", read.slice(-2), [3, 3])
      yield* expectEqual("with an index", yield* found, ["index", ["a", "c"], [["people", "city", 3, true]]])
      yield* expectEqual("the same once more", Option.isNone(yield* people.createIndex("city")), true)
      yield* other.insert({ city: "London" }, { id: "d" })
      yield* other.update("a", { city: "Rome" })
      yield* expectEqual("after writes of a client that was open", yield* found, [
        "index",
        ["c", "d"],
        [["people", "city", 4, true]]
      ])
      yield* people.update("c", { mail: "same" })
      yield* people.update("d", { mail: "same" })
      const last = yield* head
      yield* expectFailure(
        "another definition of the name",
        people.createIndex({ name: "city", fields: ["town"] }),
        "ValidationError"
      )
      yield* expectFailure(
        "a unique index over documents that violate it",
        people.createIndex({ fields: ["mail"], unique: true }),
        "ConflictError"
      )
      yield* expectFailure("an index that is not one", people.createIndex({ fields: [] }), "ValidationError")
      yield* expectFailure("a drop of no index", people.dropIndex("mail"), "NotFoundError")
      const optioned = (yield* open({ indexes: { people: ["city"] } })).collection("people")
      yield* expectFailure("a store with its own indexes", optioned.createIndex("mail"), "ValidationError")
      yield* expectFailure(
        "inside a transaction",
        one.transaction({}, (tx) => Effect.asVoid(tx.collection("people").createIndex("mail"))),
        "ValidationError"
      )
      yield* expectEqual("nothing was written", yield* head, last)
      yield* people.update("d", { mail: "own" })
      yield* people.createIndex({ fields: ["mail"], unique: true })
      yield* expectFailure("a value that is taken", other.update("a", { mail: "own" }), "ConflictError")
      yield* people.dropIndex("mail")
      yield* other.update("a", { mail: "own" })
      const dropped = yield* people.dropIndex("city")
      yield* expectEqual("the commit of a drop", dropped, yield* head)
      yield* expectEqual("after the drop", yield* found, ["scan", ["c", "d"], []])
      const files = yield* remote.tree(Option.getOrThrow(yield* remote.head(branch)), root)
      yield* expectEqual(
        "files of indexes",
        Option.getOrThrow(files).entries.filter(({ path }) => path === "_index"),
        []
      )
      const wrong = (yield* one.doctorWith({ deep: true })).filter(({ severity }) => severity === "error")
      yield* expectEqual("findings of the doctor", wrong, [])
    })
)

/** The paths of the files below a directory of the law's root, at the head. */
const filesBelow = ({ branch, remote, root }: Pick<LawContext, "branch" | "remote" | "root">, name: string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head(branch))
    const tree = yield* remote.tree(head, `${root}/${name}`, { recursive: true })
    return Option.match(tree, { onNone: () => [], onSome: ({ entries }) => entries.map(({ path }) => path) })
  })

/** Index and manifest files change their format in one commit, and every client writes the new one. */
export const formats = law(
  "formats",
  indexes(
    "the format is a setting that every client adopts",
    "trees-of-small-files",
    "The format is one of the settings in `_chainstore.json`, so every client adopts it, including clients that are already open."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, commits, file, open, remote, root, expectEqual, store } = given
      const adopting = { format: undefined, indexes: undefined, manifests: undefined }
      const other = yield* open(adopting)
      const people = (yield* open(adopting)).collection("people")
      yield* store.batch({}, (batch) =>
        Effect.forEach(["a", "b", "c"], (id, n) =>
          batch.put("people", id, { city: n < 2 ? "Rome" : "Oslo", n })
        )
      )
      const found = Effect.gen(function* () {
        const { current, source } = yield* other.collection("people").explain("city", "Rome")
        const all = yield* other.collection("people").findBy("city", "Rome")
        return [source, current, all.map(({ _id }) => _id)]
      })
      yield* people.update("a", { n: 0 })
      yield* expectEqual("before", yield* found, ["index", true, ["a", "b"]])
      const plain = yield* filesBelow(given, "")
      const before = (yield* commits).length
      const changed = yield* other.reindex({ format: 2 })
      yield* expectEqual(
        "its commit",
        [(yield* commits).length - before, Option.getOrNull(changed)],
        [1, (yield* commits)[0]?.commit]
      )
      yield* expectEqual("by trees", yield* found, ["index", true, ["a", "b"]])
      yield* people.insert({ city: "Rome", n: 3 }, { id: "d" })
      yield* expectEqual("after a write of the client that was open", yield* found, [
        "index",
        true,
        ["a", "b", "d"]
      ])
      for (const [name, rows] of [
        [
          "_index/people/city",
          [{ _id: "c", city: "Oslo" }, ...["a", "b", "d"].map((_id) => ({ _id, city: "Rome" }))]
        ],
        ["_manifest/people", ["a", "b", "c", "d"].map((_id, n) => ({ _id, n }))]
      ] as const) {
        yield* expectEqual(`the files of ${name}`, yield* filesBelow(given, name), [
          "_header.json",
          "rows/0.json"
        ])
        const header = JSON.parse((yield* file(`${name}/_header.json`))!) as JsonObject
        const head = Option.getOrThrow(yield* remote.head(branch))
        const oid = (path: string) =>
          Effect.map(remote.tree(head, `${root}/${path}`), (tree) => Option.getOrThrow(tree).oid)
        yield* expectEqual(`the header of ${name}`, header, {
          count: 4,
          format: 2,
          rows: yield* oid(`${name}/rows`),
          tree: yield* oid("people")
        })
        const lines = rows.map(
          (row) =>
            `{${Object.entries(row)
              .map(([key, value]) => `"${key}": ${JSON.stringify(value)}`)
              .join(", ")}}`
        )
        yield* expectEqual(
          `the rows of ${name}`,
          yield* file(`${name}/rows/0.json`),
          `[\n${lines.join(",\n")}\n]\n`
        )
      }
      yield* expectEqual(
        "the same format once more",
        Option.isNone(yield* other.reindex({ format: 2 })),
        true
      )
      const wrong = (yield* other.doctorWith({ deep: true })).filter(({ severity }) => severity === "error")
      yield* expectEqual("findings of the doctor", wrong, [])
      yield* people.delete("d")
      yield* other.reindex({ format: 1 })
      yield* expectEqual("changed back", yield* found, ["index", true, ["a", "b"]])
      yield* expectEqual("the files", yield* filesBelow(given, ""), plain)
    }),
  { format: 1, indexes: { people: ["city"] }, manifests: { people: ["n"] }, shardDepth: 0 }
)

/** The first commit that needs them records the settings; every store of the repository keeps to them. */
export const recordedSettings = law(
  "recordedSettings",
  store(
    "settings belong to the repository",
    "options",
    "Sharding, indexes and manifests belong to the repository: a store without these options adopts the recorded ones, and options that differ are a `ValidationError`."
  ),
  ({ file, open, people, expectFailure, remote, root, expectEqual }) =>
    Effect.gen(function* () {
      yield* expectEqual("nothing before the first write", yield* file("_chainstore.json"), null)
      yield* people.insert({ city: "London" }, { id: "abcdef" })
      const recorded = yield* file("_chainstore.json")
      yield* expectEqual("recorded with the first write", recorded?.includes("shardDepth"), true)
      const path = (name: string) => `people/${name.slice(0, 1)}/${name.slice(1, 2)}/${name}.json`
      yield* expectEqual("its place", (yield* file(path("abcdef"))) === null, false)
      const adopting = yield* open({ shardDepth: undefined, shardWidth: undefined, indexes: undefined })
      yield* adopting.collection("people").insert({ city: "London" }, { id: "xyz" })
      yield* expectEqual("the place of a store without options", (yield* file(path("xyz"))) === null, false)
      const index = JSON.parse((yield* file("_index/people/city.json"))!) as { values: JsonObject }
      yield* expectEqual("its index", index.values["London"], ["abcdef", "xyz"])
      yield* expectEqual(
        "both read both",
        [yield* people.list(), yield* adopting.collection("people").list()],
        [
          ["abcdef", "xyz"],
          ["abcdef", "xyz"]
        ]
      )
      for (const [name, options] of Object.entries(differingOptions)) {
        const differing = (yield* open(options)).collection("people")
        yield* expectFailure(`a write with another ${name}`, differing.insert({}), "ValidationError")
        yield* expectFailure(`a read with another ${name}`, differing.list(), "ValidationError")
      }
      yield* expectEqual("the settings", yield* file("_chainstore.json"), recorded)
      const hashed = yield* open({
        root: `${root}/hashed`,
        shardBy: "hash",
        shardDepth: 1,
        shardWidth: 2,
        indexes: undefined
      })
      yield* hashed.collection("people").insert({}, { id: "ada" })
      // sha256("ada") begins with fd.
      const files = yield* remote.tree(Option.getOrThrow(yield* remote.head("main")), `${root}/hashed`, {
        recursive: true
      })
      const places = Option.getOrThrow(files).entries.filter(({ path }) => path.endsWith("ada.json"))
      yield* expectEqual(
        "the place by hash",
        places.map((entry) => entry.path),
        [`people/${adaHash}/ada.json`]
      )
      const plain = yield* open({
        root: `${root}/plain`,
        shardDepth: undefined,
        shardWidth: undefined,
        indexes: undefined,
        merge: undefined
      })
      yield* plain.collection("people").insert({ n: 1 }, { id: "a" })
      yield* expectEqual(
        "the plain layout",
        [(yield* file("plain/people/a.json")) === null, yield* file("plain/_chainstore.json")],
        [false, null]
      )
    }),
  {
    shardBy: "leading",
    shardDepth: 2,
    shardWidth: 1,
    indexes: { people: ["city"] },
    merge: { people: { tags: "set" } },
    branch: "main"
  }
)

/** Options of which each differs from those that `recordedSettings` records. */
const differingOptions: Readonly<Record<string, StoreOptions>> = {
  shardBy: { shardBy: "hash" },
  shardDepth: { shardDepth: 1 },
  shardWidth: { shardWidth: 2 },
  index: { indexes: { people: ["name"] } },
  manifest: { manifests: { people: ["name"] } },
  merge: { merge: { people: { tags: "sequence" } } }
}

/** The first two digits of the SHA-256 of `ada`. */
const adaHash = "fd"

/** Two roots and two branches of one repository know nothing of each other; a missing branch is an error. */
export const roots = law(
  "roots",
  store(
    "branch and root say where the collections are",
    "options",
    'where the collections are; `""` is the repository\'s own root'
  ),
  ({ branch, file, head, open, people, expectFailure, remote, root, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1 }, { id: "a" })
      const deeper = yield* open({ root: `/${root}/deeper/` })
      yield* deeper.collection("people").insert({ n: 2 }, { id: "a" })
      yield* expectEqual("the file of the other root", (yield* file("deeper/people/a.json")) === null, false)
      yield* expectEqual(
        "each its own",
        [shape(yield* read(people, "a")), shape(yield* read(deeper.collection("people"), "a"))],
        [wanted(1, { n: 1 }), wanted(1, { n: 2 })]
      )
      const name = `other-${root.replaceAll("/", "-")}`
      const missing = store.onBranch(name)
      yield* expectFailure("a read on a missing branch", missing.collection("people").list(), "NotFoundError")
      yield* expectFailure(
        "a write on a missing branch",
        missing.collection("people").insert({}),
        "NotFoundError"
      )
      yield* remote.createBranch(name, (yield* head) as never)
      const other = store.onBranch(name).collection("people")
      yield* other.update("a", { n: 3 })
      yield* expectEqual(
        "each branch its own",
        [(yield* read(people, "a"))?.["n"], (yield* read(other, "a"))?.["n"]],
        [1, 3]
      )
      const opened = yield* open({ branch: name })
      yield* expectEqual(
        "the option",
        [(yield* read(opened.collection("people"), "a"))?.["n"], opened.branch],
        [3, name]
      )
      const whole = yield* open({ branch: name, root: "" })
      yield* whole.collection("of-the-root").insert({ n: 4 }, { id: "a" })
      const at = yield* remote.snapshot(name).file("of-the-root/a.json")
      yield* expectEqual(
        "the repository's own root",
        [Option.isSome(at), (yield* whole.collections).includes("of-the-root")],
        [true, true]
      )
      yield* expectEqual(
        "the first branch's head is its own",
        Option.getOrNull(yield* store.commitSha),
        yield* head
      )
      yield* expectEqual("the branch's name", store.branch, branch)
      yield* remote.deleteBranch(name)
    }),
  { shardDepth: 0 }
)

/** Wrong options are refused when the store is opened, and the nearest known name is told. */
export const options = law(
  "options",
  store(
    "wrong options are refused",
    "options",
    "An unknown option is a `ValidationError` too, which names the nearest known option"
  ),
  ({ open, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      const wrong: Record<string, object> = {
        "readonly for readOnly": { readonly: true },
        "a number for a duration": { deadline: 30 },
        "a text for a number": { conflictRetries: "2" },
        "a negative number": { batchRetries: -1 },
        "a text for a flag": { readOnly: "yes" },
        "a branch that is none": { branch: "a..b" },
        "a root that leaves": { root: "../x" },
        "an index that is none": { indexes: { people: "city" } },
        "no concurrency": { concurrency: 0 },
        "a fraction of retries": { conflictRetries: 1.5 },
        "a duration without a unit": { deadline: "30" },
        "a way to shard that is none": { shardBy: "tail" },
        "a negative depth": { shardDepth: -1 },
        "no width": { shardWidth: 0 },
        "a third format": { format: 3 },
        "a text for a cache": { cache: "yes" },
        "a manifest that is none": { manifests: { people: "name" } },
        "a rule that is none": { merge: { people: { tags: "sum" } } },
        "two indexes with one name": {
          format: 2,
          indexes: { people: ["a", { fields: ["b"], name: "a" }] }
        },
        "an author without email": { author: { name: "Ada" } }
      }
      for (const [what, given] of Object.entries(wrong))
        yield* expectFailure(what, open(given), "ValidationError")
      const error = yield* expectFailure("readonly", open({ readonly: true } as never), "ValidationError")
      yield* expectEqual(
        "the nearest option",
        String(error.message + (error.hint ?? "")).includes("readOnly"),
        true
      )
      yield* open({ deadline: "5 seconds", concurrency: 4 })
      const ofFormatTwo: ReadonlyArray<IndexOptions> = [
        { fields: ["a", "b"] },
        { fields: ["a"], where: { b: 1 } },
        { fields: [{ field: "a", order: "desc" }] },
        { fields: ["a.b"], unique: true }
      ]
      for (const index of ofFormatTwo) {
        const reading = (yield* open({ format: 1, indexes: { people: [index] } })).collection("people")
        const refused = yield* expectFailure(
          `the index ${JSON.stringify(index)} in format 1`,
          reading.list(),
          "ValidationError"
        )
        yield* expectEqual("the format that its hint names", refused.hint?.includes("format: 2"), true)
      }
    }),
  { format: 1 }
)

/** The doctor finds what is wrong, and says what it looked at. */
export const doctoring = law(
  "doctoring",
  store(
    "doctor finds what is wrong",
    "size",
    "`doctor` lists files above 1 MB, ids that differ only in case, files outside of the layout"
  ),
  ({ head, people, push, remote, expectEqual, store, file }) =>
    Effect.gen(function* () {
      const findings = Effect.map(store.doctorWith({ deep: true }), (all) =>
        [
          ...new Set(
            all
              .filter(({ collection, severity }) => severity !== "ok" && collection === "people")
              .map(({ code }) => code)
          )
        ].sort()
      )
      yield* people.insert({ city: "London" }, { id: "a" })
      yield* expectEqual("a healthy collection", yield* findings, [])
      const [said] = (yield* store.doctor).filter(
        ({ code, collection }) => code === "collection" && collection === "people"
      )
      yield* expectEqual("what was looked at", said?.severity, "ok")
      yield* people.insert({}, { id: "A" })
      yield* people.insert({ text: "x".repeat(1_100_000) }, { id: "large" })
      yield* expectEqual("case and size", yield* findings, ["case-twins", "document-large"])
      yield* people.delete("A")
      yield* people.delete("large")
      yield* push({ "people/sub/b.json": "{}", "people/readme.txt": "hello" })
      yield* expectEqual("misplaced files", (yield* findings).includes("misplaced"), true)
      yield* push({ "people/sub/b.json": null, "people/readme.txt": null, "people/broken.json": "{" })
      const broken = yield* findings
      yield* expectEqual("an unreadable document", broken.includes("unreadable"), true)
      yield* expectEqual(
        "stale files",
        [broken.includes("index-stale"), broken.includes("manifest-stale")],
        [true, true]
      )
      yield* push({ "people/broken.json": null })
      yield* people.reindex()
      yield* expectEqual("healthy again", yield* findings, [])
      const paths = ["_index/people/city.json", "_manifest/people.json"] as const
      const texts = (yield* Effect.forEach(paths, (path) => file(path))).map((text) => text!)
      const [index, list] = texts.map((text): JsonObject => JSON.parse(text))
      const values = { Rome: ["a"] }
      // Wrong files of an index and of a manifest, pair by pair.
      const wrong: ReadonlyArray<readonly [JsonObject, JsonObject]> = [
        [{ values, ids: { a: ["Rome"] } }, { documents: { a: { city: "Rome" } } }],
        [{ values }, { documents: {} }],
        [{ ids: { a: ["Rome"] } }, { ids: ["a", "b"] }],
        [{ values: { London: ["a", "b"] } }, { ids: [], documents: {}, count: 0 }],
        [{ values: {}, ids: {} }, { documents: { a: { city: "London" }, b: {} } }]
      ]
      for (const members of wrong) {
        const [wrongIndex, wrongList] = [
          { ...index, ...members[0] },
          { ...list, ...members[1] }
        ]
        yield* push({ [paths[0]]: JSON.stringify(wrongIndex), [paths[1]]: JSON.stringify(wrongList) })
        yield* expectEqual(JSON.stringify(members), yield* findings, ["index-wrong", "manifest-wrong"])
      }
      yield* push({ [paths[0]]: texts[0]!, [paths[1]]: texts[1]! })
      yield* expectEqual("healthy with the files before", yield* findings, [])
      yield* push({ [paths[0]]: JSON.stringify({ ...index, values: { Rome: ["a"] } }) })
      yield* expectEqual("a wrong index", yield* findings, ["index-wrong"])
      yield* people.reindex()
      yield* expectEqual("a wrong index after reindex", yield* findings, [])
      const manifest = JSON.parse((yield* file("_manifest/people.json"))!) as JsonObject
      yield* push({
        "_manifest/people.json": JSON.stringify({ ...manifest, count: 7 }),
        "_index/people/city.json": null
      })
      yield* expectEqual("a wrong manifest, no index", yield* findings, ["index-missing", "manifest-wrong"])
      const work = "chainstore-tx-01arz3ndektsv4rrffq69g5fav"
      yield* remote.createBranch(work, (yield* head) as never)
      const left = (yield* store.doctor).filter(
        ({ code, message }) => code === "work-branch" && message.includes(work)
      )
      yield* expectEqual("a work branch that is left", left.length, 1)
      yield* remote.deleteBranch(work)
    }),
  { format: 1, indexes: { people: ["city"] }, manifests: { people: ["city"] }, shardDepth: 0 }
)

/** Advice about the size of a collection begins where the documentation says. */
export const estimates = law(
  "estimates",
  store(
    "advice begins with 2,000 documents",
    "size",
    "`advice` lists the recommended changes, from 2,000 documents on"
  ),
  ({ people, expectEqual }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1 }, { id: "a" })
      const advised = (documents: number, indexes: number) =>
        Effect.map(people.estimate({ documents, indexes }), ({ advice, recommended }) => [
          recommended.format,
          recommended.shardDepth === 0 ? "one directory" : recommended.shardBy,
          recommended.shardDepth,
          advice.map(({ setting }) => setting).sort()
        ])
      const both = ["format", "sharding"]
      const sizes = [
        [0, 1, "one directory", 0, []],
        [256, 1, "one directory", 0, []],
        [257, 1, "hash", 1, []],
        [1_999, 1, "hash", 1, []],
        [2_000, 2, "hash", 1, both],
        [256_000, 2, "hash", 1, both],
        [256_001, 2, "hash", 2, both],
        [65_536_000, 2, "hash", 2, both]
      ] as const
      for (const [documents, ...expected] of sizes)
        yield* expectEqual(`${documents} documents`, yield* advised(documents, 1), expected)
      // Without an index or a manifest the format does not matter.
      for (const documents of [1_999, 2_000]) {
        const [, , , settings] = yield* advised(documents, 0)
        yield* expectEqual(
          `${documents} documents without an index`,
          settings,
          documents < 2_000 ? [] : ["sharding"]
        )
      }
    }),
  { format: 1, shardDepth: 0 }
)
