import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandLine } from "./CommandLine.js"

const big = "12345678901234567890"

describe("what is written is what was given", () => {
  it.scopedLive("a put refuses a number that it cannot hold, by its path", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      for (const [data, path] of [
        [`{"n":${big}}`, "/n"],
        [`{"deep":[1,{"n":${big}}]}`, "/deep/1/n"],
        ['{"n":1e400}', "/n"]
      ] as const) {
        const ran = yield* call(["put", "things", "a"], { input: data })
        assert.strictEqual(ran.code, 2, ran.out)
        assert.match(
          ran.err,
          new RegExp(`^ValidationError: the number \\S+ at ${path} cannot be represented`)
        )
      }
      const text = yield* call(["put", "things", "a", "--data", `{"n":"${big}"}`])
      assert.strictEqual(text.json().n, big)
    })
  )

  it.scopedLive("a put refuses an object with a key twice, and takes text that looks like one", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const twice = yield* call(["put", "things", "a"], { input: '{\n"n":1,\n"n":2}' })
      assert.strictEqual(twice.code, 2, twice.out)
      assert.include(twice.err, "it has n twice, on lines 2 and 3, and only the last would be stored")
      const text = yield* call(["put", "things", "a"], { input: String.raw`{"n":"\"n\":1, \"n\":2"}` })
      assert.strictEqual(text.json().n, '"n":1, "n":2')
    })
  )

  it.scopedLive("a put refuses bytes that are not UTF-8, and accepts a byte order mark", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const file = join(directory, "a.json")
      const latin = Buffer.from('{"n":"caf\u00e9"}', "latin1")
      writeFileSync(file, latin)
      for (const ran of [
        yield* call(["put", "things", "a", file]),
        yield* call(["put", "things", "a"], { input: latin })
      ]) {
        assert.strictEqual(ran.code, 2, ran.out)
        assert.include(ran.err, "not text in UTF-8")
      }
      writeFileSync(file, '\ufeff{"n":1}')
      assert.strictEqual((yield* call(["put", "things", "a", file])).json().n, 1)
      assert.strictEqual((yield* call(["put", "things", "b"], { input: '\ufeff{"n":2}' })).json().n, 2)
    })
  )

  it.scopedLive(
    "an export refuses a stored number that it would change, and leaves the file that is there",
    () =>
      Effect.gen(function* () {
        const { call, directory } = yield* commandLine
        yield* call(["put", "things", "a", "--data", '{"n":1}'])
        const work = join(directory, "work")
        execFileSync("git", ["clone", "-q", "-b", "main", join(directory, "repos/local/demo.git"), work])
        writeFileSync(join(work, "data/things/big.json"), `{"_id":"big","_rev":1,"deep":[{"n":${big}}]}`)
        const git = (...line: ReadonlyArray<string>) =>
          execFileSync("git", ["-C", work, "-c", "user.name=A", "-c", "user.email=a@example.org", ...line])
        git("add", "-A")
        git("commit", "-qm", "by hand")
        git("push", "-q")
        const files = ["csv", "ndjson", "json", "xlsx"].map((format) => join(directory, `out.${format}`))
        for (const file of files) writeFileSync(file, "before")
        const lines = [
          ...files.map((file) => ["export", "things", file]),
          ["export", "--to", join(directory, "out.xlsx")]
        ]
        for (const line of lines) {
          const ran = yield* call(line)
          assert.strictEqual(ran.code, 2, line.join(" "))
          assert.include(ran.err, `data/things/big.json: the number ${big} at deep[0].n cannot be exported`)
        }
        for (const file of files) assert.strictEqual(readFileSync(file, "utf8"), "before")
      })
  )
})
