import type { Json, JsonObject } from "../../../domain/json/Json.js"
import { equalJson } from "../../../domain/json/JsonEquality.js"
import { inexactNumbers } from "../../../domain/json/JsonText.js"
import { decimal } from "../../../domain/json/NumberText.js"
import { plural } from "../../components/Plural.js"
import type { JsonNode, ListNode } from "./JsonNodes.js"
import { isMoment } from "./SchemaInference.js"
import { member, type ReadSchema } from "./SchemaReading.js"

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null"
}

const isOf = (type: Json | undefined, node: JsonNode, raw: string): boolean => {
  switch (type) {
    case "string":
      return node.kind === "text"
    case "integer":
      return node.kind === "number" && isWhole(raw)
    case "array":
      return node.kind === "list"
    case "number":
    case "boolean":
    case "object":
    case "null":
      return node.kind === type
    default:
      return true
  }
}

/** Whether a number is an integer; 1.0 and 1e3 are. */
const isWhole = (raw: string): boolean => {
  const exact = decimal(raw)
  return exact === "0" || Number(exact.slice(exact.indexOf("e") + 1)) >= 0
}

const mail = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const date = /^\d{4}-\d\d-\d\d$/
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

const formats: Readonly<Record<string, readonly [test: (text: string) => boolean, words: string]>> = {
  "date-time": [isMoment, "a date and time, such as 2025-01-31T12:00:00Z"],
  date: [(text) => date.test(text) && !Number.isNaN(Date.parse(text)), "a date, such as 2025-01-31"],
  email: [(text) => mail.test(text), "an email address"],
  uri: [(text) => URL.canParse(text), "a URL, such as https://example.org"],
  uuid: [(text) => uuid.test(text), "a UUID"]
}

/** Longer texts are not matched against a pattern: a slow pattern would block the page. */
const maxPatternInput = 256

/** Whether a pattern runs in about cubic time at most: no nested repetition, and few repetitions. */
const isQuick = (pattern: string): boolean => {
  const bare = pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, "_")
  const repetitions = bare.match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0
  const isReferring = /\\[1-9k]/.test(pattern)
  return !isReferring && !/\)[*+{]/.test(bare) && repetitions <= (bare.startsWith("^") ? 3 : 2)
}

const breaks = (pattern: string, text: string): boolean => {
  if (text.length > maxPatternInput || !isQuick(pattern)) return false
  try {
    return !new RegExp(pattern, "u").test(text)
  } catch {
    return false
  }
}

const limit = (schema: JsonObject, name: string): number | undefined => {
  const found = member(schema, name)
  return typeof found === "number" ? found : undefined
}

const ofText = (schema: JsonObject, text: string): string | undefined => {
  const least = limit(schema, "minLength")
  const most = limit(schema, "maxLength")
  const length = least === undefined && most === undefined ? 0 : [...text].length
  if (least !== undefined && length < least)
    return least === 1 ? "It must not be empty." : `It needs at least ${plural(least, "character")}.`
  if (most !== undefined && length > most)
    return `It may have at most ${plural(most, "character")}, and has ${length}.`
  const format = member(schema, "format")
  const rule = typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined
  if (rule !== undefined && !rule[0](text)) return `It must be ${rule[1]}.`
  const pattern = member(schema, "pattern")
  return typeof pattern === "string" && breaks(pattern, text) ? `It does not match ${pattern}.` : undefined
}

const ofNumber = (schema: JsonObject, raw: string): string | undefined => {
  const value = Number(raw)
  const least = limit(schema, "minimum")
  const most = limit(schema, "maximum")
  const above = limit(schema, "exclusiveMinimum")
  const below = limit(schema, "exclusiveMaximum")
  const step = limit(schema, "multipleOf")
  if (least !== undefined && value < least) return `It must be at least ${least}.`
  if (most !== undefined && value > most) return `It must be at most ${most}.`
  if (above !== undefined && value <= above) return `It must be more than ${above}.`
  if (below !== undefined && value >= below) return `It must be less than ${below}.`
  if (step !== undefined) {
    const steps = value / step
    if (Math.abs(steps - Math.round(steps)) > 1e-9) return `It must be a multiple of ${step}.`
  }
  return undefined
}

const ofList = (schema: JsonObject, { items }: ListNode, text: string): string | undefined => {
  const least = limit(schema, "minItems")
  const most = limit(schema, "maxItems")
  if (least !== undefined && items.length < least) return `It needs at least ${plural(least, "item")}.`
  if (most !== undefined && items.length > most)
    return `It may have at most ${plural(most, "item")}, and has ${items.length}.`
  if (member(schema, "uniqueItems") !== true) return undefined
  const values = items.map(({ from, to }) => JSON.parse(text.slice(from, to)) as Json)
  const isRepeated = values.some((value, at) => values.slice(0, at).some((other) => equalJson(value, other)))
  return isRepeated ? "Its items must be unique." : undefined
}

const encoder = new TextEncoder()

interface CheckedField {
  readonly node: JsonNode | undefined
  readonly optional: boolean
  readonly nullable: boolean
}

/** Why a field does not match its schema, as a sentence. The store itself refuses only numbers that would be rounded. */
export const fieldProblem = (
  { node, nullable, optional }: CheckedField,
  { choices, schema }: ReadSchema,
  text: string
): string | undefined => {
  if (node === undefined) return optional ? undefined : "It is required."
  const raw = text.slice(node.from, node.to)
  if (node.kind === "number") {
    const [inexact] = inexactNumbers(encoder.encode(raw))
    if (inexact !== undefined) return `It would be rounded to ${inexact.value}. Use a text instead.`
  }
  if (node.kind === "null") return nullable ? undefined : "It must not be null."
  if (choices !== undefined) {
    const isScalar = "value" in node
    if (!isScalar && choices.some((choice) => typeof choice === "object")) return undefined
    return isScalar && choices.includes(node.value) ? undefined : "It is not one of the allowed values."
  }
  const type = schema["type"]
  if (!isOf(type, node, raw)) return `It must be ${typeNames[String(type)] ?? String(type)}.`
  if (node.kind === "text") return ofText(schema, node.value as string)
  if (node.kind === "number") return ofNumber(schema, raw)
  return node.kind === "list" ? ofList(schema, node, text) : undefined
}
