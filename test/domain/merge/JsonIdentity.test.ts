import { assert, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import type { LosslessJson } from "../../../src/domain/json/LosslessJson.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"
import { byValue, valueText } from "../../../src/domain/merge/JsonIdentity.js"

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
