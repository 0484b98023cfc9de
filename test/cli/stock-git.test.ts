import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Collection } from "../../src/store/Collection.js"
import * as LocalGit from "../../src/store/remote/local/LocalGit.js"
import { Store } from "../../src/store/Store.js"
import type { StoreService } from "../../src/store/StoreService.js"
import { bundled } from "../support/bundled.js"
import { commandLine } from "./CommandLine.js"

const program = `${process.execPath} ${bundled(new URL("../../src/layers/bin/chainstore.ts", import.meta.url))}`

const environment = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
  GIT_EDITOR: "true"
}

/** A bare repository with a store, and a stock clone of it that is set up to merge documents. */
const clone = (format: 1 | 2) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-stock-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const work = join(directory, "work")
    const bare = join(directory, "a/b.git")
    const { call } = yield* commandLine
    const withStore = <A, E>(branch: string, use: (store: StoreService) => Effect.Effect<A, E>) =>
      Effect.flatMap(Store, use).pipe(
        Effect.provide(
          Layer.provide(
            Store.layer({
              branch,
              format,
              indexes: { things: ["kind"] },
              manifests: { things: ["n"] },
              merge: { things: { list: "set" } }
            }),
            LocalGit.layer({ directory, repo: "a/b", durability: "none" })
          )
        )
      )
    const git = (...line: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", work, ...line], { encoding: "utf8", env: environment })
    const attempt = (...line: ReadonlyArray<string>) =>
      spawnSync("git", ["-C", work, ...line], { encoding: "utf8", env: environment })
    const document = (id: string) => JSON.parse(readFileSync(join(work, `data/things/${id}.json`), "utf8"))
    const things =
      (branch: string) =>
      <A, E>(use: (things: Collection) => Effect.Effect<A, E>) =>
        withStore(branch, (store) => use(store.collection("things")))

    yield* things("main")((all) =>
      Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) => all.insert({ n, kind: `k${n % 3}`, list: [n] }, { id: `d${n}` })
      )
    )
    execFileSync("git", ["clone", "-q", bare, work], { env: environment })
    const initialised = yield* call([
      "init",
      "--git-attributes",
      "--config",
      "--program",
      program,
      "--clone",
      work
    ])
    assert.strictEqual(initialised.code, 0, initialised.err)
    git("add", ".gitattributes")
    git("commit", "-q", "-m", "attributes")
    git("push", "-q", "origin", "HEAD:main")
    git("push", "-q", "origin", "HEAD:feature")
    return { attempt, call, document, git, things, withStore, work }
  })

describe.each([1, 2] as const)("a stock clone with indexes of format %i", (format) => {
  it.scopedLive(
    "merges documents by field, rebuilds what is derived, and rebases",
    () =>
      Effect.gen(function* () {
        const { attempt, call, document, git, things, withStore, work } = yield* clone(format)
        yield* things("main")((all) =>
          Effect.all([
            all.update("d1", { mine: 1, kind: "new" }),
            all.update("d6", { list: [6, 60] }),
            all.delete("d2"),
            all.insert({ n: 100, kind: "k0" }, { id: "ours" })
          ])
        )
        yield* things("feature")((all) =>
          Effect.all([
            all.update("d1", { n: 1000 }),
            all.update("d6", { list: [600, 6] }),
            all.update("d3", { kind: "other" }),
            all.delete("d4"),
            all.insert({ n: 101, kind: "k0" }, { id: "theirs" })
          ])
        )
        git("fetch", "-q", "origin")
        git("checkout", "-q", "-B", "main", "origin/main")
        const merged = attempt("merge", "-m", "merge", "origin/feature")
        const open = git("diff", "--name-only", "--diff-filter=U").split("\n").filter(Boolean)
        assert.deepStrictEqual(
          open.filter((path) => !/^data\/_(index|manifest)\//.test(path)),
          [],
          merged.stdout
        )
        const resolved = yield* call(["resolve", "--clone", work])
        assert.strictEqual(resolved.code, 0, resolved.err)
        assert.match(resolved.out, /of things are rebuilt/)
        assert.strictEqual(git("diff", "--name-only", "--diff-filter=U"), "")
        git("commit", "-q", "--no-edit", "--allow-empty", "-m", "merge")
        assert.deepInclude(document("d1"), { _rev: 3, n: 1000, mine: 1, kind: "new", list: [1] })
        // By the rule that the settings of the repository have.
        assert.sameMembers(document("d6").list, [6, 60, 600])
        git("push", "-q", "origin", "HEAD:main")
        yield* withStore("main", (store) =>
          Effect.gen(function* () {
            const findings = yield* store.doctorWith({ deep: true })
            assert.deepStrictEqual(
              findings.filter(({ severity }) => severity !== "ok"),
              []
            )
            const explained = yield* store.collection("things").explain("kind", "k0")
            assert.deepInclude(explained, { source: "index", current: true })
            const found = yield* store.collection("things").findBy("kind", "k0")
            assert.includeMembers(
              found.map(({ _id }) => _id),
              ["ours", "theirs"]
            )
          })
        )

        // A rebase calls the driver for each commit that it makes again.
        git("checkout", "-q", "-b", "work", "origin/feature")
        const path = join(work, "data/things/d5.json")
        writeFileSync(path, readFileSync(path, "utf8").replace('"n": 5', '"n": 55'))
        git("commit", "-q", "-am", "by hand")
        yield* things("main")((all) => all.update("d5", { kind: "rebased" }))
        git("fetch", "-q", "origin")
        const rebase = attempt("rebase", "origin/main")
        for (let round = 0; round < 10 && git("status").includes("rebase in progress"); round++) {
          const again = yield* call(["resolve", "--clone", work])
          assert.strictEqual(again.code, 0, `${rebase.stdout}${rebase.stderr}${again.err}`)
          if (attempt("rebase", "--continue").status !== 0) attempt("rebase", "--skip")
        }
        assert.deepInclude(document("d5"), { n: 55, kind: "rebased" })
      }),
    120_000
  )

  it.scopedLive(
    "leaves a conflict of one field between markers, and refuses to resolve before it is settled",
    () =>
      Effect.gen(function* () {
        const { attempt, call, document, git, things, work } = yield* clone(format)
        yield* things("main")((all) => all.update("d1", { n: 10, mine: 1 }))
        yield* things("feature")((all) => all.update("d1", { n: 11, theirs: 1 }))
        git("fetch", "-q", "origin")
        git("checkout", "-q", "-B", "main", "origin/main")
        const merged = attempt("merge", "-m", "merge", "origin/feature")
        assert.strictEqual(merged.status, 1)
        assert.match(merged.stderr, /data\/things\/d1\.json: both sides changed n/)
        const path = join(work, "data/things/d1.json")
        const text = readFileSync(path, "utf8")
        assert.match(
          text,
          /"mine": 1,\n<<<<<<< ours\n {2}"n": 10,\n\|\|\|\|\|\|\| base\n {2}"n": 1,\n=======\n {2}"n": 11,\n>>>>>>> theirs\n {2}"theirs": 1\n/
        )
        const early = yield* call(["resolve", "--clone", work])
        assert.strictEqual(early.code, 4)
        assert.match(early.err, /not merged yet: data\/things\/d1\.json/)
        writeFileSync(path, text.replace(/<<<<<<< ours\n(.*\n)[\s\S]*>>>>>>> theirs\n/, "$1"))
        git("add", path)
        assert.strictEqual((yield* call(["resolve", "--clone", work])).code, 0)
        const whole = readFileSync(path, "utf8")
        writeFileSync(path, text)
        git("add", path)
        const marked = yield* call(["resolve", "--clone", work])
        assert.strictEqual(marked.code, 4)
        assert.match(marked.err, /not merged yet: data\/things\/d1\.json/)
        writeFileSync(path, whole)
        git("add", path)
        git("commit", "-q", "-m", "merge")
        assert.deepInclude(document("d1"), { _rev: 3, n: 10, mine: 1, theirs: 1 })
        git("fsck", "--strict")
      }),
    120_000
  )
})

describe("chainstore merge-driver", () => {
  type Content = string | Uint8Array
  const files = (base: Content, ours: Content, theirs: Content, path: string) =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const names = Object.entries({ base, ours, theirs }).map(([name, text]) => {
        writeFileSync(join(directory, name), text)
        return join(directory, name)
      })
      const ran = yield* call(["merge-driver", ...names, path])
      const bytes = readFileSync(join(directory, "ours"))
      return { ...ran, bytes, text: bytes.toString() }
    })

  it.scopedLive("merges what both sides added, and keeps the spelling of numbers", () =>
    Effect.gen(function* () {
      const { code, text } = yield* files("", '{"a": 1.0}', '{"b": 0.12345678901234567890}', "data/c/x.json")
      assert.strictEqual(code, 0)
      assert.strictEqual(text, '{\n  "a": 1.0,\n  "b": 0.12345678901234567890\n}\n')
    })
  )

  it.scopedLive("leaves both sides of a file that is not a document between markers", () =>
    Effect.gen(function* () {
      const { code, text } = yield* files("{}\n", '{"a": 1\n', '{"b": 1}\n', "data/c/x.json")
      assert.strictEqual(code, 4)
      assert.strictEqual(text, '<<<<<<< ours\n{"a": 1\n||||||| base\n{}\n=======\n{"b": 1}\n>>>>>>> theirs\n')
    })
  )

  it.scopedLive("leaves a document in conflict that the merge would make too large to be read", () =>
    Effect.gen(function* () {
      const half = "x".repeat(51 * 1024 * 1024)
      const ours = `{"mine":"${half}","n":1}`
      const { code, err, text } = yield* files(
        '{"n":1}',
        ours,
        `{"n":1,"theirs":"${half}"}`,
        "data/things/d1.json"
      )
      assert.strictEqual(code, 2)
      assert.match(err, /data\/things\/d1\.json: the merged document exceeds 100 MiB/)
      assert.isTrue(text === ours, "our version is as it was")
    })
  )

  it.scopedLive("writes markers around every value in conflict, also where lines would merge", () =>
    Effect.gen(function* () {
      const file = (list: string, n: string) => `{\n  "list": [\n${list}\n  ],\n  "n": ${n}\n}\n`
      const { code, text } = yield* files(
        file("    1,\n    2,\n    3", "1.0"),
        file("    0,\n    2,\n    3", "2.0"),
        file("    1,\n    2,\n    4", "3"),
        "data/c/x.json"
      )
      assert.strictEqual(code, 4)
      const list = (items: string) => `  "list": [\n${items}\n  ],\n`
      assert.strictEqual(
        text,
        `{\n<<<<<<< ours\n${list("    0,\n    2,\n    3")}  "n": 2.0\n||||||| base\n${list("    1,\n    2,\n    3")}  "n": 1.0\n=======\n${list("    1,\n    2,\n    4")}  "n": 3\n>>>>>>> theirs\n}\n`
      )
    })
  )

  it.scopedLive(
    "keeps bytes that are not UTF-8 and a byte order mark, also for a path that begins with a dash",
    () =>
      Effect.gen(function* () {
        const latin = (text: string) => Buffer.from(text, "latin1")
        const lines = yield* files(
          latin("\xe9\n\n1\n"),
          latin("\xe9\n\n2\n"),
          latin("\xe8\n\n1\n"),
          "-x.json"
        )
        assert.deepStrictEqual([lines.code, lines.bytes.toString("latin1")], [0, "\xe8\n\n2\n"], lines.err)
        const marked = yield* files('\ufeff{"a":1}', '\ufeff{"a":2}', '\ufeff{"a":1,"b":1}', "data/c/x.json")
        assert.deepStrictEqual([marked.code, marked.text], [0, '\ufeff{\n  "a": 2,\n  "b": 1\n}\n'])
        const binary = yield* files("\0\n\n1", "\0\n\n2", "\0a\n\n1", "data/c/x.json")
        assert.deepStrictEqual([binary.code, binary.text], [4, "\0\n\n2"])
      })
  )

  it.scopedLive("merges a document in a directory with a name of an index directory", () =>
    Effect.gen(function* () {
      for (const path of ["data/notes/_index/x.json", "_manifest/x.json"]) {
        const { code, text } = yield* files('{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":2}', path)
        assert.deepStrictEqual([code, JSON.parse(text)], [0, { a: 2, b: 2 }])
      }
    })
  )

  it.scopedLive(
    "merges index and manifest files by entry, and lets nobody believe them before a rebuild",
    () =>
      Effect.gen(function* () {
        const index = (values: object, ids: object) =>
          JSON.stringify({ _index: "kind", tree: "0123456789012345678901234567890123456789", values, ids })
        const merged = yield* files(
          index({ a: ["x", "y"] }, { x: ["a"], y: ["a"] }),
          index({ a: ["x", "y", "z"] }, { x: ["a"], y: ["a"], z: ["a"] }),
          index({ a: ["x"], b: ["y"] }, { x: ["a"], y: ["b"] }),
          "data/_index/c/kind.json"
        )
        assert.strictEqual(merged.code, 0)
        assert.deepStrictEqual(JSON.parse(merged.text), {
          _index: "kind",
          values: { a: ["x", "z"], b: ["y"] },
          ids: { x: ["a"], y: ["b"], z: ["a"] }
        })
        const manifest = (ids: ReadonlyArray<string>, documents: object) =>
          JSON.stringify({ tree: "t", ids, documents })
        const listed = yield* files(
          manifest(["x"], { x: { n: 1 } }),
          manifest(["x", "y"], { x: { n: 2 }, y: { n: 1 } }),
          manifest([], {}),
          "data/_manifest/c.json"
        )
        assert.deepStrictEqual([listed.code, JSON.parse(listed.text).ids], [0, ["y"]])
      })
  )
})

describe("chainstore resolve", () => {
  it.scopedLive(
    "leaves no file of a tree that the rebuilt one does not have",
    () =>
      Effect.gen(function* () {
        const { attempt, call, git, withStore, work } = yield* clone(2)
        const rows = Array.from({ length: 600 }, (_, n) => [`r${String(n).padStart(3, "0")}`, n] as const)
        const batch = (branch: string, from: number, put: boolean) =>
          withStore(branch, (store) =>
            store.batch({}, (batch) =>
              Effect.forEach(rows.slice(from), ([id, n]) =>
                put ? batch.put("things", id, { n, kind: id }) : batch.delete("things", id)
              )
            )
          )
        yield* batch("main", 0, true)
        git("fetch", "-q")
        git("push", "-q", "origin", "origin/main:feature", "--force")
        yield* batch("feature", 10, false)
        yield* withStore("main", (store) => store.collection("things").insert({ n: 1, kind: "r5" }))
        git("fetch", "-q")
        git("checkout", "-q", "-B", "main", "origin/main")
        const merged = attempt("merge", "-m", "merge", "origin/feature")
        assert.match(merged.stdout, /\(modify\/delete\): data\/_index\/things\/kind\/rows\//)
        const index = git("ls-files", "-s")
        const settings = join(work, "data/_chainstore.json")
        const text = readFileSync(settings, "utf8")
        writeFileSync(settings, '{"format": 99}')
        git("add", settings)
        assert.notStrictEqual((yield* call(["resolve", "--clone", work])).code, 0)
        writeFileSync(settings, text)
        git("add", settings)
        assert.strictEqual(git("ls-files", "-s"), index, "Git's index after a failure")
        const resolved = yield* call(["resolve", "--clone", work])
        assert.strictEqual(resolved.code, 0, resolved.err)
        git("commit", "-q", "-m", "merge")
        assert.strictEqual(git("status", "--porcelain"), "")
      }),
    120_000
  )

  it.scopedLive("takes the name of a root as it is, and leaves files alone that it would match", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const work = join(directory, "work")
      const git = (...line: ReadonlyArray<string>) =>
        execFileSync("git", ["-C", work, ...line], { encoding: "utf8", env: environment })
      execFileSync("git", ["init", "-q", work])
      const settings = JSON.stringify({ format: 1, indexes: { notes: ["kind"] } })
      mkdirSync(join(work, "d*/notes"), { recursive: true })
      mkdirSync(join(work, "d*/_index/notes"), { recursive: true })
      mkdirSync(join(work, "d2"))
      writeFileSync(join(work, "d*/_chainstore.json"), settings)
      writeFileSync(join(work, "d*/notes/a.json"), '{"kind":"x"}\n')
      writeFileSync(join(work, "d*/_index/notes/kind.json"), "stale")
      writeFileSync(join(work, "d2/_index"), "a file of somebody else")
      git("add", ".")
      git("commit", "-q", "-m", "a root")
      writeFileSync(join(work, "d2/_index"), "edited since")
      const ran = yield* call(["resolve", "--clone", work, "--root", "d*"])
      assert.strictEqual(ran.code, 0, ran.err)
      assert.strictEqual(git("diff", "--cached", "--name-only").trim(), "d*/_index/notes/kind.json")
      assert.strictEqual(readFileSync(join(work, "d2/_index"), "utf8"), "edited since")
    })
  )
})

describe("chainstore init", () => {
  it.scopedLive("writes patterns that Git reads as the root, whatever its name", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const work = join(directory, "work")
      execFileSync("git", ["init", "-q", work])
      for (const root of ["", "my data", "data[1]", "#a", 'say "a"', "a*b", "!a", "a\\b c"]) {
        writeFileSync(join(work, ".gitattributes"), "")
        const ran = yield* call(["init", "--git-attributes", "--clone", work, "--root", root])
        assert.strictEqual(ran.code, 0, ran.err)
        const path = join(root, "notes/x.json")
        const line = ["-C", work, "check-attr", "-z", "merge", "--", path, `other/${path}`]
        const said = execFileSync("git", line, { encoding: "utf8" }).split("\0")
        assert.deepStrictEqual(
          [said[2], said[5]],
          ["chainstore", root === "" ? "chainstore" : "unspecified"],
          root
        )
      }
    })
  )

  it.scopedLive("prints the commands, adds its line once, and does nothing without an option", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const work = join(directory, "work")
      execFileSync("git", ["init", "-q", work])
      writeFileSync(join(work, ".gitattributes"), "*.png binary")
      assert.strictEqual((yield* call(["init", "--clone", work])).code, 2)
      for (const says of [/is written: commit it/, /has it already/]) {
        const done = yield* call(["init", "--git-attributes", "--clone", work])
        assert.match(done.out, says)
        assert.match(done.out, /git config merge\.chainstore\.driver "chainstore merge-driver %O %A %B %P"/)
      }
      assert.strictEqual(
        readFileSync(join(work, ".gitattributes"), "utf8"),
        "*.png binary\ndata/**/*.json merge=chainstore\n"
      )
    })
  )
})
