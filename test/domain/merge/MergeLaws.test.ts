import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { mergeDocuments } from "../../../src/domain/merge/index.js"
import { rules, triple } from "../../support/mergeTriples.js"

const numRuns = 2000

describe("laws of merging", () => {
  it("the result does not depend on which side merges", () => {
    fc.assert(
      fc.property(triple, fc.boolean(), ({ base, ours, theirs }, hasRules) => {
        const given = hasRules ? rules : {}
        const one = mergeDocuments({ base, ours, theirs }, given)
        const other = mergeDocuments({ base, ours: theirs, theirs: ours }, given)
        assert.strictEqual(one.conflicts.length, other.conflicts.length)
        if (one.conflicts.length === 0) assert.deepStrictEqual(one.document, other.document)
      }),
      { numRuns }
    )
  })
})
