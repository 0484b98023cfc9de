import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { optionsFirst } from "../../src/cli/ArgumentOrder.js"
import { commandLine } from "./CommandLine.js"

const git = (directory: string, ...rest: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", join(directory, "repos/local/demo.git"), ...rest], { encoding: "utf8" })

describe("the command line", () => {
  it.scopedLive("stores and prints the schema of a collection", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      yield* call(["put", "products", "tea", "--data", '{"name":"Tea"}'])
      const none = yield* call(["schema", "products"])
      assert.deepStrictEqual([none.code, none.err.includes("no JSON Schema is stored")], [3, true])
      const schema = { type: "object", properties: { name: { type: "string" }, a: {} } }
      const file = join(directory, "schema.json")
      writeFileSync(file, JSON.stringify(schema))
      const dry = yield* call(["schema", "products", "--write", file, "--dry-run"])
      assert.deepStrictEqual(
        dry.json().changes.map((change: { path: string }) => change.path),
        ["data/_schemas/products.json"]
      )
      const written = yield* call(["schema", "products", "--write", file, "-m", "forms"])
      assert.strictEqual(written.json().commitSha, git(directory, "rev-parse", "main").trim(), written.err)
      assert.isNull(
        (yield* call(["schema", "products", "--write", "-"], { input: JSON.stringify(schema) })).json()
          .commitSha
      )
      const printed = yield* call(["schema", "products"])
      assert.strictEqual(JSON.stringify(printed.json()), JSON.stringify(schema))
      const wrong = yield* call(["schema", "products", "--write", "-"], { input: '{"type": "text"}' })
      assert.match(wrong.err, /products\.json is not a JSON Schema: type must be one of/)
      const inexact = yield* call(["schema", "products", "--write", "-"], {
        input: '{"maximum": 12345678901234567890}'
      })
      assert.notStrictEqual(inexact.code, 0, inexact.out)
      const both = yield* call(["schema", "products", "--write", file, "--at", "main"])
      assert.match(both.err, /--write cannot be given together with --at/)
    })
  )

  it.scopedLive("writes, finds, shows and takes back, each write a commit that git sees", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const layout = ["--index", "products.category", "--manifest", "products.name"]
      const first = yield* call([
        "put",
        "products",
        "tea",
        ...layout,
        "--data",
        '{"name":"Tea","category":"drink","price":3}'
      ])
      assert.strictEqual(first.code, 0, first.err)
      assert.strictEqual(first.json()._rev, 1)
      yield* call(["put", "products", "tea", "--merge", "-m", "dearer"], { input: '{"price":4}' })
      yield* call(["put", "products", "cake", "--insert", "--data", '{"name":"Cake","category":"food"}'])

      const found = yield* call(["query", "products", "--field", "category", "--value", "drink"])
      assert.deepStrictEqual(
        found.json().map((document: { _id: string; price: number }) => [document._id, document.price]),
        [["tea", 4]]
      )
      const asked = ["query", "products", "--where", "category in (drink, food) and price<9 or price missing"]
      const page = yield* call([...asked, "--order", "name desc", "--limit", "1"])
      assert.deepStrictEqual(page.json()[0]._id, "tea", page.err)
      const [, cursor] = /--cursor (\S+)/.exec(page.progress) ?? []
      for (const wrong of ["name sideways", "name desc asc", "name,,n", "", '"name'])
        assert.strictEqual((yield* call([...asked, "--order", wrong])).code, 2, wrong)
      assert.strictEqual((yield* call([...asked, "--order", '"name" desc, n'])).code, 0)
      const rest = yield* call([...asked, "--order", "name desc", "--cursor", cursor!])
      assert.deepStrictEqual(rest.json()[0]._id, "cake", rest.err)
      const explained = yield* call([...asked, "--explain"], { terminal: true })
      assert.match(explained.out, /source +scan[\s\S]*read +0 entries, 2 documents/)
      const wrong = yield* call(["query", "products", "--where", "price >= and x=1"])
      assert.match(wrong.err, /ValidationError: where, at character 14: has x where and or or is expected/)
      const mixed = yield* call([...asked, "--field", "name", "--value", "Tea"])
      assert.match(mixed.err, /cannot be used with --where/)
      const history = (yield* call(["history", "products", "tea"])).json()
      assert.deepStrictEqual(
        history.map((entry: { message: string }) => entry.message),
        ["dearer", "insert products/tea"]
      )
      assert.strictEqual(
        git(directory, "log", "--format=%s", "main").trim(),
        "insert products/cake\ndearer\ninsert products/tea"
      )

      const oldest = history[1].sha
      const diff = yield* call(["diff", "products", "tea", oldest], { terminal: true })
      assert.include(diff.out, "~ price: 3 -> 4")
      const dry = yield* call(["restore", "products", "tea", oldest, "--dry-run"], { terminal: true })
      assert.strictEqual(dry.out.trim(), "~ price: 4 -> 3")
      const restored = yield* call(["restore", "products", "tea", oldest])
      assert.deepStrictEqual([restored.json().price, restored.json()._rev], [3, 3])
      const head = git(directory, "rev-parse", "main").trim()
      const reverted = yield* call(["revert", head])
      assert.deepStrictEqual(reverted.json().documents, [{ collection: "products", id: "tea" }])
      assert.strictEqual((yield* call(["get", "products", "tea"])).json().price, 4)
      assert.strictEqual((yield* call(["get", "products", "tea", "--at", oldest])).json().price, 3)

      assert.strictEqual((yield* call(["delete", "products", "cake", "--dry-run"])).code, 0)
      assert.strictEqual((yield* call(["delete", "products", "cake"])).code, 0)
      assert.deepStrictEqual((yield* call(["collections", "--count"])).json(), [
        { name: "products", documents: 1 }
      ])
      assert.isNull((yield* call(["reindex", "products"])).json().commitSha)
      assert.strictEqual(git(directory, "fsck", "--strict").trim(), "")
    })
  )

  it.scopedLive("shows what a revert and a reindex would commit, and commits nothing", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      yield* call([
        "put",
        "products",
        "tea",
        "--index",
        "products.category",
        "--data",
        '{"category":"drink"}'
      ])
      yield* call(["put", "products", "cake", "--data", '{"category":"food"}'])
      yield* call(["put", "products", "tea", "--data", '{"category":"leaf"}'])
      const head = () => git(directory, "rev-parse", "main").trim()
      const before = head()
      const shown = yield* call(["revert", before, "--dry-run"], { terminal: true })
      assert.strictEqual(shown.code, 0, shown.err)
      assert.deepStrictEqual(shown.out.split("\n"), [
        `revert ${before.slice(0, 7)} (not committed)`,
        "write   data/products/tea.json",
        "        ~ _rev: 2 -> 3",
        '        ~ category: "leaf" -> "drink"',
        "write   data/_index/products/category.json"
      ])
      const json = (yield* call(["revert", before, "--dry-run"])).json()
      assert.deepStrictEqual(
        json.changes.map((change: { path: string; action: string }) => [change.path, change.action]),
        [
          ["data/products/tea.json", "write"],
          ["data/_index/products/category.json", "write"]
        ]
      )
      const first = yield* call(["revert", git(directory, "rev-parse", "main~2").trim(), "--dry-run"])
      assert.deepStrictEqual([first.code, first.err.split(":")[0]], [2, "ValidationError"])
      yield* call(["put", "products", "cake", "--data", '{"category":"tart"}'])
      const conflict = yield* call(["revert", git(directory, "rev-parse", "main~2").trim(), "--dry-run"])
      assert.deepStrictEqual([conflict.code, conflict.err.split(":")[0]], [4, "ConflictError"])

      const right = yield* call(["reindex", "products", "--dry-run"], { terminal: true })
      assert.strictEqual(right.out, "Nothing would be written.")
      const path = join(directory, "work")
      execFileSync("git", ["clone", "-q", join(directory, "repos/local/demo.git"), path])
      writeFileSync(join(path, "data/products/tea.json"), '{"_id":"tea","_rev":9,"category":"foreign"}')
      const commit = ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "by hand"]
      execFileSync("git", ["-C", path, ...commit])
      execFileSync("git", ["-C", path, "push", "-q", "origin", "main"])
      const now = head()
      const stale = yield* call(["reindex", "products", "--dry-run"], { terminal: true })
      assert.deepStrictEqual(stale.out.split("\n"), [
        "reindex products (not committed)",
        "write   data/_index/products/category.json"
      ])
      assert.strictEqual(head(), now)
      const done = yield* call(["reindex", "products"], { terminal: true })
      assert.include(done.out, "are rebuilt in commit")
      assert.include(done.progress, "reindexing products  ████████████████████████  2/2")
      assert.notStrictEqual(head(), now)

      const one = yield* call(["reindex", "products", "--format", "2"])
      assert.deepStrictEqual([one.code, one.err.split(":")[0]], [2, "ValidationError"])
      const trees = yield* call(["reindex", "--format", "2"], { terminal: true })
      assert.include(trees.out, "The indexes of all collections are rebuilt in commit")
      const files = git(directory, "ls-tree", "-r", "--name-only", "main", "data/_index").trim()
      assert.deepStrictEqual(files.split("\n"), [
        "data/_index/products/category/_header.json",
        "data/_index/products/category/rows/0.json"
      ])
      assert.deepStrictEqual((yield* call(["indexes", "products"])).json(), [
        {
          collection: "products",
          name: "category",
          fields: [{ field: "category", order: "asc" }],
          unique: false,
          path: "data/_index/products/category",
          rows: 2,
          current: true
        }
      ])
      const listed = yield* call(["indexes"], { terminal: true })
      assert.match(listed.out, /products +category +category +2 +current/)
      const again = yield* call(["reindex", "--format", "2"])
      assert.deepStrictEqual([again.code, again.json()], [0, { commitSha: null }])
    })
  )

  it.scopedLive("creates indexes of a repository that has documents, and drops them", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      for (const [id, city, age] of [
        ["ada", "London", 36],
        ["bob", "Oslo", 20],
        ["cy", "London", 50]
      ]) {
        yield* call(["put", "people", String(id), "--data", JSON.stringify({ city, age })])
      }
      const create = ["create-index", "people", "city"]
      const dry = yield* call([...create, "--dry-run"], { terminal: true })
      assert.deepStrictEqual(dry.out.split("\n"), [
        "create the index city of people (not committed)",
        "write   data/_index/people/city.json",
        "write   data/_chainstore.json"
      ])
      const created = yield* call(create, { terminal: true })
      assert.match(created.out, /^The index of 3 documents is created in commit [0-9a-f]{10}\.$/)
      assert.include(created.progress, "indexing people  ████████████████████████  3/3")
      assert.deepStrictEqual((yield* call(create)).json(), { commitSha: null })
      const asked = yield* call(["query", "people", "--where", "city=London", "--explain"])
      assert.deepStrictEqual([asked.json().source, asked.json().read.documents], ["index", 2])

      const sorted = [...create.slice(0, 2), 'city, "age" desc', "--name", "town"]
      const plain = yield* call(sorted)
      assert.deepStrictEqual([plain.code, plain.err.includes("reindex --format 2")], [2, true])
      yield* call(["reindex", "--format", "2"])
      assert.strictEqual((yield* call([...sorted, "--where", '{"city":"London"}'])).code, 0)
      const listed = yield* call(["indexes"], { terminal: true })
      assert.match(listed.out, /people +town +city, age desc; where \{"city":"London"\} +2 +current/)
      const twins = yield* call(["create-index", "people", "city", "--name", "only", "--unique"])
      assert.deepStrictEqual([twins.code, twins.err.split(":")[0]], [4, "ConflictError"])
      for (const wrong of [["city,"], ["city up"], ["age", "--where", "{"], ["age", "--where", "[]"]]) {
        const refused = yield* call(["create-index", "people", ...wrong])
        assert.deepStrictEqual(
          [refused.code, refused.err.split(":")[0]],
          [2, "ValidationError"],
          wrong.join(" ")
        )
      }

      const head = git(directory, "rev-parse", "main").trim()
      const dropped = yield* call(["drop-index", "people", "city", "--dry-run"])
      assert.deepStrictEqual(
        dropped
          .json()
          .changes.map(({ action, path }: { path: string; action: string }) => `${action} ${path}`),
        [
          "remove data/_index/people/city/_header.json",
          "remove data/_index/people/city/rows/0.json",
          "write data/_chainstore.json"
        ]
      )
      assert.strictEqual(git(directory, "rev-parse", "main").trim(), head)
      assert.strictEqual((yield* call(["drop-index", "people", "city"])).code, 0)
      const gone = yield* call(["drop-index", "people", "city"])
      assert.deepStrictEqual([gone.code, gone.err.split("\n")[1]], [3, "its indexes are town"])
      const last = yield* call(["drop-index", "people", "town"], { terminal: true })
      assert.match(last.out, /^The index town of people is dropped in commit [0-9a-f]{10}\.$/)
      assert.deepStrictEqual((yield* call(["indexes"])).json(), [])
      assert.strictEqual(git(directory, "fsck", "--strict").trim(), "")
    })
  )

  it.scopedLive("shows tables on a terminal and JSON elsewhere", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const text = "long ".repeat(60)
      yield* call(["put", "notes", "n1", "--data", JSON.stringify({ text, odd: "\u001b[31mred\u202e" })])
      const table = yield* call(["query", "notes"], { terminal: true })
      const lines = table.out.split("\n")
      assert.match(lines[0]!, /^_id\s+_rev\s+_updated_at/)
      assert.isTrue(
        lines.every((line) => line.length <= 100),
        table.out
      )
      assert.notInclude(table.out, "\u001b[31m")
      assert.notInclude(table.out, "\u202e")
      assert.isArray((yield* call(["query", "notes", "--json"], { terminal: true })).json())
    })
  )

  it.scopedLive("ends with a code and a word for each kind of failure", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "a", "x", "--data", "{}"])
      const codes = (line: ReadonlyArray<string>) =>
        Effect.map(call(line), ({ code, err }) => [code, err.split(":")[0]])
      assert.deepStrictEqual(yield* codes(["get", "a", "nope"]), [3, "NotFoundError"])
      assert.deepStrictEqual(yield* codes(["put", "a", "x", "--insert", "--data", "{}"]), [
        4,
        "ConflictError"
      ])
      assert.deepStrictEqual(yield* codes(["put", "a", "x", "--expected-rev", "7", "--data", "{}"]), [
        4,
        "ConflictError"
      ])
      assert.deepStrictEqual(yield* codes(["put", "a", "../x", "--data", "{}"]), [2, "ValidationError"])
      assert.deepStrictEqual(yield* codes(["put", "a", "x", "--data", "[]"]), [2, "ValidationError"])
      assert.deepStrictEqual(yield* codes(["import", "a", "/nowhere.csv"]), [9, "SourceError"])
      assert.deepStrictEqual(yield* codes(["export", "a", "--to", "/nowhere/x.csv"]), [9, "DestinationError"])
      assert.deepStrictEqual(
        yield* codes(["get", "a", "x", "--api-url", "http://127.0.0.1:1", "--repo", "o/n"]),
        [7, "RemoteError"]
      )
      const nonsense = yield* call(["nonsense"])
      assert.deepStrictEqual(
        [nonsense.code, nonsense.err.split("\n")[1]],
        [2, "chainstore --help shows the commands"]
      )
      const missing = yield* call(["get", "a"])
      assert.strictEqual(missing.code, 2)
      assert.match(missing.err, /^Missing argument <id>\nchainstore get --help shows/)
      assert.strictEqual((yield* call(["doctor", "--repo", "nobody/nothing"])).code, 10)
    })
  )

  it.scopedLive("refuses a number that it cannot hold, by its row and path", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const input = '{"_id":"a","n":1}\n{"_id":"b","deep":{"list":[0,12345678901234567890]}}\n'
      const line = ["import", "big", "-", "--format", "ndjson"]
      const dry = (yield* call([...line, "--dry-run"], { input })).out
        .split("\n")
        .map((text) => JSON.parse(text))
      assert.deepStrictEqual(
        dry.slice(0, 2).map((row) => row.action),
        ["insert", "refuse"]
      )
      assert.include(dry[1].reason, "12345678901234567890 at /deep/list/1")
      const refused = yield* call(line, { input })
      assert.strictEqual(refused.code, 2)
      assert.include(refused.err, "row 2 cannot be imported: the number 12345678901234567890 at /deep/list/1")
      assert.strictEqual((yield* call(["collections"])).code, 3)
      const list = yield* call(["import", "big", "-", "--format", "json"], {
        input: '[{"_id":"a","n":1e400}]'
      })
      assert.include(list.err, "1e400 at /n")
      const csv = "id,n,m\nx,12345678901234567890,7\n12e3,12e3,1.10\n"
      yield* call(["import", "big", "-", "--format", "csv", "--cells", "json", "--id-field", "id"], {
        input: csv
      })
      const stored = (yield* call(["get", "big", "x"])).json()
      assert.deepStrictEqual([stored.n, stored.m], ["12345678901234567890", 7])
      const written = (yield* call(["get", "big", "12e3"])).json()
      assert.deepStrictEqual([written.n, written.m], [12000, 1.1])
    })
  )

  it.scopedLive("takes a backslash and a t for a tab between cells", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      for (const [id, delimiter] of [
        ["a", "\\t"],
        ["b", "\t"]
      ] as const) {
        const input = `_id\tn\n${id}\t1\n`
        yield* call(["import", "things", "-", "--format", "csv", "--delimiter", delimiter], { input })
        assert.strictEqual((yield* call(["get", "things", id])).json().n, "1")
      }
    })
  )

  it.scopedLive("refuses an id field that is no column", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const file = join(directory, "in.csv")
      writeFileSync(file, "sku,name\nA,a\nB,b\n")
      for (const more of [[], ["--dry-run"], ["--cells", "json"], ["--validate", "first"]]) {
        const refused = yield* call(["import", "things", file, "--id-field", "sk", ...more])
        assert.strictEqual(refused.code, 2, refused.out)
        assert.match(
          refused.err,
          /^ValidationError: no record has the field sk for its id: the fields are sku, name\n/
        )
        assert.strictEqual(refused.out, "")
      }
      assert.strictEqual((yield* call(["import", "things", file])).code, 0)
      assert.strictEqual((yield* call(["import", "things", file, "--id-field", "sku"])).code, 0)
      assert.strictEqual((yield* call(["get", "things", "A"])).json().name, "a")
    })
  )

  it.scopedLive("imports with progress and row by row in a dry run, and exports the same records", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const file = join(directory, "in.ndjson")
      writeFileSync(
        file,
        Array.from({ length: 250 }, (_, n) => JSON.stringify({ _id: `d${n}`, n })).join("\n")
      )
      const dry = yield* call(["import", "things", file, "--dry-run"], { terminal: true })
      assert.include(dry.out, "1\tinsert\td0")
      assert.include(dry.out, "250 inserted, 0 replaced, 0 unchanged, 0 refused (nothing was written)")
      const piped = (yield* call(["import", "things", file, "--dry-run"])).out.split("\n")
      assert.strictEqual(piped.length, 251)
      assert.deepStrictEqual(JSON.parse(piped[0]!), { row: 1, id: "d0", action: "insert" })
      assert.deepInclude(JSON.parse(piped[250]!), { records: 250, inserted: 250, refused: 0 })
      const begun = yield* call(["import", "things", file])
      const report = begun.json()
      assert.include(begun.progress, `--import-id ${report.importId}`)
      assert.deepStrictEqual([report.inserted, report.commits.length], [250, 3])
      const again = yield* call(["import", "things", file], { terminal: true })
      assert.include(again.out, "0 inserted, 0 replaced, 250 unchanged")
      assert.include(again.progress, "importing")
      const out = join(directory, "out.ndjson")
      const exported = yield* call(["export", "things", "--to", out, "--columns", "_id,n"], {
        terminal: true
      })
      assert.include(exported.progress, "250/250")
      const back = readFileSync(out, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        back.toSorted((a, b) => a.n - b.n),
        Array.from({ length: 250 }, (_, n) => ({ _id: `d${n}`, n }))
      )
      assert.strictEqual((yield* call(["export", "things", out, "--limit", "2"])).code, 0)
      assert.strictEqual(readFileSync(out, "utf8").trimEnd().split("\n").length, 2)
      const two = yield* call(["export", "things", out, "--to", "x.csv"])
      assert.deepStrictEqual([two.code, two.err.includes("two files are named")], [2, true])
      assert.strictEqual((yield* call(["export", "--to", join(directory, "all.xlsx")])).code, 0)
      assert.strictEqual(readFileSync(join(directory, "all.xlsx")).subarray(0, 2).toString(), "PK")
      const wrong = yield* call(["export", "--to", join(directory, "all.csv")])
      assert.deepStrictEqual([wrong.code, wrong.err.includes("name the collection")], [2, true])
    })
  )
})

describe("help", () => {
  it.scopedLive("of the program and of each command is plain text that fits", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const whole = (yield* call(["--help"])).out
      assert.strictEqual((yield* call([])).out, whole)
      const names = Array.from(whole.matchAll(/^ {2}([a-z][a-z-]*) {2,}[A-Z]/gm), ([, name]) => name!)
      assert.strictEqual(names.length, 29)
      for (const name of names) {
        const help = yield* call([name, "--help"])
        assert.strictEqual(help.code, 0)
        assert.include(help.out, `Usage: chainstore ${name}`)
        if (name === "propose") assert.include(help.out, "propose [OPTIONS] <collection> <id> [<file>]")
        assert.notInclude(help.out, "\u001b")
        assert.notInclude(help.out, "A user-defined piece of text")
        assert.isTrue(
          help.out.split("\n").every((line) => line.length <= 102),
          help.out
        )
      }
      assert.include((yield* call(["import", "a", "b", "-h"])).out, "--import-id TEXT")
      assert.strictEqual((yield* call(["--version"])).out.trim(), "0.0.0")
      for (const shell of ["bash", "fish", "zsh"]) {
        assert.include((yield* call(["--completions", shell])).out, "reindex")
      }
    })
  )
})

describe("optionsFirst", () => {
  it("moves options before operands, with -- between them, and leaves what follows -- alone", () => {
    const ordered = (...args: ReadonlyArray<string>) => optionsFirst(args, new Set(["--json"]))
    assert.deepStrictEqual(ordered("get", "a", "x", "--at", "v1", "--json"), [
      "get",
      "--at",
      "v1",
      "--json",
      "--",
      "a",
      "x"
    ])
    assert.deepStrictEqual(ordered("get", "--json", "a", "--", "--x"), ["get", "--json", "--", "a", "--x"])
    assert.deepStrictEqual(ordered("--help"), ["--help"])
    assert.deepStrictEqual(ordered("import", "a", "-", "--format=csv"), [
      "import",
      "--format",
      "csv",
      "--",
      "a",
      "-"
    ])
  })
})
