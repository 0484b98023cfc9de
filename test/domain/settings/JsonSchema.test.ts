import { assert, it } from "@effect/vitest"
import Ajv from "ajv"
import { FastCheck } from "effect"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { printSchema, sameSchema, schemaProblems } from "../../../src/domain/settings/JsonSchema.js"

it("a schema has its problems named with their paths", () => {
  const ofText = ["$id", "$ref", "$schema", "title", "description", "format", "pattern"]
  const ofCount = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]
  const ofNumber = ["minimum", "maximum"]
  const ofSchema = [
    ...["additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"],
    ...["unevaluatedItems", "unevaluatedProperties"]
  ]
  const ofSchemas = ["allOf", "anyOf", "oneOf", "prefixItems"]
  const ofNamed = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]
  const each = (names: ReadonlyArray<string>, value: unknown) =>
    Object.fromEntries(names.map((name) => [name, value])) as JsonObject
  const valid: ReadonlyArray<JsonObject> = [
    { type: "integer", enum: [], required: ["a"], multipleOf: 0.5, "x-own": 5, default: [] },
    { type: ["string", "null"], required: [], items: true },
    { items: { type: "string" }, additionalItems: { items: [true, {}] } },
    each(ofText, "a"),
    each(ofCount, 0),
    each(ofNumber, -0.5),
    each(ofSchema, { not: false }),
    each(ofSchemas, [true, { not: {} }]),
    each(ofNamed, { a: {}, b: false }),
    each(ofNamed, {})
  ]
  for (const schema of valid) assert.deepStrictEqual(schemaProblems(schema), [])
  const type = "must be one of array, boolean, integer, null, number, object, string, or a list of them"
  const schema = "must be a schema: an object, true or false"
  const list = "must be a list of schemas, and not empty"
  const all = (names: ReadonlyArray<string>, words: string, below = "") =>
    names.map((name) => `${name}${below} ${words}`)
  const invalid: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
    ...["text", 1, [], ["string", "string"], ["string", "text"]].map(
      (given) => [{ type: given }, [`type ${type}`]] as const
    ),
    [{ enum: "a" }, ["enum must be a list"]],
    [{ required: "a" }, ["required must be a list of strings"]],
    [{ required: ["a", 1] }, ["required must be a list of strings"]],
    [each(ofText, 5), all(ofText, "must be a string")],
    ...[-1, 0.5, "1"].map(
      (given) => [each(ofCount, given), all(ofCount, "must be a whole number from 0")] as const
    ),
    [each(ofNumber, "1"), all(ofNumber, "must be a number")],
    ...[0, "1"].map((given) => [{ multipleOf: given }, ["multipleOf must be a number above 0"]] as const),
    ...[5, null, []].map((given) => [each(ofSchema, given), all(ofSchema, schema)] as const),
    ...[5, {}, []].map((given) => [each(ofSchemas, given), all(ofSchemas, list)] as const),
    [each(ofSchemas, [true, 5]), all(ofSchemas, schema, "[1]")],
    ...[5, null, []].map(
      (given) => [each(ofNamed, given), all(ofNamed, "must be an object of schemas")] as const
    ),
    [
      each(ofNamed, { a: 5, "b c": null }),
      ofNamed.flatMap((name) => all([`${name}.a`, `${name}["b c"]`], schema))
    ],
    [{ items: 5 }, [`items ${schema}`]],
    [{ items: [] }, [`items ${list}`]],
    [{ items: [{}, { not: { title: 5 } }] }, ["items[1].not.title must be a string"]],
    [
      {
        properties: each(
          Array.from({ length: 30 }, (_, at) => `p${at}`),
          5
        )
      },
      Array.from({ length: 20 }, (_, at) => `properties.p${at} ${schema}`)
    ]
  ]
  for (const [given, words] of invalid) {
    const problems = schemaProblems(given as JsonObject)
    assert.deepStrictEqual(
      problems.map(({ message, path }) => `${path} ${message}`),
      words
    )
  }
})

it("a schema that is refused is one that a validator refuses, too", () => {
  const name = FastCheck.constantFrom(
    "type",
    "enum",
    "required",
    "minLength",
    "maximum",
    "multipleOf",
    "title"
  )
  const wild = FastCheck.constantFrom<unknown>(
    "string",
    "text",
    1,
    -1,
    0.5,
    true,
    null,
    [],
    ["a"],
    [1],
    ["string", "null"],
    ["string", "string"],
    {}
  )
  const { schema } = FastCheck.letrec<{ schema: JsonObject; any: unknown }>((tie) => ({
    any: FastCheck.oneof({ weight: 3, arbitrary: tie("schema") }, { weight: 1, arbitrary: wild }),
    schema: FastCheck.tuple(
      FastCheck.dictionary(name, wild, { maxKeys: 2 }),
      FastCheck.option(FastCheck.dictionary(FastCheck.constantFrom("a", "b"), tie("any"), { maxKeys: 2 })),
      FastCheck.option(FastCheck.array(tie("any"), { maxLength: 2 })),
      FastCheck.option(tie("any"))
    ).map(([rest, properties, anyOf, items]) => ({
      ...rest,
      ...(properties === null ? {} : { properties }),
      ...(anyOf === null ? {} : { anyOf }),
      ...(items === null ? {} : { items })
    })) as FastCheck.Arbitrary<JsonObject>
  }))
  const ajv = new Ajv.default({ strict: false, validateFormats: false })
  FastCheck.assert(
    FastCheck.property(schema, (one) => {
      if (schemaProblems(one).length > 0) assert.isFalse(ajv.validateSchema(one))
    }),
    { numRuns: 500 }
  )
})

it("a schema's file has its keys in the order in which they were given", () => {
  const schema = { type: "object", properties: { b: {}, a: { title: "é" } } }
  assert.strictEqual(
    new TextDecoder().decode(printSchema(schema)),
    '{\n  "type": "object",\n  "properties": {\n    "b": {},\n    "a": {\n      "title": "é"\n    }\n  }\n}\n'
  )
  assert.isTrue(sameSchema(schema, structuredClone(schema)))
  assert.isFalse(sameSchema(schema, { type: "object", properties: { a: { title: "é" }, b: {} } }))
})
