import * as Either from "effect/Either"
import { runSync } from "../../../domain/concurrency/Steps.js"
import { encode } from "../../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import { visitNumbers } from "../../../domain/json/JsonText.js"
import { LosslessNumber } from "../../../domain/json/NumberText.js"

const numberKey = (value: number) => (Object.is(value, -0) ? "-0" : String(value))

/**
 * Prints a document with the number spellings of its source texts: the spelling at the same path, or else that of an
 * equal number elsewhere, because the items of merged lists move. The first text takes precedence.
 */
export const withNumberSpelling = (document: JsonObject, texts: ReadonlyArray<string>): string => {
  const spellings = new Map<string, string>()
  const note = (key: string, part: string) => spellings.has(key) || spellings.set(key, part)
  for (const text of texts) {
    runSync(
      visitNumbers(text, (steps, part) => {
        const number = numberKey(Number(part))
        note(`${JSON.stringify(steps)} ${number}`, part)
        note(number, part)
      })
    )
  }
  const spelled = (value: unknown, steps: ReadonlyArray<string | number>): unknown => {
    if (typeof value === "number") {
      const number = numberKey(value)
      const text = spellings.get(`${JSON.stringify(steps)} ${number}`) ?? spellings.get(number)
      return text === undefined ? value : new LosslessNumber(text)
    }
    if (Array.isArray(value)) return value.map((item, at) => spelled(item, [...steps, at]))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, spelled(item, [...steps, key])])
    )
  }
  return new TextDecoder().decode(Either.getOrThrow(encode(spelled(document, []))))
}
