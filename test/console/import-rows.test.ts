import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { importRows, readFile } from "../../src/console/edit/ImportRows.js"

const file = (name: string, content: string | Uint8Array<ArrayBuffer>) => new File([content], name)

const read = (name: string, content: string | Uint8Array<ArrayBuffer>, idField = "id") =>
  Effect.map(readFile(file(name, content)), (found) => importRows(found, idField))

const ids = (name: string, content: string) =>
  Effect.map(read(name, content), ({ rows }) => rows.map(({ id }) => id))

const same = [
  { id: "a", n: 1, city: "Rome; Italy" },
  { id: "b", n: 2, city: "Oslo" }
]

const files: Readonly<Record<string, string>> = {
  "list.json": JSON.stringify(same),
  "lines.ndjson": same.map((one) => JSON.stringify(one)).join("\n"),
  "lines.JSONL": same.map((one) => JSON.stringify(one)).join("\n"),
  "comma.csv": 'id,n,city\na,1,Rome; Italy\nb,2,"Oslo"\n',
  "semicolon.csv": 'id;n;city\na;1;"Rome; Italy"\nb;2;Oslo\n',
  "tab.tsv": "id\tn\tcity\na\t1\tRome; Italy\nb\t2\tOslo\n"
}

describe("a file that is imported in the console", () => {
  for (const [name, text] of Object.entries(files)) {
    it.effect(`is read by its ending: ${name}`, () =>
      Effect.gen(function* () {
        const { refused, rows } = yield* read(name, text, "id")
        assert.deepStrictEqual(refused, [])
        assert.deepStrictEqual(
          rows.map(({ document, id }) => [id, { ...document }]),
          same.map((one) => [one.id, one])
        )
      })
    )
  }

  it.effect("generates ids where the field is empty, in the order of the rows", () =>
    Effect.gen(function* () {
      const { rows } = yield* read(
        "x.json",
        JSON.stringify([{ n: 1 }, { n: 2 }, { _id: "own", n: 3 }]),
        "_id"
      )
      const ids = rows.map(({ id }) => id)
      assert.match(ids.join(" "), /^[0-9A-Z]{26} [0-9A-Z]{26} own$/)
      assert.isTrue(ids[0]! < ids[1]!)
      assert.deepStrictEqual({ ...rows[2]!.document }, { n: 3 })
    })
  )

  it.effect("names the rows that can be no document", () =>
    Effect.gen(function* () {
      const text =
        '{"id": "a"}\n{"id": "no/id"}\n{"id": "a", "n": 2}\n{"id": "b", "n": 12345678901234567891}\n'
      const { refused, rows } = yield* read("x.ndjson", text, "id")
      assert.deepStrictEqual(
        rows.map(({ id }) => id),
        ["a"]
      )
      assert.deepStrictEqual(
        refused.map(({ row }) => row),
        [2, 3, 4]
      )
      assert.strictEqual(refused[1]!.reason, "row 1 has the same id, a")
      assert.match(refused[2]!.reason, /12345678901234567891/)
    })
  )

  it.effect("reports content that does not match the file extension", () =>
    Effect.gen(function* () {
      const problem = yield* Effect.flip(readFile(file("x.json", "id,n\n1,2\n")))
      assert.strictEqual(problem.kind, "invalid")
      const unread = yield* Effect.flip(
        readFile({ name: "x.csv", arrayBuffer: () => Promise.reject(new Error("gone")) })
      )
      assert.match(unread.message, /could not be read: gone/)
    })
  )

  it.effect("is read no further than what can be edited together", () =>
    Effect.gen(function* () {
      const lines = Array.from({ length: 2_000 }, (_, n) => `{"n": ${n}}`).join("\n")
      assert.lengthOf((yield* readFile(file("x.ndjson", lines))).records, 501)
    })
  )

  it.effect("has the ids that it writes: 12e3 and 1.10 replace no document of another id", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ids("x.csv", "id,n\n12e3,1\n1.10,2\n1.0,3\n5e10,4\n"), [
        "12e3",
        "1.10",
        "1.0",
        "5e10"
      ])
    })
  )

  it.effect("has two documents where two ids differ: 1.1 and 1.10", () =>
    Effect.gen(function* () {
      const { refused } = yield* read("x.csv", "id,n\n1.1,1\n1.10,2\n")
      assert.deepStrictEqual(refused, [])
    })
  )

  it.effect("gets no generated id where it writes one: null is an id", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ids("x.csv", "id,n\nnull,1\n"), ["null"])
    })
  )

  for (const [name, text] of [
    ["x.json", '[{"id": "a", "n": 1, "n": 2}]'],
    ["x.ndjson", '{"id": "a", "n": 1, "n": 2}\n']
  ] as const) {
    it.effect(
      `loses no value: a key that its object has already is refused, as in the editor (${name})`,
      () =>
        Effect.gen(function* () {
          const found = yield* Effect.either(read(name, text))
          const rows = found._tag === "Left" ? [] : found.right.rows.map(({ document }) => ({ ...document }))
          assert.deepStrictEqual(rows, [], "a value of n is gone, and nobody was told")
        })
    )
  }

  it.effect("that is not in UTF-8 is refused, as by the command line, instead of losing its letters", () =>
    Effect.gen(function* () {
      const bytes = Uint8Array.from(Buffer.from("id,city\na,Zürich\n", "latin1"))
      const found = yield* Effect.either(read("x.csv", bytes))
      const rows = found._tag === "Left" ? [] : found.right.rows.map(({ document }) => ({ ...document }))
      assert.deepStrictEqual(rows, [], "the letter is replaced by another one, and nobody was told")
    })
  )

  it.effect("may begin with a blank line, which is passed over, whatever separates its cells", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ids("x.csv", "\r\nid;n\r\na;1\r\n"), ["a"])
    })
  )

  it.effect("may have other separators within the quoted names of its columns", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ids("x.csv", 'id;"size (w, h, d, in cm)";n\na;1;2\n'), ["a"])
    })
  )

  it.effect("may end its lines with a carriage return alone, whatever separates its cells", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ids("x.csv", "id;text\ra;1,5,5,5,5\rb;none\r"), ["a", "b"])
    })
  )
})
