import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandLine } from "./CommandLine.js"

describe("a dry run", () => {
  it.scopedLive("ends as the write would: with its code and words where it is refused", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"n":1}'])
      const lines: ReadonlyArray<readonly [code: number, ...line: ReadonlyArray<string>]> = [
        [4, "put", "things", "a", "--insert", "--data", '{"n":2}'],
        [4, "put", "things", "a", "--expected-rev", "7", "--data", '{"n":2}'],
        [4, "put", "things", "a", "--merge", "--expected-rev", "7", "--data", '{"n":2}'],
        [3, "put", "things", "b", "--expected-rev", "1", "--data", '{"n":2}'],
        [2, "put", "things", "a", "--data", '{"_id":"b","n":2}'],
        [2, "put", "things", "../a", "--data", "{}"],
        [4, "delete", "things", "a", "--expected-rev", "7"],
        [3, "delete", "things", "b"],
        [3, "restore", "things", "a", "nonsense"]
      ]
      for (const [code, ...line] of lines) {
        const dry = yield* call([...line, "--dry-run"])
        const real = yield* call(line)
        assert.strictEqual(real.code, code, `${line.join(" ")}: ${real.err}`)
        assert.deepStrictEqual([dry.code, dry.err], [real.code, real.err], line.join(" "))
      }
    })
  )

  it.scopedLive("shows what the write then does, and writes nothing", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"n":1,"kept":true}'])
      const shown = (...line: ReadonlyArray<string>) =>
        Effect.map(call([...line, "--dry-run"], { terminal: true }), ({ out }) => out)
      assert.strictEqual(
        yield* shown("put", "things", "a", "--merge", "--data", '{"n":2}', "--expected-rev", "1"),
        "~ n: 1 -> 2"
      )
      assert.strictEqual(yield* shown("put", "things", "a", "--data", '{"n":1}'), "- kept: true")
      assert.strictEqual(yield* shown("put", "things", "b", "--insert", "--data", '{"n":1}'), "+ n: 1")
      assert.strictEqual(
        yield* shown("put", "things", "a", "--data", '{"n":1,"kept":true}'),
        "No differences."
      )
      assert.strictEqual(
        yield* shown("delete", "things", "a", "--expected-rev", "1"),
        "things/a at revision 1 would be deleted."
      )
      assert.deepStrictEqual((yield* call(["get", "things", "a"])).json()._rev, 1)
      assert.strictEqual((yield* call(["get", "things", "b"])).code, 3)
    })
  )

  it.scopedLive("of an import counts what the import then does", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      yield* call(["put", "things", "same", "--data", '{"v":2}'])
      const file = join(directory, "a.ndjson")
      writeFileSync(
        file,
        '{"_id":"same","v":1}\n{"_id":"same","v":2}\n{"_id":"new","v":1}\n{"_id":"new","v":1}\n'
      )
      const dry = yield* call(["import", "things", file, "--dry-run"])
      const counts = (text: string) => {
        const { inserted, records, replaced, unchanged } = JSON.parse(text)
        return { inserted, records, replaced, unchanged }
      }
      const real = yield* call(["import", "things", file])
      assert.strictEqual(dry.code, 0)
      assert.deepStrictEqual(counts(dry.out.split("\n").at(-1)!), counts(real.out))
    })
  )

  it.scopedLive("of an import shows every row, and then fails as the import does", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      yield* call(["put", "things", "same", "--data", '{"v":2}'])
      const file = join(directory, "a.ndjson")
      writeFileSync(file, '{"_id":"a"}\n{"_id":"b b"}\n{"_id":"c"}\n{"_id":"d d"}\n')
      const dry = yield* call(["import", "things", file, "--dry-run"])
      const rows = dry.out.split("\n").map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        rows.map(({ action }) => action),
        ["insert", "refuse", "insert", "refuse", undefined]
      )
      assert.strictEqual(rows.at(-1).refused, 2)
      const real = yield* call(["import", "things", file])
      const failure = (ran: typeof real) => [ran.code, ran.err.split("\n").slice(0, 1)]
      assert.deepStrictEqual(failure(dry), failure(real))
      assert.match(dry.err, /^ValidationError: row 2 cannot be imported: /)
      assert.strictEqual(real.err.split("\n")[1], "nothing was written")
    })
  )
})
