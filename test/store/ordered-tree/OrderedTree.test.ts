import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import { emptyTree, type Oid } from "../../../src/domain/Oid.js"
import { apply, type RowEdit } from "../../../src/store/internal/ordered-tree/Apply.js"
import { build } from "../../../src/store/internal/ordered-tree/Build.js"
import { keyOfRows } from "../../../src/store/internal/ordered-tree/IndexRows.js"
import { type Entry, entryOf, type Row } from "../../../src/store/internal/ordered-tree/Leaf.js"
import type { Limits } from "../../../src/store/internal/ordered-tree/Limits.js"
import { lookup, scan } from "../../../src/store/internal/ordered-tree/Scan.js"
import { StoredTree } from "../../../src/store/internal/ordered-tree/StoredTree.js"
import { verify } from "../../../src/store/internal/ordered-tree/Verify.js"
import { TreeFiles } from "../../support/treeFiles.js"

const keyOf = keyOfRows([{ field: "v" }])

const small: Limits = { leaf: 200, directory: 3 }

const entry = (row: Row): Entry => Either.getOrThrow(entryOf(row, keyOf))

const sorted = (rows: Iterable<Entry>) => [...rows].sort((a, b) => (a.key < b.key ? -1 : 1))

/** A tree made anew of rows. */
const built = (rows: Iterable<Entry>, limits: Limits, tree: Oid = emptyTree, sizes = false) => {
  const files = new TreeFiles(sizes)
  const { files: found } = Effect.runSync(
    build(
      Stream.fromIterable(sorted(rows)),
      tree,
      (content) => Effect.sync(() => files.write(content)),
      limits
    )
  )
  files.edit(found.map(({ file, path }) => ({ _tag: "Link", path, kind: "blob", oid: file })))
  files.written = []
  return files
}

const stored = (files: TreeFiles) => new StoredTree(files.reader, keyOf)

const run = <A, E>(effect: Effect.Effect<A, E>): A => Effect.runSync(effect)

const collect = <E>(rows: Stream.Stream<Entry, E>) =>
  run(Stream.runCollect(Stream.map(rows, ({ key }) => key))).pipe((keys) => [...keys])

const change = (files: TreeFiles, edits: ReadonlyArray<RowEdit>, limits: Limits, tree: Oid = emptyTree) => {
  const applied = run(apply(stored(files), edits, tree, limits))
  files.edit(applied.edits)
  return applied
}

const listed = (files: TreeFiles) => files.list().map(([path, content]) => [path, Buffer.from(content).toString()])

const long = "a common beginning that is longer than a name may be, ".repeat(3)

const row = fc.record({
  v: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 60 }) },
    { weight: 1, arbitrary: fc.constantFrom<Row[string]>(null, true, "A", "é", 1.5, [1], { a: 1 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 30 }).map((n) => `${long}${n}`) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((n) => `${n} `.repeat(120)) }
  ),
  _id: fc.integer({ min: 0, max: 12 }).map((n) => `d${n}`)
})

describe("a tree of small files", () => {
  it("is the same after any writes as one that is made anew, and reads and writes what changed", () => {
    const batch = fc.array(fc.tuple(row, fc.boolean()), { maxLength: 8 })
    const first = fc.array(row, { maxLength: 150 })
    fc.assert(
      fc.property(first, fc.array(batch, { maxLength: 6 }), fc.boolean(), (start, batches, sizes) => {
        const model = new Map(start.map((one) => [entry(one).key, entry(one)]))
        const files = built(model.values(), small, emptyTree, sizes)
        for (const edits of batches) {
          const given = new Map<string, RowEdit>()
          for (const [one, removes] of edits) {
            const put = entry(one)
            if (!removes) given.set(put.key, { key: put.key, entry: put })
            else if (model.has(put.key)) given.set(put.key, { key: put.key, entry: undefined })
          }
          for (const { entry, key } of given.values()) {
            if (entry === undefined) model.delete(key)
            else model.set(key, entry)
          }
          const order = [...given.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
          const { count } = change(files, order, small)
          assert.strictEqual(count, model.size)
          assert.deepStrictEqual(listed(files), listed(built(model.values(), small)))
        }
      }),
      { seed: 19, numRuns: Number(process.env["TREE_RUNS"] ?? 300) }
    )
  })
})

export { collect, lookup, scan, verify }
