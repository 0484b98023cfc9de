import * as BigDecimal from "effect/BigDecimal"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { fromCsv } from "../../store/transfer/FromCsv.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { law, promiseOf } from "./StoreLaw.js"

const transfer = promiseOf("import-export")

const text = (pieces: ReadonlyArray<Uint8Array>): string =>
  pieces.map((piece) => new TextDecoder().decode(piece)).join("")

const written = () => {
  const pieces: Array<Uint8Array> = []
  return { sink: Sink.forEach((piece: Uint8Array) => Effect.sync(() => void pieces.push(piece))), pieces }
}

/** An import writes each record as a whole document, a commit for each chunk, and doubles nothing when it is run again. */
export const imports = law(
  "imports",
  transfer(
    "an import writes records in chunks",
    "import",
    "An existing document is replaced and its `_rev` rises by one, unless its content already equals the record."
  ),
  ({ commits, head, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 0, old: true }, { id: "a" })
      yield* people.insert({ n: 2 }, { id: "b" })
      const records = [
        { key: "a", n: 1 },
        { key: "b", n: 2 },
        { key: "c", n: 3 },
        { n: 4 },
        { key: "e", n: 5 }
      ]
      const at = yield* head
      const rows: Array<string> = []
      const onRow = (row: { readonly action: string }) => Effect.sync(() => void rows.push(row.action))
      const dry = yield* people.importRecords(
        records.map(({ key, n }) => ({ _id: key, n })),
        { dryRun: true, onRow: onRow as never }
      )
      yield* expectEqual(
        "a dry run",
        [dry.inserted, dry.replaced, dry.unchanged, rows, yield* head],
        [3, 1, 1, ["replace", "unchanged", "insert", "insert", "insert"], at]
      )
      const given = records.map(({ key, n }) => (key === undefined ? { n } : { _id: key, n }))
      const before = (yield* commits).length
      const report = yield* people.importRecords(given, { chunkSize: 2, message: "imported" })
      yield* expectEqual(
        "its report",
        [report.records, report.inserted, report.replaced, report.unchanged],
        [5, 3, 1, 1]
      )
      const added = (yield* commits).slice(0, (yield* commits).length - before)
      yield* expectEqual(
        "a commit for each chunk",
        [report.commits, added.every(({ message }) => message.startsWith("imported"))],
        [added.map(({ commit }) => commit).reverse(), true]
      )
      yield* expectEqual("chunks", report.commits.length, 3)
      yield* expectEqual("a document that was there", shape(yield* read(people, "a")), wanted(2, { n: 1 }))
      yield* expectEqual(
        "one that is as the record says",
        shape(yield* read(people, "b")),
        wanted(1, { n: 2 })
      )
      const again = yield* people.importRecords(given, { chunkSize: 2, importId: report.importId })
      yield* expectEqual("again", [again.unchanged, again.commits, yield* people.count], [5, [], 5])
      const things = store.collection("things")
      yield* things.importRecords([{ name: "x", n: 1 }], { idField: "name" })
      yield* expectEqual("idField", yield* things.list(), ["x"])
      const without = things.importRecords([{ n: 1 }, { n: 2 }], { idField: "name" })
      yield* expectFailure("an idField that no record has", without, "ValidationError")
      const wrong = things.importRecords([{ _id: "ok" }, { _id: "../bad" }, { _id: "never" }], {
        chunkSize: 1
      })
      yield* expectFailure("a row that cannot be stored", wrong, "ValidationError")
      yield* expectEqual("chunks before it stay", yield* things.list(), ["ok", "x"])
      const first = things.importRecords([{ _id: "first" }, { _id: "../bad" }], {
        chunkSize: 1,
        validate: "first"
      })
      yield* expectFailure("validate first", first, "ValidationError")
      yield* expectEqual("writes nothing", yield* things.list(), ["ok", "x"])
      const broken = Stream.concat(
        Stream.make({ _id: "before" }, { _id: "before-too" }),
        Stream.fail("the connection was closed")
      )
      const failed = yield* Effect.either(store.collection("cut").importRecords(broken as never))
      yield* expectEqual("a source that fails", Either.isLeft(failed), true)
      yield* expectEqual("records before it are committed", yield* store.collection("cut").list(), [
        "before",
        "before-too"
      ])
    })
)

/** Values that JSON does not have, and what an import makes of them. */
const converted: Readonly<Record<string, readonly [given: unknown, stored: Json]>> = {
  date: [new Date(0), "1970-01-01T00:00:00.000Z"],
  nan: [Number.NaN, "nan"],
  infinity: [Number.POSITIVE_INFINITY, "inf"],
  negative: [Number.NEGATIVE_INFINITY, "-inf"],
  bigint: [-5n, -5],
  long: [12345678901234567890n, "12345678901234567890"],
  beyond: [9007199254740993n, "9007199254740993"],
  decimal: [BigDecimal.unsafeFromString("1.50"), "1.50"],
  bytes: [new Uint8Array([1, 2, 255]), "AQL/"],
  map: [new Map<string, unknown>([["a", new Date(0)]]), { a: "1970-01-01T00:00:00.000Z" }],
  set: [new Set([1, Number.NEGATIVE_INFINITY]), [1, "-inf"]],
  inside: [{ list: [Number.POSITIVE_INFINITY, 1n] }, { list: ["inf", 1] }]
}

/** Ids of records, and those of their documents; none for an id that is generated. */
const givenIds: ReadonlyArray<readonly [given: unknown, id?: string]> = [
  [undefined],
  [null],
  [""],
  [" "],
  ["\t\n"],
  ["  trimmed ", "trimmed"],
  [7, "7"],
  [1n, "1"]
]

/** An import converts what JSON does not have, and generates an id where a record has none. */
export const importedValues = law(
  "importedValues",
  transfer(
    "an import converts values without a JSON representation",
    "import",
    "Values without a JSON representation are converted"
  ),
  ({ people, expectEqual, store }) =>
    Effect.gen(function* () {
      const values = Object.entries(converted)
      yield* people.importRecords([
        { _id: "a", ...Object.fromEntries(values.map(([name, [given]]) => [name, given])) }
      ])
      const stored = Object.fromEntries(values.map(([name, [, json]]) => [name, json]))
      yield* expectEqual("the values", shape(yield* read(people, "a")), wanted(1, stored))
      const ids: Array<string | undefined> = []
      const { importId } = yield* store.collection("ids").importRecords(
        givenIds.map(([_id], n) => ({ _id, n })),
        { onRow: ({ id }) => Effect.sync(() => void ids.push(id)) }
      )
      const generated = givenIds.map(([, id], n) => (id === undefined ? ids[n] : id))
      yield* expectEqual("the ids", ids, generated)
      const csv = "_id,a,b,c\r\nx,[12345678901234567890],12345678901234567890,[1]\r\n"
      const cells = store.collection("cells")
      yield* cells.importRecords(fromCsv(new TextEncoder().encode(csv), { cells: "json" }))
      yield* expectEqual(
        "the cells of a CSV text",
        shape(yield* read(cells, "x")),
        wanted(1, { a: "[12345678901234567890]", b: "12345678901234567890", c: [1] })
      )
      const made = ids.filter((_, n) => givenIds[n]![1] === undefined)
      yield* expectEqual(
        "generated ids that are valid and distinct",
        [made.every((id) => id !== undefined && /^[0-9A-Z]{26}$/.test(id)), new Set(made).size],
        [true, made.length]
      )
      yield* expectEqual(
        "the documents",
        yield* store.collection("ids").list(),
        [...ids].sort() as Array<string>
      )
      const again = yield* store.collection("ids").importRecords(
        givenIds.map(([_id], n) => ({ _id, n })),
        { importId }
      )
      yield* expectEqual("the same once more", [again.unchanged, again.commits], [givenIds.length, []])
      // 101 records are two chunks.
      const many = Array.from({ length: 101 }, (_, n) => ({ _id: `r${n}` }))
      const progress: Array<string> = []
      const { commits } = yield* store.collection("many").importRecords(many, {
        importId: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        onProgress: (report) => Effect.sync(() => void progress.push(report.importId))
      })
      yield* expectEqual(
        "the chunks of 101 records, and the importId of the first progress",
        [commits.length, progress[0]],
        [2, "01ARZ3NDEKTSV4RRFFQ69G5FAV"]
      )
    })
)

const views = "Views (`store.at`, `store.snapshot`) export too."

/** An export holds the documents of one commit, in order of id. */
export const exports = law(
  "exports",
  transfer("an export holds the documents in order", "export", views),
  ({ people, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* store.batch({}, (batch) =>
        Effect.all([
          batch.put("people", "b", { name: 'B, "quoted"', n: 2 }),
          batch.put("people", "a", { name: "=A", n: 1 }),
          batch.put("people", "c", { n: null, list: [1, "x"] })
        ])
      )
      const view = yield* store.snapshot
      yield* people.insert({ n: 9 }, { id: "d" })
      const exported = (
        format: "csv" | "ndjson" | "json",
        options: object,
        of = people as Pick<typeof people, "exportText">
      ) =>
        Effect.gen(function* () {
          const { pieces, sink } = written()
          const count = yield* of.exportText(sink, format, options)
          return [count, text(pieces)] as const
        })
      const csv = yield* exported("csv", { columns: ["_id", "name", "n", "list"] })
      yield* expectEqual("csv", csv, [
        4,
        '_id,name,n,list\r\na,=A,1,\r\nb,"B, ""quoted""",2,\r\nc,,,"[1, ""x""]"\r\nd,,9,\r\n'
      ])
      const spreadsheet = store.collection("spreadsheet")
      const formulas = ["=1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]
      const texts = ["1=", "a@b.org", "'=1", "#1", "a+b"]
      yield* store.batch({}, (batch) =>
        Effect.forEach([...formulas, ...texts], (text, n) =>
          batch.put("spreadsheet", `t${String(n).padStart(2, "0")}`, { text, n: -n, list: [text] })
        )
      )
      const guards = { guardFormulas: true, columns: ["text"] }
      const cell = (text: string) => (text.includes("\r") || /^\s/.test(text) ? `"${text}"` : text)
      yield* expectEqual(
        "texts that a spreadsheet would read as formulas",
        (yield* exported("csv", guards, spreadsheet))[1],
        ["text", ...formulas.map((text) => cell(`'${text}`)), ...texts, ""].join("\r\n")
      )
      yield* expectEqual(
        "the same without guardFormulas",
        (yield* exported("csv", { columns: ["text"] }, spreadsheet))[1],
        ["text", ...formulas.map(cell), ...texts, ""].join("\r\n")
      )
      yield* expectEqual(
        "numbers, lists and names with guardFormulas",
        (yield* exported("csv", { ...guards, columns: ["n", "list", "=n"], limit: 2 }, spreadsheet))[1],
        `n,list,'=n\r\n0,"[""=1""]",\r\n-1,"[""+1""]",\r\n`
      )
      const guarded = yield* exported("csv", { columns: ["name"], limit: 1, guardFormulas: true })
      yield* expectEqual("guardFormulas and limit", guarded, [1, "name\r\n'=A\r\n"])
      const [count, lines] = yield* exported("ndjson", {}, view.collection("people"))
      const documents = lines
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { _id: string; n: unknown })
      yield* expectEqual(
        "ndjson of a view",
        [count, documents.map(({ _id, n }) => [_id, n])],
        [
          3,
          [
            ["a", 1],
            ["b", 2],
            ["c", null]
          ]
        ]
      )
      const [, list] = yield* exported("json", { columns: ["n"] })
      yield* expectEqual("json", JSON.parse(list), [{ n: 1 }, { n: 2 }, { n: null }, { n: 9 }])
      const book = written()
      const columns = yield* store.exportExcel(book.sink, { collections: ["people"] })
      yield* expectEqual(
        "a workbook",
        [columns["people"]?.slice(0, 4), text(book.pieces.slice(0, 1)).slice(0, 2)],
        [["_id", "_rev", "_created_at", "_updated_at"], "PK"]
      )
    })
)

/** Records whose id is in another field than the first ones. */
const keyed = (count: number, at: number) =>
  Array.from({ length: count }, (_, n): JsonObject => (n + 1 < at ? { n } : { n, key: `k${n}` }))

/** An import calls `onProgress` and `onRow` as it writes, and a dry run says what the import would do. */
export const importReports = law(
  "importReports",
  transfer(
    "an import reports its progress and each row",
    "import",
    "called with the current report, and with each row"
  ),
  ({ head, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 0 }, { id: "a" })
      const at = yield* head
      const records = [
        { _id: "a", n: 1 },
        { _id: "b", n: 2 },
        { _id: "b", n: 2 },
        { _id: "b", n: 3 }
      ]
      const reported = (dryRun: boolean) =>
        Effect.gen(function* () {
          const progress: Array<number> = []
          const rows: Array<readonly [number, string]> = []
          const report = yield* people.importRecords(records, {
            chunkSize: 1,
            dryRun,
            onProgress: (report) => Effect.sync(() => void progress.push(report.records)),
            onRow: ({ action, row }) => Effect.sync(() => void rows.push([row, action]))
          })
          const numbers = [report.records, report.inserted, report.replaced, report.unchanged]
          return { numbers, progress, rows, commits: report.commits.length }
        })
      const expected = {
        numbers: [4, 1, 2, 1],
        progress: [0, 1, 2, 3, 4],
        rows: [
          [1, "replace"],
          [2, "insert"],
          [3, "unchanged"],
          [4, "replace"]
        ]
      }
      yield* expectEqual("a dry run", yield* reported(true), { ...expected, commits: 0 })
      yield* expectEqual("nothing was written", yield* head, at)
      yield* expectEqual("the import", yield* reported(false), { ...expected, commits: 3 })
      const refused: Array<readonly [number, string]> = []
      const bad = [{ _id: "ok" }, { _id: "../bad" }]
      yield* people.importRecords(bad, {
        dryRun: true,
        onRow: ({ action, row }) => Effect.sync(() => void refused.push([row, action]))
      })
      yield* expectEqual("a row that cannot be stored", refused, [
        [1, "insert"],
        [2, "refuse"]
      ])
      const things = store.collection("things")
      const last = yield* head
      yield* expectFailure(
        "a field of ids that the first 100 records lack",
        things.importRecords(keyed(101, 101), { idField: "key" }),
        "ValidationError"
      )
      yield* expectEqual("nothing was written", yield* head, last)
      const { inserted } = yield* things.importRecords(keyed(101, 100), { idField: "key", dryRun: true })
      yield* expectEqual("a field that the 100th record has", inserted, 101)
    })
)

/** Every export tells its progress, and leaves out what is not valid only if it is told to. */
export const exportReports = law(
  "exportReports",
  transfer(
    "a document that is not valid fails an export, unless it is skipped",
    "export",
    'With `onInvalid: "skip"` it is left out, and a function of its id and the error is called for each.'
  ),
  ({ people, push, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* store.batch({}, (batch) => Effect.forEach(["a", "c"], (id) => batch.put("people", id, { id })))
      yield* push({ "people/b.json": "no JSON" })
      type Options = Parameters<typeof people.exportExcel>[1]
      const formats = ["csv", "ndjson", "json"] as const
      const exports: Readonly<Record<string, (options: Options) => Effect.Effect<unknown, unknown>>> = {
        ...Object.fromEntries(
          formats.map((format) => [
            format,
            (options: Options) => people.exportText(written().sink, format, options)
          ])
        ),
        "a worksheet": (options) => people.exportExcel(written().sink, options),
        "a workbook": (options) =>
          store.exportExcel(written().sink, { ...options, columns: undefined } as never)
      }
      for (const [name, run] of Object.entries(exports)) {
        yield* expectFailure(`${name} with a document that is not valid`, run({}), "ValidationError")
        let documents = -1
        yield* run({
          onInvalid: "skip",
          onProgress: (progress) =>
            Effect.sync(() => {
              documents = progress.documents
            })
        })
        yield* expectEqual(`the progress of ${name}`, documents, 2)
        const told: Array<string> = []
        yield* run({ onInvalid: (id) => Effect.sync(() => void told.push(id)) })
        yield* expectEqual(`what ${name} leaves out`, told, ["b"])
      }
      yield* expectEqual(
        "the number of documents",
        yield* Effect.forEach(formats, (format) =>
          people.exportText(written().sink, format, { onInvalid: "skip" })
        ),
        [2, 2, 2]
      )
      yield* push({ "people/b.json": '{"n": 12345678901234567890}' })
      for (const [name, run] of Object.entries(exports)) {
        yield* expectFailure(`${name} with a number that it would change`, run({}), "ValidationError")
        const told: Array<string> = []
        yield* run({ onInvalid: (id) => Effect.sync(() => void told.push(id)) })
        yield* expectEqual(`what ${name} leaves out because of a number`, told, ["b"])
      }
    }),
  { shardDepth: 0 }
)
