import { assert, it } from "@effect/vitest"
import { Option } from "effect"
import { mergedIn, settlementIn } from "../../../src/domain/merge/RuleResults.js"

it("what a merge function returned wrongly is named with its place, a long text by its beginning", () => {
  assert.throws(
    () => mergedIn("x".repeat(50), []),
    `the rule for the document returned "${"x".repeat(40)}": `
  )
  assert.throws(() => mergedIn(1, ["a", 0]), "the rule for a.0 returned a number: ")
  assert.throws(
    () =>
      mergedIn(
        Option.some(() => 1),
        ["a"]
      ),
    "a value that is not JSON"
  )
})

it("a settlement is an object with a value", () => {
  const settlement = { value: 1 }
  assert.strictEqual(settlementIn(settlement, ["a"]), settlement)
  assert.throws(
    () =>
      settlementIn(
        Object.assign(() => 1, { value: 1 }),
        ["a"]
      ),
    "settle for a returned a function: "
  )
})
