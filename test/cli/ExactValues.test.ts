import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandLine } from "./CommandLine.js"

const big = "12345678901234567890"
const withBigNumber = `{"_id":"big","_rev":1,"deep":[{"n":${big}}]}`

/** Writes files of the collection `things` as somebody without the store would. */
const commitByHand = (directory: string, files: Readonly<Record<string, string>>) => {
  const work = join(directory, "work")
  if (!existsSync(work))
    execFileSync("git", ["clone", "-q", "-b", "main", join(directory, "repos/local/demo.git"), work])
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, "data/things", name), text)
  const git = (...line: ReadonlyArray<string>) =>
    execFileSync("git", ["-C", work, "-c", "user.name=A", "-c", "user.email=a@example.org", ...line])
  git("add", "-A")
  git("commit", "-qm", "by hand")
  git("push", "-q")
}

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
        commitByHand(directory, { "big.json": withBigNumber })
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

  it.scopedLive("documents that cannot be read are named and left out of exports and queries, if asked", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      for (const id of ["a", "z"]) yield* call(["put", "things", id, "--data", `{"name":"${id}-name"}`])
      commitByHand(directory, { "big.json": withBigNumber, "broken.json": "{" })
      const file = (format: string) => join(directory, `out.${format}`)
      for (const format of ["csv", "ndjson", "json", "xlsx"]) {
        const ran = yield* call(["export", "things", file(format), "--on-invalid", "skip"])
        assert.strictEqual(ran.code, 0, ran.err)
        const said = ran.progress.trimEnd().split("\n")
        assert.lengthOf(said, 3, ran.progress)
        assert.match(said[0]!, /^skipped: data\/things\/big.json: the number/)
        assert.match(said[1]!, /^skipped: data\/things\/broken.json/)
        assert.strictEqual(said[2], "2 documents skipped")
        if (format === "xlsx") continue
        const text = readFileSync(file(format), "utf8")
        assert.match(text, /a-name[\s\S]*z-name/)
        assert.notInclude(text, "big")
      }
      const all = yield* call(["export", "--to", file("xlsx"), "--on-invalid", "skip"])
      assert.match(all.progress, /\n2 documents skipped\n$/)

      const failed = yield* call(["query", "things", "--json"])
      assert.strictEqual(failed.code, 2)
      assert.match(
        failed.err,
        /^ValidationError: data\/things\/broken.json[\s\S]*; --on-invalid skip leaves it out$/
      )
      const ids = (ran: { readonly json: () => ReadonlyArray<{ readonly _id: string }> }) =>
        ran.json().map(({ _id }) => _id)
      const listed = yield* call(["query", "things", "--json", "--on-invalid", "skip"])
      assert.deepStrictEqual(ids(listed), ["a", "big", "z"])
      assert.match(listed.progress, /^skipped: data\/things\/broken.json[^\n]*\n1 document skipped\n$/)
      const ordered = yield* call([
        "query",
        "things",
        "--json",
        "--order",
        "name desc",
        "--on-invalid",
        "skip"
      ])
      assert.deepStrictEqual(ids(ordered), ["z", "a", "big"])
      const found = yield* call([
        "query",
        "things",
        "--json",
        "--where",
        "not (name=a-name)",
        "--on-invalid=skip"
      ])
      assert.deepStrictEqual(ids(found), ["big", "z"])
    })
  )
})

/** A document whose numbers JavaScript would write differently. */
const numbers = (price: string, serial: string) =>
  `{"_id":"n","_rev":1,"_created_at":"","_updated_at":"","price":${price},"serial":${serial},"zero":-0.0,"huge":1e400,"list":[1.0,{"small":1E-05}],"name":"n"}`

/** The document as it is printed. */
const printed = (price: string, serial: string, space = "") =>
  [
    "{",
    '  "_id": "n",',
    '  "_rev": 1,',
    '  "_created_at": "",',
    '  "_updated_at": "",',
    `  "price": ${price},`,
    `  "serial": ${serial},`,
    '  "zero": -0.0,',
    '  "huge": 1e400,',
    '  "list": [',
    "    1.0,",
    "    {",
    '      "small": 1E-05',
    "    }",
    "  ],",
    '  "name": "n"',
    "}"
  ]
    .map((line) => space + line)
    .join("\n")

describe("what is printed is what the file says", () => {
  const stored = Effect.gen(function* () {
    const { call, directory } = yield* commandLine
    const options = ["--index", "things.price", "--index", "things.name"]
    yield* call(["put", "things", "a", "--data", '{"price":1,"name":"a"}', ...options])
    commitByHand(directory, { "n.json": numbers("7.10", big) })
    return { call, directory }
  })

  it.scopedLive("get prints the digits of the file, also with --sha and at a commit", () =>
    Effect.gen(function* () {
      const { call } = yield* stored
      const found = yield* call(["get", "things", "n"])
      assert.strictEqual(found.out, printed("7.10", big))
      assert.strictEqual((yield* call(["get", "things", "n", "--at", "main"])).out, found.out)
      const version = yield* call(["get", "things", "n", "--sha"])
      assert.isTrue(
        version.out.startsWith(`{\n  "document": ${printed("7.10", big, "  ").trimStart()},\n  "rev": 1,`),
        version.out
      )
    })
  )

  it.scopedLive("get gives a file without metadata the id of its name and revision 0", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* stored
      commitByHand(directory, { "bare.json": '{"n":1.50,"_rev":"x"}' })
      const found = yield* call(["get", "things", "bare"])
      assert.strictEqual(
        found.out,
        '{\n  "n": 1.50,\n  "_rev": 0,\n  "_id": "bare",\n  "_created_at": "",\n  "_updated_at": ""\n}'
      )
    })
  )

  it.scopedLive("query prints the digits of the file, however it finds the document", () =>
    Effect.gen(function* () {
      const { call } = yield* stored
      yield* call(["reindex", "--format", "2"])
      const lines = [
        ["--after", "a"],
        ["--field", "name", "--value", "n"],
        ["--where", "name=n"],
        ["--where", "price=7.1"],
        ["--where", "price>7", "--order", "price desc"],
        ["--where", "zero=0", "--order", "serial"]
      ]
      for (const line of lines) {
        const found = yield* call(["query", "things", ...line])
        assert.strictEqual(found.out, `[\n${printed("7.10", big, "  ")}\n]`, line.join(" "))
        if (line[0] !== "--where" || line[1] === "zero=0") continue
        const explained = yield* call(["query", "things", "--explain", ...line])
        assert.strictEqual(explained.json().source, "index", line.join(" "))
      }
      const columns = yield* call(["query", "things", "--where", "name=n", "--columns", "serial,list,none"])
      assert.include(columns.out, `"serial": ${big},`)
      const table = yield* call(["query", "things", "--where", "name=n", "--columns", "serial,list,price"], {
        terminal: true
      })
      assert.match(table.out, new RegExp(`\n${big}\\s+\\[1\\.0,\\{"small":1E-05\\}\\]\\s+7\\.10\n`))
    })
  )

  it.scopedLive("diff compares the values of numbers and prints their digits", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* stored
      const commit = (price: string, serial: string) =>
        commitByHand(directory, { "n.json": numbers(price, serial) })
      commit("7.1", "12345678901234567890.0")
      const same = yield* call(["diff", "things", "n", "main~1", "main"], { terminal: true })
      assert.strictEqual(same.out, "No differences.")
      commit("7.20", "12345678901234567891")
      const line = ["diff", "things", "n", "main~2", "main"]
      const text = yield* call(line, { terminal: true })
      assert.strictEqual(text.out, `~ price: 7.10 -> 7.20\n~ serial: ${big} -> 12345678901234567891`)
      const json = yield* call(line)
      assert.include(json.out, `"before": 7.10,`)
      assert.include(json.out, `"after": 12345678901234567891`)
    })
  )
})
