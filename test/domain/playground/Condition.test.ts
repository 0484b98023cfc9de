import { assert, describe, it } from "@effect/vitest"
import { Either, ParseResult, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import * as fc from "effect/FastCheck"
import { Condition, matches } from "../../../src/domain/playground/Condition.js"

const problems = (condition: unknown): ReadonlyArray<string> =>
  Either.match(Schema.decodeUnknownEither(Condition)(condition), {
    onLeft: ({ issue }) =>
      ParseResult.ArrayFormatter.formatIssueSync(issue).map(({ message, path }) =>
        [...path, message].join(" ")
      ),
    onRight: () => []
  })

const several = "must have exactly one of equals, lessThan, greaterThan"
const unexpected = "is unexpected: the condition has exactly one of equals, lessThan, greaterThan"
const notFinite = "must be a number that JSON can carry (finite)"

describe("a condition", () => {
  it("has one known comparison with a finite number, and is the same after a way over the wire", () => {
    fc.assert(
      fc.property(Arbitrary.make(Condition), (condition) => {
        assert.lengthOf(Object.keys(condition), 1)
        assert.isTrue(Schema.is(Condition)(condition))
        assert.deepStrictEqual(problems(condition), [])
        assert.strictEqual(Schema.encodeSync(Condition)(condition), condition)
      }),
      // So many that a number which is not finite would be among them.
      { numRuns: 5000 }
    )
    const names = new Set(fc.sample(Arbitrary.make(Condition), 100).flatMap((one) => Object.keys(one)))
    assert.deepStrictEqual([...names].sort(), ["equals", "greaterThan", "lessThan"])
  })

  it("has no other value, and no number of comparisons but one", () => {
    for (const other of [null, undefined, 1, "equals", [], [{ equals: 1 }]]) {
      assert.deepStrictEqual(problems(other), [
        "must be an object with exactly one of equals, lessThan, greaterThan"
      ])
      assert.isFalse(Schema.is(Condition)(other))
    }
    assert.deepStrictEqual(problems({}), [several])
    assert.deepStrictEqual(problems({ equals: 1, lessThan: 1 }), [several])
    assert.deepStrictEqual(problems({ equals: 1, lessThan: 1, greaterThan: 1 }), [several])
  })

  it("has its problems named by the field", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "1", null, undefined]) {
      assert.deepStrictEqual(problems({ lessThan: value }), [`lessThan ${notFinite}`])
    }
    assert.deepStrictEqual(problems({ is: 1 }), [`is ${unexpected}`])
    assert.deepStrictEqual(problems({ is: 1, equals: 1 }), [`is ${unexpected}`])
    assert.deepStrictEqual(problems({ is: 1, equals: "1", lessThan: 1 }), [
      several,
      `is ${unexpected}`,
      `equals ${notFinite}`
    ])
  })

  it("has one more than the thousand problems named that are reported", () => {
    const unknown = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]))
    assert.lengthOf(problems(unknown(1000)), 1000)
    assert.lengthOf(problems(unknown(1001)), 1001)
    assert.lengthOf(problems(unknown(5000)), 1001)
  })
})

it("comparisons are strict, and -0 equals 0", () => {
  assert.isTrue(matches({ equals: 0 }, -0))
  assert.isFalse(matches({ equals: 1 }, 2))
  assert.isFalse(matches({ lessThan: 1 }, 1))
  assert.isFalse(matches({ greaterThan: 1 }, 1))
  assert.isTrue(matches({ lessThan: 0 }, -Number.MIN_VALUE))
  assert.isTrue(matches({ greaterThan: 0 }, Number.MIN_VALUE))
})
