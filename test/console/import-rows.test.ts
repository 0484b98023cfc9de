import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile, rowsOf } from "../../src/console/edit/ImportRows.js"

const file = (name: string, text: string) => ({ name, text: () => Promise.resolve(text) })

const read = (name: string, text: string, idField: string) =>
  Effect.map(readFile(file(name, text)), (found) => rowsOf(found, idField))

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
      assert.strictEqual(refused[1]!.reason, "a is the id of row 1 too")
      assert.match(refused[2]!.reason, /12345678901234567891/)
    })
  )

  it.effect("that is not what its ending says is told", () =>
    Effect.gen(function* () {
      const problem = yield* Effect.flip(readFile(file("x.json", "id,n\n1,2\n")))
      assert.strictEqual(problem.kind, "invalid")
      const unread = yield* Effect.flip(
        readFile({ name: "x.csv", text: () => Promise.reject(new Error("gone")) })
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
})
