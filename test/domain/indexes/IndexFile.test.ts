import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  applyToIndex,
  type DocumentChange,
  emptyIndex,
  type IndexFile
} from "../../../src/domain/indexes/IndexFile.js"

const contents = ({ ids, values }: IndexFile) => ({
  ids: Object.fromEntries(ids),
  values: Object.fromEntries(values)
})

const documents = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
    document: fc.option(
      fc.record({ s: fc.oneof(fc.constantFrom(1, 2, "x"), fc.array(fc.constantFrom(1, 2, "x"))) }),
      { nil: undefined }
    )
  }),
  { selector: ({ id }) => id }
)

describe("an index", () => {
  it("is the same after changes as one that is made anew", () => {
    fc.assert(
      fc.property(fc.array(documents, { maxLength: 4 }), (commits) => {
        const all = new Map<string, DocumentChange>()
        for (const change of commits.flat()) all.set(change.id, change)
        const kept = commits.reduce((index, changes) => applyToIndex(index, "s", changes), emptyIndex)
        assert.deepStrictEqual(contents(kept), contents(applyToIndex(emptyIndex, "s", [...all.values()])))
      })
    )
  })

  it("takes the change of a value that many documents have in a time that grows with their number", () => {
    const many = (s: string) =>
      Array.from({ length: 60_000 }, (_, n): DocumentChange => ({ id: `d${n}`, document: { s } }))
    const before = applyToIndex(emptyIndex, "s", many("open"))
    const start = performance.now()
    const after = applyToIndex(before, "s", many("done"))
    assert.isBelow(performance.now() - start, 8_000)
    assert.deepStrictEqual([...after.values.keys()], ["done"])
    assert.strictEqual(after.values.get("done")?.length, 60_000)
  })
})
