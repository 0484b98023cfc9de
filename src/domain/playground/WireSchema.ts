import * as Schema from "effect/Schema"

// The messages never contain the value, which may be deeply nested, very large or secret.
const says = (message: string) => ({ message: () => ({ message, override: true }) })

/** The maximum number of reported problems of one body. A body of 1 MiB can have a million. */
export const maxProblems = 1000

/** The annotation of a declared schema with an equivalent schema. Generated validators use that; the declared schema makes the messages. */
export const EquivalentSchema: unique symbol = Symbol.for("chainstore/EquivalentSchema")

/** A JSON string. */
export const Text = Schema.String.annotations(says("must be a string"))

/** A finite JSON number. `JSON.parse` reads a number such as `1e999` as infinity, which is rejected. */
export const Numeric = Schema.JsonNumber.annotations({
  ...says("must be a number that JSON can carry (finite)"),
  jsonSchema: { type: "number" }
})

/** An integer that fits 32 bits; `7.0` is the integer 7. */
export const Int32 = Schema.Number.pipe(
  Schema.filter((n) => Number.isInteger(n) && n >= -2147483648 && n <= 2147483647, {
    ...says("must be an integer within int32 (-2147483648 to 2147483647)"),
    jsonSchema: { type: "integer", format: "int32", minimum: -2147483648, maximum: 2147483647 }
  })
)

/** One of a fixed list of strings. */
export const oneOf = <const Values extends readonly [string, ...Array<string>]>(...values: Values) =>
  Schema.Literal(...values).annotations(
    says(`must be one of ${values.map((value) => JSON.stringify(value)).join(", ")}`)
  )

/** A string or null. */
export const NullableText = Schema.NullOr(Schema.String).annotations(says("must be a string or null"))
