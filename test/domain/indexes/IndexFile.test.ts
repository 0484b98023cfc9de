import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Oid } from "../../../src/domain/identifiers/Oid.js"
import {
  applyToIndex,
  type DocumentChange,
  emptyIndex,
  type IndexFile,
  parseIndex
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

  it("that another program wrote is read as far as it is one", () => {
    const parsed = (file: unknown) => parseIndex(new TextEncoder().encode(JSON.stringify(file)))
    for (const none of [null, [], 1, "text"]) assert.isUndefined(parsed(none))
    for (const file of [{}, { values: null, ids: [["x"]], _index: 1, tree: null }, { values: 1, ids: "x" }])
      assert.deepStrictEqual(parsed(file), { ...emptyIndex, field: undefined })
    const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    const values = { a: ["x"], b: "x", c: { d: ["x"] }, e: null, f: 1 }
    assert.deepStrictEqual(parsed({ _index: "s", values, ids: { x: ["a"] }, tree }), {
      values: new Map([["a", ["x"]]]),
      ids: new Map([["x", ["a"]]]),
      field: "s",
      tree: Oid.make(tree)
    })
  })

  it("whose ids and values disagree loses what it lists of a document that changes", () => {
    const index = { ...emptyIndex, ids: new Map([["x", ["gone"]]]), values: new Map([["other", ["x"]]]) }
    const after = applyToIndex(index, "s", [{ id: "x", document: { s: "new" } }])
    assert.deepStrictEqual(contents(after), { ids: { x: ["new"] }, values: { other: ["x"], new: ["x"] } })
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
