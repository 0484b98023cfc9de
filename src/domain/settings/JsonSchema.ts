import type { Json, JsonObject } from "../json/Json.js"
import { appendToPath } from "../json/JsonPath.js"
import type { SettingsProblem } from "./Settings.js"

/**
 * The maximum size of a collection's JSON Schema file in bytes.
 *
 * @since 0.1.0
 * @category rules
 */
export const maxSchemaBytes = 262_144

const types: ReadonlySet<unknown> = new Set([
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string"
])

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isType = (value: Json) =>
  Array.isArray(value)
    ? value.length > 0 && value.every((one) => types.has(one)) && new Set(value).size === value.length
    : types.has(value)

const isCount = (value: Json) => Number.isInteger(value) && Number(value) >= 0
const isText = (value: Json) => typeof value === "string"
const isNumber = (value: Json) => typeof value === "number"
const isTexts = (value: Json) => Array.isArray(value) && value.every(isText)

interface Rule {
  readonly holds: (value: Json) => boolean
  readonly words: string
}

const count: Rule = { holds: isCount, words: "must be a whole number from 0" }
const text: Rule = { holds: isText, words: "must be a string" }
const number: Rule = { holds: isNumber, words: "must be a number" }

/** Checks of keywords whose values are not schemas. Unknown keywords may have any value, as in JSON Schema. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ["type", { holds: isType, words: `must be one of ${[...types].join(", ")}, or a list of them` }],
  ["enum", { holds: Array.isArray, words: "must be a list" }],
  ["required", { holds: isTexts, words: "must be a list of strings" }],
  ...["$id", "$ref", "$schema", "title", "description", "format", "pattern"].map(
    (name) => [name, text] as const
  ),
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].map(
    (name) => [name, count] as const
  ),
  ...["minimum", "maximum"].map((name) => [name, number] as const),
  [
    "multipleOf",
    { holds: (value: Json) => typeof value === "number" && value > 0, words: "must be a number above 0" }
  ]
])

const ofSchema = new Set(["additionalItems", "additionalProperties", "contains", "propertyNames"])
for (const name of ["not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties"])
  ofSchema.add(name)
const ofSchemas = new Set(["allOf", "anyOf", "oneOf", "prefixItems"])
const ofNamed = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])

/** The maximum number of reported problems. */
const mostProblems = 20

/** Collects the problems of a schema. Its nesting is limited by `maxDepth`. */
const judge = (schema: Json, path: string, problems: Array<SettingsProblem>): void => {
  if (typeof schema === "boolean" || problems.length >= mostProblems) return
  if (!isObject(schema)) {
    problems.push({ path, message: "must be a schema: an object, true or false" })
    return
  }
  const each = (value: Json, at: string) => {
    if (!Array.isArray(value) || value.length === 0) {
      problems.push({ path: at, message: "must be a list of schemas, and not empty" })
    } else value.forEach((one, place) => judge(one, appendToPath(at, place), problems))
  }
  for (const [name, value] of Object.entries(schema)) {
    const at = appendToPath(path, name)
    const rule = rules.get(name)
    if (rule !== undefined) {
      if (!rule.holds(value)) problems.push({ path: at, message: rule.words })
    } else if (ofSchema.has(name)) judge(value, at, problems)
    else if (ofSchemas.has(name)) each(value, at)
    else if (name === "items") Array.isArray(value) ? each(value, at) : judge(value, at, problems)
    else if (ofNamed.has(name)) {
      if (!isObject(value)) problems.push({ path: at, message: "must be an object of schemas" })
      else for (const [key, one] of Object.entries(value)) judge(one, appendToPath(at, key), problems)
    }
  }
}

/** The problems of a JSON Schema; empty if it is valid. */
export const schemaProblems = (schema: JsonObject): ReadonlyArray<SettingsProblem> => {
  const problems: Array<SettingsProblem> = []
  judge(schema, "", problems)
  return problems
}

/** The bytes of a schema file. The keys keep their order, which is the order of the fields in a form. */
export const printSchema = (schema: JsonObject): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(schema, null, 2)}\n`)

/** Whether two schemas are equal, including the order of their keys. */
export const sameSchema = (a: JsonObject, b: JsonObject): boolean => JSON.stringify(a) === JSON.stringify(b)
