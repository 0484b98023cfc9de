import { assert, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import type { LosslessJson } from "../../../src/domain/json/LosslessJson.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"
import {
  bySpelling,
  byValue,
  namesIn,
  spelledText,
  valueText
} from "../../../src/domain/merge/JsonIdentity.js"

const number = fc.oneof(
  fc.constantFrom(0, -0, 1, 10, 0.1, 1e21, -1e-7),
  fc
    .constantFrom("0.0", "-0", "1.0", "10", "1e1", "100e-1", "1e400", "12345678901234567891")
    .map((text) => new LosslessNumber(text))
)

const { value } = fc.letrec<{ value: LosslessJson }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    number,
    fc.constantFrom(null, true, "", "1"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("value"), { maxKeys: 3 })
  )
}))

it("values are equal where their texts are", () => {
  let equal = 0
  fc.assert(
    fc.property(value, value, fc.boolean(), (a, other, isCopied) => {
      const b = isCopied ? (structuredCopy(a) as LosslessJson) : other
      const [first, second] = [a, b].map((value) => Steps.runSync(valueText(value)))
      if (first === second) equal++
      const isSame = Steps.runSync(byValue().isSame(a, b))
      assert.strictEqual(isSame, first === second, `${first} ${second}`)
    }),
    { numRuns: 3000 }
  )
  assert.isAbove(equal, 500)
})

/** The same with other objects, and with numbers written otherwise. */
const structuredCopy = (value: LosslessJson): LosslessJson => {
  if (value instanceof LosslessNumber) return new LosslessNumber(value.text)
  if (typeof value === "number")
    return Number.isInteger(value) && Math.abs(value) < 1e9 ? new LosslessNumber(`${value}.0`) : value
  if (Array.isArray(value)) return value.map(structuredCopy)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, structuredCopy(member as LosslessJson)])
  )
}

/** The number of pauses, and the result. */
const paused = <A>(steps: Steps.Steps<A>): readonly [pauses: number, result: A] => {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next()
    if (step.done === true) return [pauses, step.value]
  }
}

const numbers = (length: number) => Array.from({ length }, (_, at) => at)
const members = <A>(length: number, value: (at: number) => A) =>
  Object.fromEntries(numbers(length).map((at) => [`m${at}`, value(at)]))

it("large values are read and compared with a pause after every so many members", () => {
  const length = 10 * Steps.stepSize
  const [object, list] = [members(length, (at) => at), numbers(length)]
  const [pauses, names] = paused(namesIn(object, undefined, { one: 1 }))
  assert.deepStrictEqual([pauses, names.size], [10 + 3, length + 1])
  assert.strictEqual(paused(spelledText(list))[0], 10)
  assert.strictEqual(paused(valueText([list, list]))[0], 20)
  for (const compare of [bySpelling, byValue]) {
    assert.deepStrictEqual(paused(compare().isSame(list, [...list])), [10, true])
    // The names of both objects are visited, the members of the first one.
    assert.deepStrictEqual(paused(compare().isSame(object, { ...object })), [20, true])
  }
  const nested = () => members(1000, () => numbers(20))
  assert.isBelow(paused(byValue().isSame(nested(), nested()))[0], 22_500 / Steps.stepSize)
})

it("what was found of two large values is known when they are compared again", () => {
  const length = 10 * Steps.stepSize
  for (const [a, same, other] of [
    [numbers(length), numbers(length), [...numbers(length - 1), -1]],
    [members(length, (at) => at), members(length, (at) => at), members(length, (at) => at % (length - 1))],
    [{ deep: [numbers(length)] }, { deep: [numbers(length)] }, { deep: [[...numbers(length - 1), -1]] }]
  ] as ReadonlyArray<readonly [LosslessJson, LosslessJson, LosslessJson]>) {
    const comparison = byValue()
    for (const [b, isSame] of [
      [same, true],
      [other, false]
    ] as const) {
      const [pauses, first] = paused(comparison.isSame(a, b))
      assert.isAtLeast(pauses, 10)
      assert.strictEqual(first, isSame)
      assert.deepStrictEqual(paused(comparison.isSame(a, b)), [0, isSame])
      assert.strictEqual(Steps.runSync(comparison.isSame(b, a)), isSame)
    }
    assert.deepStrictEqual(paused(comparison.isSame(a, same)), [0, true])
  }
})

it("two lists of 32 items are compared once, however often they occur", () => {
  const [one, other] = [numbers(32), numbers(32)]
  const found = paused(byValue().isSame(Array(5000).fill(one), Array(5000).fill(other)))
  assert.deepStrictEqual(found, [Math.floor(5032 / Steps.stepSize), true])
})

it("members that objects inherit are not theirs", () => {
  const [named, bare] = [JSON.parse('{"__proto__": {}}'), {}] as const
  for (const compare of [bySpelling, byValue]) {
    assert.isFalse(Steps.runSync(compare().isSame(named, bare)))
    assert.isFalse(Steps.runSync(compare().isSame(bare, named)))
    assert.isFalse(Steps.runSync(compare().isSame({ constructor: null }, bare)))
  }
})
