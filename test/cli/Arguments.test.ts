import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandLine } from "./CommandLine.js"

describe("arguments", () => {
  it.scopedLive("that make no sense end in words, and never as a defect", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"n":1}'])
      for (const line of [
        ["diff", "things", "a", "nonsense"],
        ["diff", "things", "a", "-x"],
        ["revert", "nonsense"],
        ["revert", "--output=/tmp/x"],
        ["restore", "things", "a", "HEAD~9"],
        ["restore", "things", "a", ""],
        ["get", "things", "--", "-x"],
        ["get", "things", ""],
        ["get", "..", "a"],
        ["get", "things", "\u{1f600}"],
        ["query", "things", "--limit", "0"],
        ["query", "things", "--limit", "-3"],
        ["query", "things", "--value", "2"],
        ["query", "things", "--field", "n"],
        ["delete", "things", "a", "--expected-sha", "x", "--expected-rev", "1"],
        ["put", "things", "a", "--data", "{}", "--merge", "--expected-sha", "x"],
        ["history", "things", "a", "--limit", "-1"],
        ["collections", "--at", "main:data"],
        ["get", "things", "a", "--branch", "--upload-pack=x"],
        ["get", "things", "a", "--root", "../.."],
        ["get", "things", "a", "--repo", "../../x"]
      ]) {
        const ran = yield* call(line)
        assert.notInclude([0, 1], ran.code, `${line.join(" ")}: ${ran.out}${ran.err}`)
        assert.isAtMost(ran.err.split("\n").length, 2, ran.err)
      }
    })
  )

  it.scopedLive("a number that is not one is reported with its option", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      for (const [option, ...line] of [
        ["limit", "query", "things"],
        ["expected-rev", "delete", "things", "a"],
        ["chunk-size", "import", "things", "-", "--format", "ndjson"],
        ["shard-depth", "collections"]
      ] as const) {
        for (const text of ["many", "1.5", ""]) {
          const ran = yield* call([...line, `--${option}`, text])
          assert.deepStrictEqual(
            [ran.code, ran.err.split("\n")[0]],
            [2, `--${option} needs a whole number, not ${JSON.stringify(text)}`]
          )
        }
      }
      assert.match((yield* call(["query", "--help"])).out, /--limit INTEGER +At most this many/)
    })
  )

  it.scopedLive("the help of the service lists its settings", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      for (const command of ["serve", "host"]) {
        const { out } = yield* call([command, "--help"])
        assert.match(out, /^Settings, all from the environment:\n {2}PORT +TCP port/m)
        assert.include(out, "CHAINSTORE_PUBLIC_URL")
      }
    })
  )

  it.scopedLive("names of switch values are operands: a dry run of the collection off writes nothing", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      for (const name of ["off", "on", "0", "y"]) {
        yield* call(["put", name, "a", "--data", "{}"])
        assert.strictEqual((yield* call(["query", "--json", name])).json()[0]._id, "a")
      }
      const dry = yield* call(["reindex", "off", "--dry-run"])
      assert.deepStrictEqual(dry.json(), { message: null, changes: [] })
      assert.strictEqual((yield* call(["branch", "off"])).code, 0)
      assert.deepStrictEqual((yield* call(["branch", "off", "--delete"])).json(), { deleted: "off" })
    })
  )

  it.scopedLive("an option given twice is named, and one that may be given again is not refused", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const made = ["put", "things", "a", "--data", '{"n":1}', "--index", "things.n", "--index=things.m"]
      assert.strictEqual((yield* call(made)).code, 0)
      for (const [name, ...line] of [
        ["--limit", "query", "things", "--limit", "1", "--limit=2"],
        ["--data", "put", "things", "a", "--data", "{}", "--data", "{}"],
        ["--message", "delete", "things", "a", "-m", "x", "--message", "y"],
        ["--dry-run", "delete", "things", "a", "--dry-run", "--dry-run"]
      ] as const) {
        const ran = yield* call(line)
        assert.deepStrictEqual(
          [ran.code, ran.err.split("\n")[0]],
          [2, `ValidationError: ${name} is given twice`]
        )
      }
      assert.strictEqual((yield* call(["get", "things", "a", "--branch", "--data"])).code, 2)
    })
  )

  it.scopedLive("that would be left out without a word are refused", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const file = join(directory, "a.json")
      writeFileSync(file, '{"from":"file"}')
      const book = join(directory, "all.xlsx")
      yield* call(["put", "things", "a", "--data", '{"n":1}'])
      for (const [words, ...line] of [
        ["--data cannot be given together with a file", "put", "things", "b", file, "--data", "{}"],
        ["--data cannot be given together with a file", "propose", "things", "b", file, "--data", "{}"],
        ["--columns cannot be given together with all collections", "export", "--to", book, "--columns", "n"],
        ["--sheet-name cannot be given together with all coll", "export", "--to", book, "--sheet-name", "n"],
        ["--sheet-name cannot be given together with csv", "export", "things", "x.csv", "--sheet-name", "n"],
        ["--git-url cannot be given together with --api-url", "doctor", "--git-url", "u", "--api-url", "v"],
        [
          "--directory cannot be given together with --git-url",
          "doctor",
          "--git-url",
          "u",
          "--directory",
          "v"
        ],
        [
          "--directory cannot be given together with --api-url",
          "doctor",
          "--directory",
          "u",
          "--api-url",
          "v"
        ]
      ] as const) {
        const ran = yield* call(line)
        assert.strictEqual(ran.code, 2, line.join(" "))
        assert.include(ran.err, words)
      }
      assert.strictEqual((yield* call(["get", "things", "b"])).code, 3)
    })
  )

  it.scopedLive("an option has precedence over the variable of another one", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const environment = { CHAINSTORE_GIT_URL: "https://variable.invalid/a.git" }
      const ran = yield* call(["collections", "--api-url", "http://127.0.0.1:9"], { environment })
      assert.include(ran.err, "127.0.0.1:9")
      assert.include((yield* call(["collections"], { environment })).err, "variable.invalid")
    })
  )

  it.scopedLive("every command that prints data accepts --json", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"n":1}'])
      for (const line of [
        ["collections"],
        ["get", "things", "a"],
        ["query", "things"],
        ["history", "things", "a"],
        ["diff", "things", "a", "main"],
        ["reindex", "things"],
        ["doctor"]
      ]) {
        const ran = yield* call([...line, "--json"], { terminal: true })
        assert.strictEqual(ran.code, 0, `${line.join(" ")}: ${ran.err}`)
        assert.doesNotThrow(() => ran.json(), line.join(" "))
      }
    })
  )

  it.scopedLive("--expected-sha lets a write pass only over the blob that get --sha prints", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"n":1}'])
      const first = (yield* call(["get", "things", "a", "--sha"])).json()
      assert.deepStrictEqual([first.document.n, first.rev], [1, 1])
      assert.match(`${first.sha} ${first.commit}`, /^[0-9a-f]{40} [0-9a-f]{40}$/)
      const over = (sha: string) => call(["put", "things", "a", "--data", '{"n":2}', "--expected-sha", sha])
      assert.strictEqual((yield* over(first.sha)).code, 0)
      const late = yield* over(first.sha)
      assert.strictEqual(late.code, 4, late.err)
      const gone = ["delete", "things", "a", "--expected-sha"]
      assert.strictEqual((yield* call([...gone, first.sha])).code, 4)
      const second = (yield* call(["get", "things", "a", "--sha"])).json()
      assert.deepStrictEqual([second.document.n, second.rev], [2, 2])
      assert.strictEqual((yield* call([...gone, second.sha])).code, 0)
      assert.strictEqual((yield* call(["get", "things", "a", "--sha"])).code, 3)
    })
  )

  it.scopedLive("name collections that objects have by birth", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const layout = ["--index", "constructor.n", "--index", "constructor.m", "--manifest", "toString"]
      const ran = yield* call(["put", "constructor", "a", ...layout, "--data", '{"n":1,"m":2}'])
      assert.strictEqual(ran.code, 0, ran.err)
      const found = yield* call(["query", "constructor", "--field", "m", "--value", "2"])
      assert.strictEqual(found.json()[0]._id, "a")
    })
  )

  it.scopedLive("name files that cannot be read or written: 9, in words", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"n":1}'])
      mkdirSync(join(directory, "dir.csv"))
      for (const line of [
        ["import", "things", join(directory, "missing.csv")],
        ["import", "things", join(directory, "dir.csv")],
        ["put", "things", "a", join(directory, "missing.json")],
        ["export", "things", join(directory, "no/such/a.csv")],
        ["export", "things", join(directory, "dir.csv")]
      ]) {
        const ran = yield* call(line)
        assert.strictEqual(ran.code, 9, `${line.join(" ")}: ${ran.err}`)
        assert.isAtMost(ran.err.split("\n").length, 2, ran.err)
      }
    })
  )

  it.scopedLive("--validate first reads a file twice and imports each row once", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const file = join(directory, "a.csv")
      writeFileSync(file, "name,age\nAnn,3\nBob,4\n")
      const ran = yield* call(["import", "people", file, "--validate", "first"])
      assert.strictEqual(ran.json().records, 2, ran.out)
    })
  )

  it.scopedLive("describes several APIs by name, as the service accepts them", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const ran = yield* call(["get", "things", "a", "--repo", "o/r"], {
        environment: { CHAINSTORE_API_URL: "GitHub=https://api.github.com,corp=https://ghe.invalid/api/v3" }
      })
      assert.strictEqual(ran.code, 2, ran.err)
      assert.isAtMost(ran.err.split("\n").length, 2, ran.err)
    })
  )
})
