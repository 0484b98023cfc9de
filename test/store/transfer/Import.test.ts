import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Chunk,
  Deferred,
  Effect,
  Fiber,
  FiberId,
  FastCheck as fc,
  Layer,
  Option,
  Ref,
  Schema,
  Sink,
  Stream
} from "effect"
import { readXlsx } from "hucre/xlsx"
import { RateLimitError, type ValidationError } from "../../../src/domain/errors/StoreError.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { Store } from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { fromCsv } from "../../../src/store/transfer/FromCsv.js"
import { fromJson, fromNdjson } from "../../../src/store/transfer/FromJson.js"
import type { ImportReport, ImportRow } from "../../../src/store/transfer/Import.js"
import type { RecordSource } from "../../../src/store/transfer/RecordSource.js"
import type { SourceError } from "../../../src/store/transfer/SourceError.js"
import { type OnTouch, withFaults } from "../../../src/testing/program/FaultyRemote.js"
import { hosted, remotes } from "../core/Remotes.js"

const on =
  (remote: Layer.Layer<GitRemote, unknown>) =>
  <A, E, R>(
    body: Effect.Effect<A, E, R | Store>,
    options: StoreOptions = {},
    onTouch: OnTouch = () => Effect.void
  ) => {
    const faulty = Layer.effect(
      GitRemote,
      Effect.map(GitRemote, (plain) => withFaults(plain, onTouch))
    )
    const store = Layer.provide(Store.layer(options), faulty)
    return Effect.provide(body, Layer.provide(store, Layer.fresh(remote)))
  }

const records = (count: number) => Array.from({ length: count }, (_, n) => ({ _id: `r${n}`, n }))
const idsOf = (store: Store["Type"], name: string) => store.collection(name).list()

const bytesSink = Sink.map(
  Sink.collectAll<Uint8Array>(),
  (parts) => new Uint8Array(Buffer.concat(Chunk.toReadonlyArray(parts)))
)
/** A destination that keeps what was written to it. */
const kept = Effect.map(Ref.make(new Uint8Array()), (ref) => ({
  sink: Sink.mapEffect(bytesSink, (bytes) => Ref.set(ref, bytes)),
  bytes: Ref.get(ref)
}))

describe.each([...remotes, ...hosted])("importRecords on %s", (_name, remote) => {
  const withStore = on(remote)

  it.live("writes a commit per chunk, replaces what differs and leaves the rest alone", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const things = store.collection("things")
        yield* things.insert({ n: 3 }, { id: "r3" })
        yield* things.insert({ n: "old" }, { id: "r4" })
        const told: Array<number> = []
        const report = yield* things.importRecords(records(250), {
          onProgress: (state) => Effect.sync(() => void told.push(state.records))
        })
        assert.deepInclude(report, { records: 250, inserted: 248, replaced: 1, unchanged: 1, refused: 0 })
        assert.strictEqual(report.commits.length, 3)
        assert.deepStrictEqual(told, [0, 100, 200, 250])
        const revs = yield* Effect.forEach(["r2", "r3", "r4"], (id) =>
          Effect.map(Effect.flatten(things.get(id)), (found) => [found["n"], found._rev])
        )
        assert.deepStrictEqual(revs, [
          [2, 1],
          [3, 1],
          [4, 2]
        ])
        const messages = yield* Effect.map(things.history("r0"), (entries) =>
          entries.map((entry) => entry.message)
        )
        assert.deepStrictEqual(messages, ["import 100 records into things"])
      }),
      { indexes: { things: ["n"] }, manifests: ["things"] }
    )
  )

  it.effect("generates ids with sixteen characters of randomness, which sort as the rows do", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        for (const name of ["one", "other"]) {
          yield* store.collection(name).importRecords(records(70).map(({ n }) => ({ n })))
        }
        const one = yield* idsOf(store, "one")
        const other = yield* idsOf(store, "other")
        for (const ids of [one, other]) {
          assert.isTrue(ids.every((id) => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id)))
          assert.strictEqual(new Set(ids).size, 70)
        }
        // Every one of the sixteen is random: two imports share none of their ends, long or short.
        const ends = (ids: ReadonlyArray<string>) => ids.map((id) => id.slice(20))
        assert.deepStrictEqual(
          ends(one).filter((end) => ends(other).includes(end)),
          []
        )
        for (const [name, ids] of [
          ["one", one],
          ["other", other]
        ] as const) {
          const found = yield* Stream.runCollect(store.collection(name).all())
          assert.deepStrictEqual(
            Chunk.toReadonlyArray(found).map((document) => document["n"]),
            records(70).map(({ n }) => n),
            ids[0]
          )
        }
      })
    )
  )

  it.live("goes on after an interruption without doubling anything", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const things = store.collection("things")
        const nameless = records(430).map(({ n }) => ({ n }))
        const halfway = yield* Deferred.make<string>()
        const first = yield* Effect.fork(
          things.importRecords(nameless, {
            chunkSize: 50,
            onProgress: (state) =>
              state.records >= 150 ? Deferred.succeed(halfway, state.importId) : Effect.void
          })
        )
        const importId = yield* Deferred.await(halfway)
        yield* Fiber.interrupt(first)
        const before = (yield* idsOf(store, "things")).length
        const report = yield* things.importRecords(nameless, { chunkSize: 50, importId })
        assert.strictEqual(report.inserted + report.unchanged, 430)
        assert.strictEqual(report.unchanged, before)
        assert.strictEqual(report.replaced, 0)
        const all = Chunk.toReadonlyArray(yield* Stream.runCollect(things.all()))
        assert.deepStrictEqual(
          all.map((document) => document["n"]),
          nameless.map(({ n }) => n)
        )
        assert.isTrue(all.every((document) => document._rev === 1))
      })
    )
  )

  it.live("cut off at any touch of the remote and begun again, writes every chunk once", () => {
    let touches = 0
    let cut = 0
    let stop = Deferred.unsafeMake<void>(FiberId.none)
    const onTouch: OnTouch = () =>
      ++touches === cut ? Effect.zipRight(Deferred.succeed(stop, undefined), Effect.sleep(1)) : Effect.void
    return withStore(
      Effect.gen(function* () {
        const things = (yield* Store).collection("things")
        const nameless = records(40).map(({ n }) => ({ n }))
        const importId = "01HZZZZZZZZZZZZZZZZZZZZZZZ"
        const attempt = Effect.suspend(() => {
          touches = 0
          stop = Deferred.unsafeMake<void>(FiberId.none)
          return Effect.raceFirst(
            Effect.asSome(things.importRecords(nameless, { chunkSize: 10, importId })),
            Effect.as(Deferred.await(stop), Option.none<ImportReport>())
          )
        })
        const attempts: Array<Option.Option<ImportReport>> = []
        for (cut = 1; !attempts.some(Option.isSome); cut++) attempts.push(yield* attempt)
        assert.isAbove(attempts.length, 3)
        const all = Chunk.toReadonlyArray(yield* Stream.runCollect(things.all()))
        assert.deepStrictEqual(
          all.map((document) => [document["n"], document._rev]),
          nameless.map(({ n }) => [n, 1])
        )
        const ends = [0, 9, 10, 19, 20, 29, 30, 39].map((n) => things.history(all[n]!._id))
        const histories = yield* Effect.all(ends)
        assert.deepStrictEqual(
          histories.map((entries) => entries.length),
          ends.map(() => 1)
        )
        assert.strictEqual(new Set(histories.map(([entry]) => entry!.sha)).size, 4)
      }),
      {},
      onTouch
    )
  })

  it.live("a remote that fails in the middle is told with the id under which the import goes on", () => {
    let commits = 0
    const onTouch: OnTouch = ({ operation, point }) =>
      operation === "commitNext" && point === "before" && ++commits === 3
        ? new RateLimitError({ operation: "test", message: "enough for an hour", hint: "wait", remaining: 0 })
        : Effect.void
    return withStore(
      Effect.gen(function* () {
        const things = (yield* Store).collection("things")
        const nameless = records(50).map(({ n }) => ({ n }))
        const error = yield* Effect.flip(things.importRecords(nameless, { chunkSize: 10 }))
        assert.instanceOf(error, RateLimitError)
        assert.strictEqual((error as RateLimitError).remaining, 0)
        const [, hint, importId] =
          /^(wait; 20 records before it are committed).*([0-9A-Z]{26})$/.exec(error.hint ?? "") ?? []
        assert.isDefined(hint, error.hint)
        const report = yield* things.importRecords(nameless, { chunkSize: 10, importId })
        assert.deepInclude(report, { inserted: 30, unchanged: 20, replaced: 0 })
      }),
      {},
      onTouch
    )
  })

  it.live("a source that fails says how many of its records are committed", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const ends = (collection: string, source: RecordSource<SourceError | ValidationError>) =>
          Effect.flip(store.collection(collection).importRecords(source, { chunkSize: 10 }))
        const text = (lines: number) =>
          fromNdjson(
            `${records(lines)
              .map((row) => `${JSON.stringify(row)}\n`)
              .join("")}{bad\n`
          )
        const broken = function* () {
          yield* records(15)
          throw new Error("the cable")
        }
        const partly = { text: yield* ends("text", text(15)), list: yield* ends("list", broken()) }
        assert.strictEqual(partly.list._tag, "SourceError")
        for (const [collection, error] of Object.entries(partly)) {
          assert.strictEqual((yield* idsOf(store, collection)).length, 15)
          assert.match(error.hint ?? "", /15 records before it are committed.*[0-9A-Z]{26}$/)
        }
        const nothing = yield* ends("nothing", text(0))
        assert.strictEqual(nothing.hint, "nothing was written")
      })
    )
  )

  it.live("refuses a row by its number, keeps the chunks before it, and says how to go on", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const things = store.collection("things")
        const rows = records(30).map((row) => (row.n === 17 ? { ...row, _id: "a/b" } : row))
        const error = yield* Effect.flip(things.importRecords(rows, { chunkSize: 10 }))
        assert.strictEqual(error._tag, "ValidationError")
        assert.include(error.message, "row 18")
        assert.match(error.hint ?? "", /10 records before it are committed.*[0-9A-Z]{26}/)
        assert.strictEqual((yield* idsOf(store, "things")).length, 10)

        const first = yield* Effect.flip(
          store.collection("other").importRecords(rows, { chunkSize: 10, validate: "first" })
        )
        assert.strictEqual(first.hint, "nothing was written")
        assert.deepStrictEqual(yield* idsOf(store, "other"), [])
        const spent = (function* () {
          yield* rows
        })()
        assert.include(
          (yield* Effect.flip(things.importRecords(spent, { validate: "first" }))).message,
          "only once"
        )
        assert.strictEqual(
          (yield* Effect.flip(things.importRecords([], { chunkSize: 0 })))._tag,
          "ValidationError"
        )
        assert.strictEqual(
          (yield* Effect.flip(things.importRecords([], { importId: "x" })))._tag,
          "ValidationError"
        )
        assert.strictEqual(
          (yield* Effect.flip(things.importRecords([{ a: 1n, self: Number.NaN }, 3])))._tag,
          "ValidationError"
        )
      })
    )
  )

  it.live("says in a dry run what it would do with each row, and writes nothing", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const things = store.collection("things")
        yield* things.insert({ n: 0 }, { id: "r0" })
        yield* things.insert({ n: 9 }, { id: "r1" })
        const head = yield* store.commitSha
        const rows: Array<ImportRow> = []
        const report: ImportReport = yield* things.importRecords(
          [...records(3), { _id: "r2", n: 5 }, { _id: "..", n: 1 }, { n: 7 }],
          {
            dryRun: true,
            onRow: (row) => Effect.sync(() => void rows.push(row))
          }
        )
        assert.deepStrictEqual(
          rows.map(({ action, row }) => [row, action]),
          [
            [1, "unchanged"],
            [2, "replace"],
            [3, "insert"],
            [4, "replace"],
            [5, "refuse"],
            [6, "insert"]
          ]
        )
        assert.include(rows[4]!.reason ?? "", "_id")
        assert.deepInclude(report, { inserted: 2, replaced: 2, unchanged: 1, refused: 1, commits: [] })
        assert.deepStrictEqual(yield* store.commitSha, head)
      })
    )
  )

  it.live("takes the id from any field, which stays, and drops metadata", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const things = store.collection("things")
        yield* things.importRecords([{ sku: " A-1 ", _rev: 9, _created_at: "x", at: new Date(0) }], {
          idField: "sku"
        })
        const found = yield* Effect.flatten(things.get("A-1"))
        assert.deepInclude(found, { sku: " A-1 ", at: "1970-01-01T00:00:00.000Z", _rev: 1 })
      })
    )
  )

  it.live("refuses an id field that no record has, and names the fields there are, before it writes", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const things = store.collection("things")
        const csv = "sku,name\nA,a\nB,b\n"
        const ndjson = '{"sku":"A"}\n{"name":"b"}\n'
        const many = Array.from({ length: 300 }, (_, n) => ({ sku: `s${n}`, name: n }))
        const oneByOne = Stream.rechunk(Stream.fromIterable(many), 1)
        const maps = [new Map([["sku", "A"]]), new Map([["name", "b"]])]
        for (const options of [{}, { dryRun: true }, { validate: "first" }, { chunkSize: 1 }] as const) {
          const rows: Array<ImportRow> = []
          const onRow = (row: ImportRow) => Effect.sync(() => void rows.push(row))
          for (const source of [fromCsv(csv), fromNdjson(ndjson), many, oneByOne, maps]) {
            const failed = yield* Effect.flip(
              things.importRecords(source, { ...options, idField: "SKU", onRow })
            )
            assert.strictEqual(failed._tag, "ValidationError")
            assert.match(
              failed.message,
              /^(no record|none of the first 100 records) has the field SKU for its id: the fields are sku, name$/
            )
          }
          assert.deepStrictEqual(rows, [])
        }
        assert.isTrue(Option.isNone(yield* store.commitSha))
      })
    )
  )

  it.live("generates the ids of records without the id field, if another one has it", () =>
    withStore(
      Effect.gen(function* () {
        const things = (yield* Store).collection("things")
        const late = [...Array.from({ length: 99 }, (_, n) => ({ n })), { sku: "last" }]
        const report = yield* things.importRecords(Stream.rechunk(Stream.fromIterable(late), 7), {
          idField: "sku",
          chunkSize: 10
        })
        assert.strictEqual(report.inserted, 100)
        assert.deepStrictEqual(report.commits.length, 10)
        assert.isTrue(Option.isSome(yield* things.get("last")))
        for (const cells of ["text", "json"] as const) {
          const blank = fromCsv("sku,n\n,1\n", { cells, keepSpelling: ["sku"] })
          assert.strictEqual((yield* things.importRecords(blank, { idField: "sku" })).inserted, 1)
        }
        for (const options of [{}, { idField: "_id" }])
          assert.strictEqual((yield* things.importRecords([{ n: 1 }], options)).inserted, 1)
        assert.strictEqual((yield* things.importRecords([], { idField: "sku" })).records, 0)
        assert.strictEqual(
          (yield* Effect.flip(things.importRecords([{ n: 1 }, 7], { idField: "sku" }))).message,
          "row 2 cannot be imported: a record must be an object, this is a number"
        )
      })
    )
  )

  it.live("holds records to the collection's schema", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const Thing = Schema.Struct({ n: Schema.NumberFromString })
        const things = store.collection("things", Thing)
        yield* things.importRecords([{ _id: "a", n: "1" }])
        assert.strictEqual((yield* Effect.flatten(things.get("a"))).n, 1)
        const error = yield* Effect.flip(things.importRecords([{ _id: "b", n: {} }]))
        assert.include(error.message, "row 1")
        assert.isTrue(Option.isNone(yield* things.get("b")))
      })
    )
  )
})

const cell = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/[\u0000-\u001f\ufffe\uffff]/.test(text))
)
const table = fc.array(
  fc.record({ a: cell, b: cell, c: cell }, { requiredKeys: ["a"], noNullPrototype: true }),
  { minLength: 1, maxLength: 25 }
)

const rounds: ReadonlyArray<readonly [string, Layer.Layer<GitRemote, unknown>, number]> = [
  ["Memory", Memory.layer(), 30],
  ...hosted.map(([name, remote]) => [name, remote, 4] as const)
]

describe.each(rounds)("round trips on %s", (_name, remote, numRuns) => {
  const withStore = on(remote)

  it.live.prop(
    "records -> store -> NDJSON, CSV, xlsx -> records",
    [table],
    ([rows]) =>
      withStore(
        Effect.gen(function* () {
          const store = yield* Store
          const given = rows.map(
            (row, n) => ({ ...row, _id: `r${String(n).padStart(3, "0")}` }) as JsonObject
          )
          yield* store.collection("t").importRecords(given)
          const columns = ["_id", "a", "b", "c"]
          const expected = JSON.parse(JSON.stringify(given))
          const sorted = (found: ReadonlyArray<unknown>) => JSON.parse(JSON.stringify(found))

          const ndjson = yield* kept
          yield* store.collection("t").exportText(ndjson.sink, "ndjson", { columns })
          const fromLines = yield* Stream.runCollect(fromNdjson(Stream.succeed(yield* ndjson.bytes)))
          assert.deepStrictEqual(sorted(Chunk.toReadonlyArray(fromLines)), expected)

          const csv = yield* kept
          yield* store.collection("t").exportText(csv.sink, "csv", { columns })
          const texts = yield* Stream.runCollect(fromCsv(Stream.succeed(yield* csv.bytes)))
          const asText = expected.map((row: JsonObject) =>
            Object.fromEntries(
              columns.map((column) => [column, row[column] === undefined ? "" : String(row[column])])
            )
          )
          assert.deepStrictEqual(sorted(Chunk.toReadonlyArray(texts)), asText)

          const xlsx = yield* kept
          yield* store.collection("t").exportExcel(xlsx.sink, { columns })
          const workbook = yield* xlsx.bytes
          const book = yield* Effect.promise(() => readXlsx(workbook))
          const [, ...cells] = book.sheets[0]!.rows
          const back = cells.map((row) =>
            Object.fromEntries(
              columns.flatMap((column, at) =>
                row[at] === null || row[at] === undefined ? [] : [[column, row[at]]]
              )
            )
          )
          assert.deepStrictEqual(sorted(back), expected)
          const again = yield* store.collection("u").importRecords(back)
          assert.strictEqual(again.inserted, rows.length)
        })
      ),
    { fastCheck: { numRuns } }
  )

  it.live("documents -> NDJSON, JSON -> the same documents, with what JSON.stringify would change", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* Store
        const given = { zero: -0, deep: [{ also: -0 }], not: 0 }
        yield* store.collection("t").insert(given, { id: "a" })
        for (const [format, read] of [
          ["ndjson", fromNdjson],
          ["json", fromJson]
        ] as const) {
          const out = yield* kept
          yield* store.collection("t").exportText(out.sink, format)
          const { unchanged } = yield* store.collection("t").importRecords(read(yield* out.bytes))
          assert.strictEqual(unchanged, 1, format)
        }
      })
    )
  )

  it.live("a sheet per collection, from one commit, into a file that appears when it is whole", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const directory = mkdtempSync(join(tmpdir(), "chainstore-export-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true })))
      yield* store.collection("b").importRecords(records(2_500))
      yield* store.collection("a").importRecords([{ _id: "x", name: "=SUM(1)" }])
      const file = join(directory, "all.xlsx")
      const columns = yield* store.exportExcel(file)
      assert.deepStrictEqual(Object.keys(columns), ["a", "b"])
      const book = yield* Effect.promise(() => readXlsx(new Uint8Array(readFileSync(file))))
      assert.deepStrictEqual(
        book.sheets.map((sheet) => [sheet.name, sheet.rows.length]),
        [
          ["a", 2],
          ["b", 2_501]
        ]
      )
      const missing = yield* Effect.flip(store.exportExcel(file, { collections: ["nope"] }))
      assert.strictEqual(missing._tag, "NotFoundError")
      const web: Array<Uint8Array> = []
      let closed = false
      const stream = new WritableStream<Uint8Array>({
        write: (chunk) => void web.push(chunk),
        close: () => {
          closed = true
        }
      })
      yield* store.collection("a").exportText(stream, "json")
      assert.isTrue(closed)
      assert.strictEqual(JSON.parse(Buffer.concat(web).toString())[0].name, "=SUM(1)")
    }).pipe((body) => withStore(body), Effect.provide(NodeContext.layer), Effect.scoped)
  )
})
