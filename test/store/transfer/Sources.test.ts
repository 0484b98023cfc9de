import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { SqlClient } from "@effect/sql"
import { LibsqlClient } from "@effect/sql-libsql"
import { assert, describe, it } from "@effect/vitest"
import { PGlite } from "@electric-sql/pglite"
import { Binary, Decimal128, Long, ObjectId, UUID } from "bson"
import { BigDecimal, Chunk, Effect, Fiber, FastCheck as fc, Stream } from "effect"
import Database from "libsql"
import { MongoClient } from "mongodb"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { uniqueColumns } from "../../../src/store/transfer/ColumnNames.js"
import { exportColumnsOf } from "../../../src/store/transfer/ExportColumns.js"
import { fromCsv } from "../../../src/store/transfer/FromCsv.js"
import { fromDbapi } from "../../../src/store/transfer/FromDbapi.js"
import { fromJson, fromNdjson } from "../../../src/store/transfer/FromJson.js"
import { fromMongo } from "../../../src/store/transfer/FromMongo.js"
import { fromSql } from "../../../src/store/transfer/FromSql.js"
import { normalise, normaliseRecord } from "../../../src/store/transfer/Normalise.js"
import { fromRecords } from "../../../src/store/transfer/RecordSource.js"
import { encodeCsv, encodeJson, encodeNdjson } from "../../../src/store/transfer/TextEncoding.js"
import { mongoPeer } from "../../support/mongo/WirePeer.js"

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
const collect = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)
const records = <E>(stream: Stream.Stream<unknown, E>) =>
  Effect.map(collect(Stream.map(stream, normaliseRecord)), (all) => all.map(plain))

const value = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ unit: "grapheme" }),
  fc.array(fc.integer())
)
const rows = fc.array(
  fc.dictionary(fc.string({ minLength: 1, unit: "grapheme" }), value, { maxKeys: 5, noNullPrototype: true }),
  { maxLength: 30 }
)

/** The same bytes in pieces that respect no character. */
const shredded = (bytes: Uint8Array, size: number) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  )

const joined = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(collect(stream), (parts) => new Uint8Array(Buffer.concat(parts)))

describe("Normalise", () => {
  it("holds what JSON cannot", () => {
    const oid = new ObjectId()
    const id = "123e4567-e89b-12d3-a456-426614174000"
    assert.deepStrictEqual(
      plain(
        normalise({
          date: new Date(0),
          nan: Number.NaN,
          inf: -Infinity,
          safe: 12n,
          big: 2n ** 80n,
          decimal: BigDecimal.unsafeFromString("1.50"),
          bytes: new Uint8Array([1, 2, 255]),
          map: new Map<unknown, unknown>([[1, new Set(["a"])]]),
          gone: undefined,
          list: [undefined],
          oid,
          long: Long.fromString("9007199254740993"),
          dec: Decimal128.fromString("1.500"),
          uuid: new UUID(id),
          binary: new Binary(new Uint8Array([1, 2])),
          url: new URL("https://example.org/x")
        })
      ),
      {
        date: "1970-01-01T00:00:00.000Z",
        nan: "nan",
        inf: "-inf",
        safe: 12,
        big: "1208925819614629174706176",
        decimal: "1.50",
        bytes: "AQL/",
        map: { 1: ["a"] },
        list: [null],
        oid: oid.toHexString(),
        long: "9007199254740993",
        dec: "1.500",
        uuid: id,
        binary: "AQI=",
        url: "https://example.org/x"
      }
    )
  })

  it("refuses what contains itself, by its path", () => {
    const knot: Record<string, unknown> = { a: [{}] }
    ;(knot["a"] as Array<unknown>)[0] = knot
    assert.throws(() => normalise(knot), /\/a\/0/)
  })

  it("keeps hostile keys as data", () => {
    const record = normaliseRecord(JSON.parse('{"__proto__":{"x":1},"constructor":2}'))
    assert.deepStrictEqual(Object.keys(record), ["__proto__", "constructor"])
    assert.isUndefined(({} as Record<string, unknown>)["x"])
  })
})

describe("uniqueColumns", () => {
  it.prop(
    "are unique, in number and order",
    [fc.array(fc.option(fc.stringMatching(/^(a|b|a_2|column|)$/)))],
    ([names]) => {
      const unique = uniqueColumns(names)
      assert.strictEqual(unique.length, names.length)
      assert.strictEqual(new Set(unique).size, names.length)
      names.forEach((name, index) => {
        if (name && names.indexOf(name) === index) assert.strictEqual(unique[index], name)
      })
    }
  )
})

describe("text", () => {
  it.effect.prop(
    "NDJSON and JSON give the records back, however the bytes are cut",
    [rows, fc.integer({ min: 1, max: 9 })],
    ([given, size]) =>
      Effect.gen(function* () {
        const source = Stream.fromIterable(given as ReadonlyArray<JsonObject>)
        const ndjson = yield* joined(encodeNdjson(source))
        assert.deepStrictEqual(yield* records(fromNdjson(shredded(ndjson, size))), plain(given))
        const json = yield* joined(encodeJson(source))
        assert.deepStrictEqual(yield* records(fromJson(shredded(json, size))), plain(given))
      })
  )

  it.effect.prop(
    "CSV gives texts back, however the bytes are cut",
    [
      fc.array(
        fc.record({
          a: fc.string({ minLength: 1, unit: "binary" }),
          'b "c"': fc.stringMatching(/^[,;"\r\n a]+$/)
        }),
        { maxLength: 20 }
      ),
      fc.integer({ min: 1, max: 9 })
    ],
    ([given, size]) =>
      Effect.gen(function* () {
        const clean = given.map((row) => ({ ...row, a: row.a.toWellFormed() }))
        const bytes = yield* joined(encodeCsv(Stream.fromIterable(clean), { columns: ["a", 'b "c"'] }))
        assert.deepStrictEqual(yield* records(fromCsv(shredded(bytes, size))), plain(clean))
      })
  )

  it.effect.prop(
    "CSV with JSON cells gives numbers, truth values and lists back",
    [
      fc.array(
        fc.record({
          n: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
          t: fc.boolean(),
          l: fc.array(fc.integer())
        })
      )
    ],
    ([given]) =>
      Effect.gen(function* () {
        const bytes = yield* joined(
          encodeCsv(Stream.fromIterable(given), { columns: exportColumnsOf(new Set(["n", "t", "l"])) })
        )
        assert.deepStrictEqual(
          yield* records(fromCsv(Stream.succeed(bytes), { cells: "json" })),
          plain(given)
        )
      })
  )

  it.effect("says which row and line is wrong", () =>
    Effect.gen(function* () {
      const text = (lines: string) => Stream.succeed(new TextEncoder().encode(lines))
      assert.include((yield* Effect.flip(records(fromCsv(text("a,b\n1,2\n3\n"))))).message, "row 3")
      assert.include((yield* Effect.flip(records(fromNdjson(text("{}\n\n[1]\n"))))).message, "line 3")
      assert.include((yield* Effect.flip(records(fromJson(text("[{},1]"))))).message, "item 2")
      const twice = '{"a": {"n": 1, "\\u006e": 2}}'
      for (const read of [fromNdjson(text(`{}\n${twice}\n`)), fromJson(text(`[${twice}]`))])
        assert.include((yield* Effect.flip(records(read))).message, "twice")
      const ids = text("id,n\n12e3,12e3\n1.10,1.10\nnull,null\n42,42\ntrue,\n[1],[1]\n")
      assert.deepStrictEqual(
        (yield* records(fromCsv(ids, { cells: "json", keepSpelling: ["id"] }))).map((one) => ({ ...one })),
        [
          { id: "12e3", n: 12000 },
          { id: "1.10", n: 1.1 },
          { id: "null", n: null },
          { id: 42, n: 42 },
          { id: true },
          { id: "[1]", n: [1] }
        ]
      )
      const cells = yield* records(fromCsv(text('a\n"{""n"": 1, ""n"": 2}"\n'), { cells: "json" }))
      assert.deepStrictEqual(cells, [{ a: '{"n": 1, "n": 2}' }])
    })
  )

  it.effect("guards formulas in CSV when asked", () =>
    Effect.gen(function* () {
      const bytes = yield* joined(
        encodeCsv(Stream.make({ a: "=cmd()", b: -1 }), { columns: ["a", "b"], guardFormulas: true })
      )
      assert.strictEqual(new TextDecoder().decode(bytes), "a,b\r\n'=cmd(),-1\r\n")
    })
  )
})

const python = "/usr/bin/python3"
const readByPython = (bytes: Uint8Array): unknown =>
  JSON.parse(
    execFileSync(
      python,
      [
        "-c",
        "import csv, io, json, sys; print(json.dumps(list(csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, 'utf-8', newline='')))))"
      ],
      { input: bytes, encoding: "utf8" }
    )
  )

describe.skipIf(!existsSync(python))("CSV by Python's own reader", () => {
  it.effect("is what was written", () =>
    Effect.gen(function* () {
      const texts = ["", " a ", 'q"q', "a,b;c", "x\r\ny\n", "ü€😀", "=1+1", "\ufeffmark", "'", "\t"]
      const given = texts.map((a, n) => ({ a, n: `${n}`, "odd, name": texts[texts.length - 1 - n]! }))
      const bytes = yield* joined(encodeCsv(Stream.fromIterable(given), { columns: ["a", "n", "odd, name"] }))
      assert.deepStrictEqual(readByPython(bytes), given)
    })
  )
})

describe("sources", () => {
  it.effect("PostgreSQL by query, with columns of one name told apart", () =>
    Effect.gen(function* () {
      const db = yield* Effect.acquireRelease(
        Effect.promise(() => PGlite.create()),
        (db) => Effect.promise(() => db.close())
      )
      yield* Effect.promise(() =>
        db.exec(
          "create table t(id int8, at timestamptz, amount numeric, raw bytea, doc jsonb); insert into t values (1, '2026-01-02T03:04:05Z', 1.50, '\\x0102', '{\"a\":[1]}'), (2, null, null, null, null)"
        )
      )
      const [first, second] = yield* records(
        fromSql(db, "select *, id as id from t where id < $1 order by 1", [9])
      )
      assert.deepStrictEqual(first, {
        id: 1,
        at: "2026-01-02T03:04:05.000Z",
        amount: "1.50",
        raw: "AQI=",
        doc: { a: [1] },
        id_6: 1
      })
      assert.isNull(second.at)
      const failure = yield* Effect.flip(records(fromSql(db, "select nothing")))
      assert.strictEqual(failure._tag, "SourceError")
      assert.include(failure.message, "nothing")
    }).pipe(Effect.scoped)
  )

  it.effect("SQLite row by row", () =>
    Effect.gen(function* () {
      const db = new Database(":memory:")
      db.exec(
        "create table t(id integer, name text, raw blob); insert into t values (1,'a',x'01'),(2,null,null)"
      )
      const all = yield* records(
        fromSql(db, "select id, name, raw, id from t where id >= ? order by id", [1])
      )
      assert.deepStrictEqual(all, [
        { id: 1, name: "a", raw: "AQ==", id_4: 1 },
        { id: 2, name: null, raw: null, id_4: 2 }
      ])
      assert.deepStrictEqual(yield* records(Stream.take(fromSql(db, "select id from t order by id"), 1)), [
        { id: 1 }
      ])
      db.close()
    })
  )

  it.effect("Effect's SqlClient", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table t(id integer, name text)`
      yield* sql`insert into t values (1, 'a'), (2, 'b')`
      assert.deepStrictEqual(yield* records(fromSql(sql, "select * from t order by id")), [
        { id: 1, name: "a" },
        { id: 2, name: "b" }
      ])
    }).pipe(Effect.provide(LibsqlClient.layer({ url: ":memory:" })), Effect.scoped)
  )

  it.effect("a cursor, so many rows at a time, and closes it", () =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      let left = 7
      let closed = 0
      const cursor = {
        read: async (count: number) => {
          asked.push(count)
          const rows = Array.from({ length: Math.min(count, left) }, () => [left--, "x"])
          return rows
        },
        close: async () => {
          closed++
        }
      }
      const all = yield* records(fromDbapi(cursor, { fetchSize: 3, columns: ["n", "n"] }))
      assert.deepStrictEqual(all[0], { n: 7, n_2: "x" })
      assert.strictEqual(all.length, 7)
      assert.deepStrictEqual(asked, [3, 3, 3, 3])
      assert.strictEqual(closed, 1)
      assert.strictEqual(
        (yield* Effect.flip(records(fromDbapi(cursor, { fetchSize: 0 }))))._tag,
        "ValidationError"
      )
      const wrong = yield* Effect.flip(records(fromDbapi([[1, 2]], { columns: ["only"] })))
      assert.include(wrong.message, "2 values for 1 columns")
    })
  )

  it.scopedLive("MongoDB through its own driver", () =>
    Effect.gen(function* () {
      const documents = Array.from({ length: 250 }, (_, n) => ({
        _id: new ObjectId(),
        n,
        even: (n + 1) % 2,
        big: Long.fromNumber(n),
        at: new Date(n)
      }))
      const peer = yield* mongoPeer(documents)
      const client = yield* Effect.acquireRelease(
        Effect.promise(() => new MongoClient(peer.url).connect()),
        (client) => Effect.promise(() => client.close())
      )
      const things = client.db("test").collection("things")
      const all = yield* records(fromMongo(things))
      assert.strictEqual(all.length, 250)
      assert.deepStrictEqual(all[3], {
        _id: documents[3]!._id.toHexString(),
        n: 3,
        even: 0,
        big: 3,
        at: new Date(3).toISOString()
      })
      const some = yield* records(fromMongo(things, { filter: { even: 1 }, projection: { n: 1 }, limit: 3 }))
      assert.deepStrictEqual(
        some.map((record) => Object.keys(record)),
        [
          ["_id", "n"],
          ["_id", "n"],
          ["_id", "n"]
        ]
      )
      yield* records(Stream.take(fromMongo(things), 5))
      assert.strictEqual(peer.killed.length, 1)
      assert.strictEqual(
        (yield* Effect.flip(records(fromMongo(things, { limit: -1 }))))._tag,
        "ValidationError"
      )
      assert.strictEqual((yield* Effect.flip(records(fromMongo({} as never))))._tag, "ValidationError")
    })
  )

  it.live("iterables one by one, and stops when interrupted", () =>
    Effect.gen(function* () {
      let pulled = 0
      let returned = false
      async function* endless() {
        try {
          while (true) {
            pulled++
            await new Promise((resolve) => setImmediate(resolve))
            yield { n: pulled }
          }
        } finally {
          returned = true
        }
      }
      const until = (reached: () => boolean) =>
        Effect.iterate(0, {
          while: () => !reached(),
          body: () => Effect.promise(() => new Promise<number>((resolve) => setImmediate(() => resolve(0))))
        })
      const fiber = yield* Effect.fork(Stream.runDrain(fromRecords(endless())))
      yield* until(() => pulled >= 5)
      yield* Fiber.interrupt(fiber)
      const last = pulled
      yield* until(() => returned)
      assert.isAtMost(pulled, last)
      assert.strictEqual((yield* Effect.flip(records(fromRecords([1]))))._tag, "ValidationError")
    })
  )
})
