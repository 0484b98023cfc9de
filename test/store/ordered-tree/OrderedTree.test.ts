import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Stream } from "effect"
import * as fc from "fast-check"
import { emptyTree, Oid } from "../../../src/domain/identifiers/Oid.js"
import { afterPrefix, equalKeyRange } from "../../../src/domain/indexes/SortKey.js"
import * as GitObject from "../../../src/git/GitObject.js"
import { applyEdits, type RowEdits } from "../../../src/store/internal/ordered-tree/ApplyEdits.js"
import { BrokenTree } from "../../../src/store/internal/ordered-tree/BrokenTree.js"
import { buildTree } from "../../../src/store/internal/ordered-tree/Build.js"
import { fileEdits } from "../../../src/store/internal/ordered-tree/FileEdits.js"
import { parseHeader, printHeader } from "../../../src/store/internal/ordered-tree/Header.js"
import { keyOfRows } from "../../../src/store/internal/ordered-tree/IndexRows.js"
import { type Entry, entryOf, type Row } from "../../../src/store/internal/ordered-tree/Leaf.js"
import { run } from "../../../src/store/internal/ordered-tree/ReadSteps.js"
import { type ScanRange, scan } from "../../../src/store/internal/ordered-tree/Scan.js"
import { StoredTree } from "../../../src/store/internal/ordered-tree/StoredTree.js"
import { formatLimits, type TreeLimits } from "../../../src/store/internal/ordered-tree/TreeLimits.js"
import { verifyTree } from "../../../src/store/internal/ordered-tree/Verify.js"
import { built, nothingKnown, small, sorted } from "../../support/orderedTree.js"
import { TreeFiles } from "../../support/treeFiles.js"

const keyOf = keyOfRows([{ path: "v", order: "asc" }])

const entry = (row: Row): Entry => Either.getOrThrow(entryOf(row, keyOf))

const byKey = (rows: Iterable<Row>) => new Map(Array.from(rows, entry).map((one) => [one.key, one]))

const opened = ({ reader }: TreeFiles) =>
  Effect.map(
    run(reader, () => StoredTree.open({ reader, path: "", keyOf, known: nothingKnown() })),
    (tree) => tree!
  )

const rowsIn = (files: TreeFiles, range?: ScanRange) =>
  Stream.unwrap(Effect.map(opened(files), (tree) => scan(tree, range)))

const rowIn = (files: TreeFiles, key: string) =>
  Effect.map(Stream.runHead(rowsIn(files, { from: key })), (first) =>
    Option.getOrUndefined(Option.filter(first, (one) => one.key === key))
  )

const change = (files: TreeFiles, edits: RowEdits, limits: TreeLimits = small) =>
  Effect.gen(function* () {
    const tree = yield* opened(files)
    const applied = yield* run(files.reader, () => applyEdits(tree, edits, emptyTree, limits))
    const single = yield* run(files.reader, () => fileEdits("", applied.edits))
    const before = files.root
    if (limits === small) {
      // A file that stays where it is is not written again.
      for (const edit of single) {
        assert.include(["Put", "Link", "Remove"], edit._tag)
        if (edit._tag === "Remove" || edit.path === "_header.json") continue
        const oid = edit._tag === "Link" ? edit.oid : GitObject.hash("blob", edit.content)
        const now = files.file(edit.path)
        assert.notStrictEqual(now && GitObject.hash("blob", now), oid, edit.path)
      }
    }
    files.edit(single)
    const { oid } = files.directory("")
    files.root = before
    files.edit(applied.edits)
    assert.strictEqual(files.directory("").oid, oid)
    assert.isTrue(single.every((edit) => edit._tag === "Put" || edit.kind === "blob"))
    return applied
  })

const listed = (files: TreeFiles) =>
  files.list().map(([path, content]) => [path, Buffer.from(content).toString()])

const long = "a common beginning that is longer than a name may be, ".repeat(3)

const row = fc.record({
  v: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 60 }) },
    { weight: 1, arbitrary: fc.constantFrom<Row[string]>(null, true, "A", "é", 1.5, [1], { a: 1 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 30 }).map((n) => `${long}${n}`) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((n) => `${n} `.repeat(120)) }
  ),
  // No part of the key: a row may be replaced by a longer or a shorter one.
  note: fc.constantFrom("", "long ".repeat(30)),
  _id: fc.integer({ min: 0, max: 12 }).map((n) => `d${n}`)
})

/** Bytes and texts that are the same for the same number. */
const words = (n: number) => `${(n * 2654435761) % 4294967296}`

describe("a tree of small files", () => {
  it("is the same after any writes as one that is made anew", async () => {
    // A number removes one of the rows that are there, and a list makes one shorter.
    const batch = fc.array(fc.oneof(row, fc.tuple(fc.nat(200)), fc.nat(200), fc.nat(200)), { maxLength: 8 })
    const first = fc.array(row, { maxLength: 150 })
    await fc.assert(
      fc.asyncProperty(first, fc.array(batch, { maxLength: 6 }), fc.boolean(), (start, batches, sizes) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const model = byKey(start)
            const files = yield* built(model.values(), small, sizes)
            for (const edits of batches) {
              const given = new Map<string, Entry | undefined>()
              const keys = [...model.keys()]
              for (const one of edits) {
                if (typeof one === "number") {
                  if (keys.length > 0) given.set(keys[one % keys.length]!, undefined)
                  continue
                }
                const was = Array.isArray(one) ? model.get(keys[one[0] % keys.length] ?? "")?.row : one
                if (was === undefined) continue
                const put = entry(Array.isArray(one) ? { ...was, note: "" } : was)
                given.set(put.key, put)
              }
              for (const [key, entry] of given) {
                if (entry === undefined) model.delete(key)
                else model.set(key, entry)
              }
              const { count } = yield* change(files, given)
              assert.strictEqual(count, model.size)
              assert.deepStrictEqual(listed(files), listed(yield* built(model.values())))
            }
          })
        )
      ),
      { seed: 19, numRuns: 120 }
    )
  })

  it("gives the rows of any range in order, from both ends, and each by its key", async () => {
    const bound = fc.option(
      row.map((one) => entry(one).key),
      { nil: undefined }
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 150 }),
        bound,
        bound,
        fc.boolean(),
        fc.nat(20),
        (rows, from, until, reverse, limit) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const model = byKey(rows)
              const files = yield* built(model.values())
              const expected = sorted(model.values())
                .filter(
                  ({ key }) => (from === undefined || key >= from) && (until === undefined || key < until)
                )
                .map(({ line }) => line)
              if (reverse) expected.reverse()
              const found = rowsIn(files, { from, until, reverse })
              const taken = yield* Stream.runCollect(Stream.take(found, limit))
              const all = yield* Stream.runCollect(found)
              assert.deepStrictEqual(
                Array.from(all, ({ line }) => line),
                expected
              )
              assert.deepStrictEqual(
                Array.from(taken, ({ line }) => line),
                expected.slice(0, limit)
              )
              for (const key of [from, until]) {
                if (key === undefined) continue
                assert.strictEqual((yield* rowIn(files, key))?.line, model.get(key)?.line)
              }
            })
          )
      ),
      { seed: 19, numRuns: 80 }
    )
  })

  it.effect("costs an insert the same at 500 and at 20,000 rows, and names every file safely", () =>
    Effect.gen(function* () {
      for (const count of [500, 20_000]) {
        const rowAt = (n: number) => entry({ v: words(n), _id: `D${n}` })
        const files = yield* built(
          Array.from({ length: count }, (_, n) => rowAt(n)),
          formatLimits
        )
        assert.isAtMost(files.widest(), formatLimits.directory + 1)
        for (const [path, content] of files.list()) {
          if (path !== "_header.json")
            assert.match(path, /^([a-z0-9][-_a-z0-9]*\/)*[a-z0-9][-_a-z0-9]*\.json$/)
          assert.isFalse(/(^|\/)(con|prn|aux|nul|com\d|lpt\d)[./]/.test(path), path)
          assert.isAtMost(content.length, formatLimits.leaf + 3)
        }
        const puts: Array<number> = []
        for (let n = count; n < count + 60; n++) {
          const one = rowAt(n)
          files.written = []
          files.read = []
          const { edits } = yield* change(files, new Map([[one.key, one]]), formatLimits)
          assert.isAtMost(
            files.written.reduce((sum, { length }) => sum + length, 0),
            40_000
          )
          puts.push(edits.filter(({ _tag }) => _tag === "Put").length)
          assert.isAtMost(edits.length, 2 * formatLimits.directory)
          assert.isAtMost(files.read.length, 16)
        }
        puts.sort((a, b) => a - b)
        assert.strictEqual(puts[30], 2)
        assert.isAtMost(puts[59]!, 8)
      }
    })
  )

  it.effect("is read no further than an edit needs", () =>
    Effect.gen(function* () {
      const rowAt = (n: number) => entry({ v: words(n), _id: `D${n}` })
      const count = 250
      const files = yield* built(Array.from({ length: count }, (_, n) => rowAt(n)))
      const reads = { insert: 0, removal: 0, change: 0 }
      for (let n = 0; n < 60; n++) {
        for (const [kind, edits] of [
          ["insert", [[rowAt(count + n).key, rowAt(count + n)]]],
          ["removal", [[rowAt(n).key, undefined]]],
          [
            "change",
            [
              [rowAt(count + n).key, undefined],
              [rowAt(count + n + 1000).key, rowAt(count + n + 1000)]
            ]
          ]
        ] as const) {
          const tree = yield* opened(files)
          files.read = []
          const applied = yield* run(files.reader, () => applyEdits(tree, new Map(edits), emptyTree, small))
          reads[kind] += files.read.length
          files.edit(applied.edits)
        }
      }
      // Eight reads an insert, twelve a removal: of four levels, those of the group and of its neighbours.
      assert.isAtMost(reads.insert, 493)
      assert.isAtMost(reads.removal, 717)
      assert.isAtMost(reads.change, 975)
    })
  )

  it.effect("has the files that the format says, which others must find again", () =>
    Effect.gen(function* () {
      const cities = ["Amsterdam", "Berlin", "Cairo", "London", "Oslo"]
      const byCity = keyOfRows([{ path: "city", order: "asc" }])
      const rows = Array.from({ length: 20_000 }, (_, n) => {
        const id = String((n * 7919) % 20_000).padStart(5, "0")
        return Either.getOrThrow(entryOf({ _id: `user-${id}`, city: cities[n % 5]! }, byCity))
      })
      const files = yield* built(rows, formatLimits)
      assert.strictEqual(files.list().length, 209)
      // As `git rev-parse HEAD:data/_index/people/city/rows` named the directory of these files.
      assert.strictEqual(files.directory("rows").oid, "5ba433bb8d3032671475d121d1197df3c2b923fe")
      const header = JSON.parse(Buffer.from(files.file("_header.json")!).toString())
      const expected = { count: 20_000, format: 2, rows: files.directory("rows").oid, tree: emptyTree }
      assert.deepStrictEqual(header, expected)
    })
  )

  it.effect(
    "takes a hundred thousand rows of one value, and values of 10 kB that differ in their last letter",
    () =>
      Effect.gen(function* () {
        const equal = Array.from({ length: 100_000 }, (_, n) => entry({ v: "the same", _id: `d${words(n)}` }))
        const huge = Array.from({ length: 40 }, (_, n) =>
          entry({ v: `${"x".repeat(10_000)}${words(n)}`, _id: `d${n}` })
        )
        const files = yield* built([...equal, ...huge], formatLimits)
        for (const [path] of files.list()) {
          for (const name of path.split("/")) assert.isAtMost(name.length, 143)
        }
        assert.isAtMost(files.widest(), formatLimits.directory + 1)
        const [same] = equalKeyRange("the same")
        const all = yield* Stream.runCount(rowsIn(files, { from: same, until: afterPrefix(same) }))
        assert.strictEqual(all, equal.length)
        for (const { key, line } of huge) {
          assert.strictEqual((yield* rowIn(files, key))?.line, line)
        }
        const fewer = equal.slice(0, 10_000)
        const smaller = yield* built([...fewer, ...huge], formatLimits)
        const gone = [...fewer.slice(0, 5), ...huge.slice(5)]
        yield* change(smaller, new Map(gone.map(({ key }) => [key, undefined])), formatLimits)
        assert.deepStrictEqual(
          listed(smaller),
          listed(yield* built([...fewer.slice(5), ...huge.slice(0, 5)], formatLimits))
        )
      }),
    60_000
  )

  it.effect("notices every change by others, and a comparison names the files", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 40 }, (_, n) => entry({ v: n, _id: `d${n}` }))
      const compared = (files: TreeFiles, tree = emptyTree) =>
        verifyTree(files.reader, "", Stream.fromIterable(rows), tree, small)
      const whole = yield* built(rows)
      assert.deepStrictEqual(yield* compared(whole), [])
      assert.deepStrictEqual(yield* compared(whole, Oid.make("1".repeat(40))), [
        { path: "_header.json", problem: "different" }
      ])
      const leaf = whole.list().find(([path]) => path.split("/").length > 2 && !path.endsWith("/0.json"))![0]
      const text = Buffer.from(whole.file(leaf)!).toString()
      const lines = text.trimEnd().split("\n")
      const damages: ReadonlyArray<string | undefined> = [
        undefined,
        "",
        "[]\n",
        "not JSON",
        "[1]\n",
        '[\n{"v": 1}\n]\n',
        JSON.stringify(JSON.parse(text), null, 2),
        [lines[0], `${lines[1]},`, lines[1], "]", ""].join("\n"),
        text.slice(0, -4),
        '[\n{"_id": "d99", "v": 99}\n]\n'
      ]
      for (const damage of damages) {
        const files = yield* built(rows)
        files.edit([
          damage === undefined
            ? { _tag: "Remove", path: leaf, kind: "blob" }
            : { _tag: "Put", path: leaf, content: Buffer.from(damage) }
        ])
        const problem = damage === undefined ? "missing" : "different"
        assert.deepStrictEqual(yield* compared(files), [{ path: leaf, problem }])
        const found = yield* Effect.flip(Stream.runCount(rowsIn(files)))
        assert.strictEqual(found.message, "rows was changed by another program")
        if (damage === undefined) continue
        // Even where the header has been made to fit.
        const header = { tree: emptyTree, rows: files.directory("rows").oid, count: rows.length }
        files.edit([{ _tag: "Put", path: "_header.json", content: printHeader(header) }])
        const read = yield* Effect.flip(Stream.runCount(rowsIn(files)))
        assert.strictEqual(read.path, leaf, damage)
      }
      const others = new Map(rows.map(({ key }) => [key, undefined]))
      for (const path of ["_header.json", "rows/README.md", "rows/0/other"]) {
        const files = yield* built(rows)
        files.edit([{ _tag: "Put", path, content: Buffer.from("{}") }])
        assert.instanceOf(yield* Effect.flip(change(files, others)), BrokenTree)
      }
      const absent = entry({ v: 1000, _id: "d1000" })
      const failure = yield* Effect.flip(change(whole, new Map([[absent.key, undefined]])))
      assert.match(failure.message, /lacks a row that is to be removed$/)
    })
  )
})

describe("a tree in a directory of its own", () => {
  it.effect("is read, changed and compared there", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 40 }, (_, n) => entry({ v: n, _id: `d${n}` }))
      const files = new TreeFiles()
      const index = '{"fields": ["v"]}'
      const root = "data/_index/v"
      const made = yield* buildTree(
        Stream.fromIterable(sorted(rows)),
        emptyTree,
        (content) => Effect.sync(() => files.write(content)),
        small,
        index
      )
      const links = made.files.map(
        ({ oid, path }) => ({ _tag: "Link", path: `${root}/${path}`, kind: "blob", oid, from: path }) as const
      )
      files.edit(links)
      assert.deepStrictEqual(
        yield* verifyTree(files.reader, root, Stream.fromIterable(sorted(rows)), emptyTree, small, index),
        []
      )
      const { reader } = files
      const stored = yield* run(reader, () =>
        StoredTree.open({ reader, path: root, keyOf, known: nothingKnown() })
      )
      assert.deepStrictEqual(
        Array.from(yield* Stream.runCollect(scan(stored!)), ({ line }) => line),
        [...sorted(rows).map(({ line }) => line)]
      )
      assert.strictEqual(stored!.header.index, index)
      const none = yield* run(reader, () => applyEdits(stored!, new Map(), emptyTree, small))
      assert.deepStrictEqual(none, { count: 40, edits: [] })
      // The documents changed, and the rows did not: the header alone is written.
      const other = Oid.make("1".repeat(40))
      const { edits } = yield* run(reader, () => applyEdits(stored!, new Map(), other, small))
      const header = { ...stored!.header, tree: other }
      assert.deepStrictEqual(edits, [{ _tag: "Put", path: "_header.json", content: printHeader(header) }])
      assert.isUndefined(
        yield* run(reader, () =>
          StoredTree.open({ reader, path: "data/_index/w", keyOf, known: nothingKnown() })
        )
      )
    })
  )
})

describe("the header of a tree", () => {
  const header = { tree: emptyTree, rows: emptyTree, count: 3, index: undefined }
  const read = (given: object) => parseHeader(Buffer.from(JSON.stringify(given)))
  const valid = { format: 2, tree: emptyTree, rows: emptyTree, count: 3 }

  it("is read as it was written, with the definition of its index or without one", () => {
    assert.deepStrictEqual(parseHeader(printHeader(header)), Either.right(header))
    const indexed = { ...header, index: '{"fields": ["v"]}' }
    assert.deepStrictEqual(parseHeader(printHeader(indexed)), Either.right(indexed))
    assert.deepStrictEqual(read({ ...valid, count: 0 }), Either.right({ ...header, count: 0 }))
  })

  it("is refused with the reason if it is of another format, or lacks one of its members", () => {
    const refused = (given: object) => Either.getOrThrow(Either.flip(read(given)))
    assert.strictEqual(refused({ ...valid, format: 3 }), "is of format 3, not 2")
    for (const wrong of [undefined, 1, "main"]) {
      assert.strictEqual(refused({ ...valid, tree: wrong }), "names no tree of the collection")
      assert.strictEqual(refused({ ...valid, rows: wrong }), "names no directory of rows")
    }
    for (const count of [undefined, "3", -1, 0.5, 1e300]) {
      assert.strictEqual(refused({ ...valid, count }), "has no count of rows")
    }
  })
})
