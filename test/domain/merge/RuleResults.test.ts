import { assert, it } from "@effect/vitest"
import { Option } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"
import * as RuleResults from "../../../src/domain/merge/RuleResults.js"

type Merged = Parameters<typeof RuleResults.mergedIn>[2]

const mergedIn = (returned: unknown, path: ReadonlyArray<string | number>, merged: Merged = []) =>
  Steps.runSync(RuleResults.mergedIn(returned, path, merged))

const settlementIn = (returned: unknown, path: ReadonlyArray<string | number>, merged: Merged = []) =>
  Steps.runSync(RuleResults.settlementIn(returned, path, merged))

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

it("a function may return every number but the rounded one of a value that it merged", () => {
  const account = { account: new LosslessNumber("12345678901234567890") }
  const rounded = { account: Number(account.account.text) }
  for (const merged of [
    [account, undefined, {}],
    [undefined, account, {}],
    [{}, undefined, account]
  ]) {
    assert.throws(
      () => mergedIn(Option.some([rounded]), ["a"], merged),
      "the rule for a returned a value that changes the number 12345678901234567890: it must return an Option"
    )
    assert.throws(
      () => settlementIn({ value: rounded }, ["a"], merged),
      'settle for a returned a value that changes the number 12345678901234567890: it must return "ours"'
    )
    for (const given of [1, { account: "12345678901234567890" }, undefined]) {
      assert.deepStrictEqual(mergedIn(Option.some(given), ["a"], merged), Option.some(given))
      assert.deepStrictEqual(settlementIn({ value: given }, ["a"], merged), { value: given })
    }
  }
  // Another spelling of a number is no other number.
  assert.deepStrictEqual(mergedIn(Option.some(10), [], [new LosslessNumber("10.0")]), Option.some(10))
})
