import { assert, it } from "@effect/vitest"
import { describeViolation, valueInMessage } from "../../../src/domain/indexes/UniqueViolation.js"

it("a violation of a unique index is a sentence with both documents, the index and the value", () => {
  const violation = { collection: "people", index: "mail", value: "ada@example.org", id: "a", other: "b" }
  assert.strictEqual(
    describeViolation(violation),
    'people/a would have the value "ada@example.org" of the unique index mail, which people/b has'
  )
})

it("a value in a message is JSON in one line, and a long one is cut", () => {
  assert.strictEqual(valueInMessage({ b: [1, null], a: "x" }), '{"a": "x", "b": [1, null]}')
  assert.strictEqual(valueInMessage("x".repeat(98)), `"${"x".repeat(98)}"`)
  assert.strictEqual(valueInMessage("x".repeat(99)), `"${"x".repeat(99)}...`)
  assert.strictEqual(valueInMessage(Number.NaN), "?")
})
