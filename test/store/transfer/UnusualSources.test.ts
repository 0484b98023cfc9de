import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Chunk, Effect, Either, Exit, Layer, Stream } from "effect"
import Database from "libsql"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { Store } from "../../../src/store/Store.js"
import { fromCsv } from "../../../src/store/transfer/FromCsv.js"
import { fromDbapi } from "../../../src/store/transfer/FromDbapi.js"
import { fromJson, fromNdjson } from "../../../src/store/transfer/FromJson.js"
import { fromSql } from "../../../src/store/transfer/FromSql.js"
import type { ImportRow } from "../../../src/store/transfer/Import.js"
import { normalise } from "../../../src/store/transfer/Normalise.js"
import { fromRecords } from "../../../src/store/transfer/RecordSource.js"
import { inChunks } from "../../support/inChunks.js"

const opened = () => Layer.provide(Store.layer({}), Memory.layer())
const withStore = <A, E, R>(body: Effect.Effect<A, E, R | Store>) => Effect.provide(body, opened())
const bytes = (text: string) => new TextEncoder().encode(text)
const collect = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
const scratch = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-review-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

describe("sources read twice", () => {
  it.effect('fromCsv with validate: "first" does not import the header as a record', () =>
    withStore(
      Effect.gen(function* () {
        const people = (yield* Store).collection("people")
        const report = yield* people.importRecords(
          fromCsv(Stream.succeed(bytes("_id,name\na,Ann\nb,Bob\n"))),
          {
            validate: "first"
          }
        )
        assert.strictEqual(report.records, 2)
        assert.deepStrictEqual(yield* people.list(), ["a", "b"])
      })
    )
  )

  it.effect("fromCsv gives the same records each time it is run", () =>
    Effect.gen(function* () {
      const records = fromCsv(Stream.succeed(bytes("_id,name\na,Ann\n")))
      const first = plain(yield* collect(records))
      assert.deepStrictEqual(plain(yield* collect(records)), first)
    })
  )

  it.scopedLive(
    'validate: "first" over a file stream imports all records, or says that they are read only once',
    () =>
      withStore(
        Effect.gen(function* () {
          const directory = yield* scratch
          const file = join(directory, "a.ndjson")
          writeFileSync(file, '{"_id":"a"}\n{"_id":"b"}\n')
          const things = (yield* Store).collection("things")
          const exit = yield* Effect.exit(
            things.importRecords(fromNdjson(createReadStream(file)), { validate: "first" })
          )
          if (Exit.isSuccess(exit))
            assert.strictEqual(exit.value.records, 2, "success was reported with nothing imported")
        })
      )
  )

  it.effect('validate: "first" over a cursor imports all rows, or says that they are read only once', () =>
    withStore(
      Effect.gen(function* () {
        const things = (yield* Store).collection("things")
        const left = [[{ _id: "a" }, { _id: "b" }]]
        const cursor = { fetchMany: () => left.shift() ?? [] }
        const exit = yield* Effect.exit(things.importRecords(fromDbapi(cursor), { validate: "first" }))
        if (Exit.isSuccess(exit))
          assert.strictEqual(exit.value.records, 2, "success was reported with nothing imported")
      })
    )
  )
})

describe("odd sources", () => {
  it.effect("an NDJSON line cannot reach Object.prototype", () =>
    Effect.gen(function* () {
      const line = '{"a":{"__proto__":{"polluted":12345678901234567890}},"a":{}}\n'
      try {
        yield* Effect.exit(collect(fromNdjson([bytes(line)])))
        assert.isUndefined((Object.prototype as Record<string, unknown>)["polluted"])
      } finally {
        delete (Object.prototype as Record<string, unknown>)["polluted"]
      }
    })
  )

  it.effect("a stray quote inside an unquoted CSV cell does not cut a later multi-line cell", () =>
    Effect.gen(function* () {
      const text = 'a,b\n5" pipe,x\nfoo,"l1\nm,n"\n'
      const found = plain(yield* collect(fromCsv([bytes(text)])))
      assert.deepStrictEqual(found, [
        { a: '5" pipe', b: "x" },
        { a: "foo", b: "l1\nm,n" }
      ])
    })
  )

  for (const [name, text, line, kept] of [
    ["a quote that is not closed", 'a,b\n1,x\n2,"y\n3,z\n4,"",\n', 3, [{ a: "1", b: "x" }]],
    ["a quote that is the last character", 'a,b\r\n1,x\r\n2,"', 3, [{ a: "1", b: "x" }]],
    ["text after the closing quote", 'a,b\n"l1\nl2",x\n2,"5" pipe"\n', 4, [{ a: "l1\nl2", b: "x" }]]
  ] as const) {
    it.effect(`${name} ends a CSV, with its line, after the records before it`, () =>
      Effect.gen(function* () {
        for (const size of [1, 2, 7, 1000]) {
          const found: Array<unknown> = []
          const exit = yield* Effect.either(
            Stream.runForEach(fromCsv(inChunks(bytes(text), [size])), (record) =>
              Effect.sync(() => found.push({ ...record }))
            )
          )
          if (Either.isRight(exit)) assert.fail(JSON.stringify(found))
          assert.strictEqual(exit.left._tag, "ValidationError")
          assert.include(exit.left.message, `line ${line}`)
          assert.deepStrictEqual(found, [...kept])
        }
      })
    )
  }

  it.effect("a CSV that is not UTF-8 is refused, not silently changed", () =>
    Effect.gen(function* () {
      const latin1 = new Uint8Array(Buffer.from("name\ncaf\u00e9\n", "latin1"))
      const exit = yield* Effect.exit(collect(fromCsv([latin1])))
      if (Exit.isSuccess(exit)) assert.notInclude(JSON.stringify(exit.value), "\ufffd")
    })
  )

  it.effect("a text that ends in the middle of a character is refused, not silently shortened", () =>
    Effect.gen(function* () {
      const cut = bytes("name\ncaf\u00e9").slice(0, -1)
      const exit = yield* Effect.exit(collect(fromCsv([cut])))
      assert.isTrue(Exit.isFailure(exit), JSON.stringify(exit))
    })
  )

  it.effect("a record that is no object is a typed error, also where it holds a bigint", () =>
    withStore(
      Effect.gen(function* () {
        const things = (yield* Store).collection("things")
        const exit = yield* Effect.exit(things.importRecords([[1n, "row"]]))
        assert.isTrue(Exit.isFailure(exit))
        if (Exit.isFailure(exit)) assert.isTrue(Cause.isFailType(exit.cause), Cause.pretty(exit.cause))
      })
    )
  )

  it.effect("a dry run tells of a record that is no object as of any other refused row", () =>
    withStore(
      Effect.gen(function* () {
        const things = (yield* Store).collection("things")
        const rows: Array<ImportRow> = []
        const exit = yield* Effect.exit(
          things.importRecords([{ _id: "a" }, 5, { _id: "c" }], {
            dryRun: true,
            onRow: (row) => Effect.sync(() => void rows.push(row))
          })
        )
        assert.isTrue(Exit.isSuccess(exit), "the dry run ended at the row instead of telling of it")
        assert.deepStrictEqual(
          rows.map((row) => row.action),
          ["insert", "refuse", "insert"]
        )
      })
    )
  )

  it.effect("an object with a field _bsontype from NDJSON keeps its content", () =>
    Effect.gen(function* () {
      const [record] = yield* collect(
        fromNdjson([bytes('{"_id":"a","type":{"_bsontype":"Custom","v":1}}\n')])
      )
      assert.deepStrictEqual(plain(normalise(record)), { _id: "a", type: { _bsontype: "Custom", v: 1 } })
    })
  )

  it.effect("values of an older MongoDB driver, which carry _bsontype themselves, keep their meaning", () =>
    Effect.sync(() => {
      // As bson 1 (mongodb 3) makes them: the name is set in the constructor.
      class Long {
        readonly _bsontype = "Long"
        constructor(
          readonly low_: number,
          readonly high_: number
        ) {}
        toString() {
          return (BigInt(this.high_) * 4294967296n + BigInt(this.low_ >>> 0)).toString()
        }
      }
      assert.strictEqual(normalise(new Long(7, 1)), 4294967303)
    })
  )

  it.effect("a CSV with carriage returns alone may have blank lines, as one with line feeds", () =>
    Effect.gen(function* () {
      const found = plain(yield* collect(fromCsv([bytes("a,b\r1,2\r\r3,4\r\r")])))
      assert.deepStrictEqual(found, [
        { a: "1", b: "2" },
        { a: "3", b: "4" }
      ])
    })
  )

  it.effect("64-bit integers of a SQLite driver are exact", () =>
    Effect.gen(function* () {
      const db = new Database(":memory:")
      const [row] = yield* collect(fromSql(db, "select 9007199254740993 as n"))
      assert.strictEqual(String(normalise(row!["n"])), "9007199254740993")
    })
  )

  it.effect("an Effect SqlClient whose stream dies after rows does not give them twice", () =>
    Effect.gen(function* () {
      const client = {
        unsafe: () => ({
          stream: Stream.concat(Stream.make({ n: 1 }), Stream.die(new Error("connection lost"))),
          withoutTransform: Effect.succeed([{ n: 1 }, { n: 2 }])
        })
      }
      const exit = yield* Effect.exit(collect(fromSql(client, "select n")))
      if (Exit.isSuccess(exit)) assert.deepStrictEqual(plain(exit.value), [{ n: 1 }, { n: 2 }])
    })
  )

  it.effect("fromSql says in words that a postgres.js client is not known", () =>
    Effect.gen(function* () {
      const sql = Object.assign(() => {}, { unsafe: () => Promise.resolve([{ n: 1 }]) })
      const exit = yield* Effect.exit(collect(fromSql(sql as never, "select 1 as n")))
      if (Exit.isFailure(exit)) assert.isTrue(Cause.isFailType(exit.cause), Cause.pretty(exit.cause))
    })
  )

  it.effect("two keys of a Map that have the same text do not lose a value silently", () =>
    Effect.sync(() => {
      let told: unknown
      try {
        told = normalise(
          new Map<unknown, unknown>([
            [1, "number"],
            ["1", "text"]
          ])
        )
      } catch {
        return
      }
      assert.strictEqual(Object.keys(told as object).length, 2, JSON.stringify(told))
    })
  )
})

describe("sources that fail before they are read", () => {
  const ways = {
    fromNdjson,
    fromJson,
    fromCsv,
    fromDbapi,
    fromRecords,
    importRecords: (source: Readable) => source
  }
  it.scopedLive.each(Object.entries(ways))(
    "%s tells of a file that is not there when it is read",
    ([, way]) =>
      withStore(
        Effect.gen(function* () {
          const things = (yield* Store).collection("things")
          const file = createReadStream(join(yield* scratch, "none"))
          const closed = new Promise<void>((done) => file.once("close", done))
          // Nobody listens to the stream but who was given it; an error that nobody hears ends the process.
          const importing = things.importRecords(way(file))
          yield* Effect.promise(() => closed)
          const error = yield* Effect.flip(importing)
          assert.strictEqual(error._tag, "SourceError")
          assert.include(String(error), "ENOENT")
        })
      )
  )
})
