import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandLine } from "./CommandLine.js"

describe("what is not there", () => {
  it.scopedLive("a repository is made by a put or an import alone; all else says how to make it", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const lines: ReadonlyArray<readonly [code: number, ...line: ReadonlyArray<string>]> = [
        [3, "collections"],
        [3, "get", "things", "a"],
        [3, "query", "things"],
        [3, "history", "things", "a"],
        [3, "export", "things", join(directory, "out.csv")],
        [3, "delete", "things", "a"],
        [3, "delete", "things", "a", "--dry-run"],
        [3, "reindex", "things"],
        [3, "create-index", "things", "n"],
        [3, "drop-index", "things", "n"],
        [3, "revert", "0123456"],
        [3, "restore", "things", "a", "0123456"],
        [10, "doctor"],
        [0, "put", "things", "a", "--data", "{}", "--dry-run"],
        [0, "import", "things", "-", "--format", "ndjson", "--dry-run"]
      ]
      for (const [code, ...line] of lines) {
        const ran = yield* call(line, { input: '{"_id":"a"}\n' })
        assert.strictEqual(ran.code, code, `${line.join(" ")}: ${ran.err}`)
        if (code === 3) {
          assert.match(
            ran.err,
            /^NotFoundError: there is no repository local\/demo in .+\nthe first `put` or `import` creates it/
          )
        }
        assert.isFalse(existsSync(join(directory, "repos")), line.join(" "))
      }
      const dry = yield* call(["import", "things", "-", "--format", "ndjson", "--dry-run"], {
        input: '{"_id":"a"}\n'
      })
      assert.deepInclude(JSON.parse(dry.out.split("\n").at(-1)!), { inserted: 1 })
      assert.strictEqual((yield* call(["put", "things", "a", "--data", "{}"])).code, 0)
      assert.strictEqual((yield* call(["doctor"])).code, 0)
      assert.strictEqual((yield* call(["collections", "--repo", "../x"])).code, 2)
    })
  )

  it.scopedLive("a first put or import that fails leaves nothing", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const csv = join(directory, "in.csv")
      writeFileSync(csv, "_id,n\na,1\n..,2\n")
      const unique = ["--index", "things.n"]
      const lines: ReadonlyArray<readonly [code: number, ...line: ReadonlyArray<string>]> = [
        [2, "put", "things", "a", "--data", "{"],
        [2, "put", "things", "..", "--data", "{}"],
        [2, "put", "_things", "a", "--data", "{}"],
        [3, "put", "things", "a", "--data", "{}", "--expected-rev", "1"],
        [4, "put", "things", "a", "--data", "{}", "--expected-sha", "0".repeat(40)],
        [9, "put", "things", "a", join(directory, "nowhere.json")],
        [2, "import", "things", csv],
        [2, "import", "things", csv, ...unique, "--validate", "first"],
        [2, "import", "things", csv, "--id-field", "no"],
        [2, "import", "things", csv, "--format", "ndjson"],
        [9, "import", "things", join(directory, "nowhere.csv")],
        [0, "import", "things", "-", "--format", "ndjson"]
      ]
      for (const [code, ...line] of lines) {
        const ran = yield* call(line)
        assert.strictEqual(ran.code, code, `${line.join(" ")}: ${ran.err}`)
        assert.isFalse(existsSync(join(directory, "repos")), line.join(" "))
      }
      const made = yield* call(["import", "things", csv, "--chunk-size", "1", ...unique])
      assert.strictEqual(made.code, 2)
      assert.strictEqual((yield* call(["get", "things", "a"])).json().n, "1")
      assert.strictEqual((yield* call(["doctor", "--deep"])).code, 0)
      const git = (...line: ReadonlyArray<string>) =>
        execFileSync("git", ["-C", join(directory, "repos/local/demo.git"), ...line], { encoding: "utf8" })
      assert.strictEqual(git("rev-list", "--count", "main"), "1\n")
      git("fsck", "--strict")
    })
  )

  it.scopedLive("two first puts at once are both kept", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const ids = ["a", "b", "c"]
      const put = (id: string) => call(["put", "things", id, "--data", "{}"])
      for (const ran of yield* Effect.forEach(ids, put, { concurrency: 3 })) assert.strictEqual(ran.code, 0)
      assert.lengthOf((yield* call(["query", "things"])).json(), 3)
    })
  )

  it.scopedLive("an export of an unknown collection leaves the file that is there", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"n":1}'])
      const file = join(directory, "backup.csv")
      assert.strictEqual((yield* call(["export", "things", file])).code, 0)
      const before = readFileSync(file, "utf8")
      const ran = yield* call(["export", "thigns", file])
      assert.deepStrictEqual(
        [ran.code, ran.err],
        [3, "NotFoundError: there is no collection thigns\nthere are things"]
      )
      assert.strictEqual(readFileSync(file, "utf8"), before)
    })
  )

  it.scopedLive("a data directory that cannot be created is reported at once", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const ran = yield* call(["put", "things", "a", "--data", "{}"], {
        environment: { CHAINSTORE_DATA: "/proc/nowhere/data" }
      })
      assert.strictEqual(ran.code, 7)
      assert.match(
        ran.err,
        /^RemoteError: the directory \/proc\/nowhere\/data\/repos\/local cannot be created: ENOENT.+\nchoose another/
      )
    })
  )

  it.scopedLive("a file that does not exist is named, before an import begins", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      yield* call(["put", "things", "a", "--data", "{}"])
      const file = join(directory, "nowhere.ndjson")
      for (const line of [
        ["put", "things", "a", file],
        ["import", "things", file],
        ["schema", "things", "--write", file]
      ]) {
        const ran = yield* call(line)
        assert.deepStrictEqual(
          [ran.code, ran.err, ran.progress],
          [9, `SourceError: there is no file ${file}\ncheck the path, or write - for standard input`, ""]
        )
      }
      const folder = yield* call(["put", "things", "a", directory])
      assert.include(folder.err, `SourceError: ${directory} cannot be read: `)
    })
  )

  it.scopedLive("a document that is missing, or not an object, is not called bad JSON", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const none = yield* call(["put", "things", "a"])
      assert.strictEqual(
        none.err,
        "ValidationError: the document is empty\nwrite JSON into --data, a file, or standard input"
      )
      const list = yield* call(["put", "things", "a", "--data", "[1]"])
      assert.strictEqual(
        list.err,
        'ValidationError: the document is not a JSON object\nwrite its fields in braces, such as {"name": "Tea"}'
      )
    })
  )

  it.scopedLive("a branch that does not exist is not reported as deleted", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "things", "a", "--data", "{}"])
      const ran = yield* call(["branch", "draft", "--delete"])
      assert.deepStrictEqual(
        [ran.code, ran.out, ran.err],
        [3, "", "NotFoundError: there is no branch draft\nthere are main"]
      )
      yield* call(["branch", "draft"])
      assert.strictEqual((yield* call(["branch", "draft", "--delete"])).code, 0)
    })
  )
})
