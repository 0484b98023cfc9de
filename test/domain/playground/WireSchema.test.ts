import { assert, it } from "@effect/vitest"
import { Either, ParseResult, Schema } from "effect"
import * as WireSchema from "../../../src/domain/playground/WireSchema.js"

const message = (schema: Schema.Schema<any>, given: unknown): string =>
  Either.match(Schema.decodeUnknownEither(schema)(given), {
    onLeft: ({ issue }) => ParseResult.TreeFormatter.formatIssueSync(issue),
    onRight: () => "valid"
  })

it("a value of the wire is named in the message of its problem only by its kind", () => {
  const secret = ["secret"]
  for (const [schema, expected] of [
    [WireSchema.Text, "must be a string"],
    [WireSchema.Numeric, "must be a number that JSON can carry (finite)"],
    [WireSchema.Int32, "must be an integer within int32 (-2147483648 to 2147483647)"],
    [WireSchema.oneOf("a", 'b"'), 'must be one of "a", "b\\""'],
    [WireSchema.NullableText, "must be a string or null"]
  ] as const) {
    for (const given of [secret, { secret }, undefined]) {
      assert.strictEqual(message(schema, given), expected)
    }
  }
})

it("an int32 is an integer within its bounds", () => {
  for (const n of [0, -0, 7.0, 2147483647, -2147483648])
    assert.strictEqual(message(WireSchema.Int32, n), "valid")
  for (const n of [0.5, 2147483648, -2147483649, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.include(message(WireSchema.Int32, n), "must be an integer")
  }
})

it("one of some texts is none but these", () => {
  const schema = WireSchema.oneOf("a", "b")
  for (const text of ["a", "b"]) assert.strictEqual(message(schema, text), "valid")
  for (const text of ["", "A", "c", "a, b"]) assert.include(message(schema, text), "must be one of")
})
