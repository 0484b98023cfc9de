import { assert, it } from "@effect/vitest"
import { compareValues, JsonOrder } from "../../../src/domain/json/JsonOrder.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"

it("values are ordered by their kind, and within one kind by what they hold", () => {
  const eleven = (second: number, last: number) => [0, 0, second, 0, 0, 0, 0, 0, 0, 0, last]
  const ascending = [
    undefined,
    null,
    false,
    true,
    Number.NEGATIVE_INFINITY,
    -1,
    new LosslessNumber("9007199254740993"),
    new LosslessNumber("9007199254740994"),
    Number.POSITIVE_INFINITY,
    Number.NaN,
    "",
    "a",
    "ab",
    "b",
    [],
    [0],
    eleven(1, 1),
    eleven(2, 0),
    [1],
    {},
    { a: 1 },
    { a: 1, b: 0 },
    { a: 2 },
    { b: 0 }
  ]
  for (const [i, a] of ascending.entries())
    for (const [j, b] of ascending.entries())
      assert.strictEqual(JsonOrder(a, b), Math.sign(i - j), `${i} ${j}`)
})

it("a value is equal to itself", () => {
  for (const value of [undefined, null, true, 1, Number.NaN, "a", [null], { a: null }])
    assert.strictEqual(compareValues(value, value), 0)
})

it("objects are equal whatever the order of their members, and with members that are undefined", () => {
  assert.strictEqual(compareValues({ b: 1, a: 2 }, { a: 2, b: 1 }), 0)
  assert.strictEqual(compareValues({ a: 1, b: undefined } as never, { a: 1 }), 0)
  assert.isBelow(compareValues({ b: 1, a: 2 }, { a: 3, b: 0 }), 0)
})
