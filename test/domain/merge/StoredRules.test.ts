import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { mergeRulesProblem } from "../../../src/domain/merge/MergeRules.js"
import { areStoredRules } from "../../../src/domain/merge/StoredRules.js"

const { fields } = fc.letrec((tie) => ({
  fields: fc.dictionary(fc.constantFrom("a", "a.b", "*", "__proto__"), tie("rule"), { maxKeys: 3 }),
  rule: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("whole", "set", "sequence", "lines", "counter", "sets", "", 1, null, true, [], {}),
    fc.record({ key: fc.constantFrom("id", "", 1) }),
    fc.record({ sequence: fc.constantFrom("conflict", "byContent", "set", null) }),
    fc.record({ key: fc.constantFrom("id", undefined), fields: tie("fields") }),
    fc.record({ key: fc.constant("id"), fields: fc.constantFrom(undefined, null, []) }),
    fc.record({ key: fc.constant("id"), keys: fc.constant("id") }),
    fc.record(
      {
        key: fc.constantFrom("id", ""),
        sequence: fc.constantFrom("conflict", "set"),
        fields: fc.constantFrom({}, null, { a: "set" })
      },
      { requiredKeys: [] }
    )
  )
}))

describe("rules of merging that are stored", () => {
  it.prop("are the rules that a program may give, without functions", [fields], ([given]) => {
    assert.strictEqual(areStoredRules(given), mergeRulesProblem({ fields: given }) === undefined)
  })

  it("are data", () => {
    const circular: Record<string, unknown> = {}
    circular["a"] = { fields: circular }
    assert.isFalse(areStoredRules(circular))
    assert.isFalse(areStoredRules({ a: () => undefined }))
    for (const wrong of [["set"], "", 1, null]) assert.isFalse(areStoredRules(wrong))
    assert.isTrue(areStoredRules({ a: { sequence: "byContent" } }))
    assert.isTrue(areStoredRules({}))
  })
})
