import { compareCodePoints, JsonNumber, numberText } from "../CanonicalJson.js"
import { decimal } from "../JsonText.js"
import type { SpelledJson, SpelledObject } from "../SpelledJson.js"

export type Optional = SpelledJson | undefined
export type SpelledList = ReadonlyArray<SpelledJson>

export const isList = (value: Optional): value is SpelledList => Array.isArray(value)

export const isObject = (value: Optional): value is SpelledObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)

export const isNumber = (value: Optional): value is number | JsonNumber =>
  typeof value === "number" || value instanceof JsonNumber

export const textOfNumber = (value: number | JsonNumber): string =>
  value instanceof JsonNumber ? value.text : numberText(value)

/** The own member of an object; undefined where it has none. */
export const own = (object: SpelledObject | undefined, name: string): Optional =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined

/** The names that any of some objects has. */
export const namesIn = (...objects: ReadonlyArray<SpelledObject | undefined>): ReadonlyArray<string> => [
  ...new Set(objects.flatMap((object) => Object.keys(object ?? {})))
]

const print = (value: SpelledJson, number: (text: string) => string): string => {
  if (isNumber(value)) return number(textOfNumber(value))
  if (isList(value)) return `[${value.map((item) => print(item, number)).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort(compareCodePoints)
  return `{${members.map((name) => `${JSON.stringify(name)}:${print(value[name]!, number)}`).join()}}`
}

/** A text that two values share if they are written alike: `10` and `10.0` are not. */
export const spelledText = (value: SpelledJson): string => print(value, (text) => text)

const exact = (text: string): string => (/\d/.test(text) ? decimal(text) : text)

/** A text that two values share if they are equal: `10` and `10.0` are, however large. */
export const valueText = (value: SpelledJson): string => print(value, exact)

/** Whether two values are written alike; an absent one is like an absent one alone. */
export const isSpelledAlike = (a: Optional, b: Optional): boolean => {
  if (a === b) return a !== 0 || Object.is(a, b)
  if (isNumber(a) && isNumber(b)) return textOfNumber(a) === textOfNumber(b)
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, at) => isSpelledAlike(item, b[at]))
  }
  return (
    isObject(a) && isObject(b) && namesIn(a, b).every((name) => isSpelledAlike(own(a, name), own(b, name)))
  )
}

/** Whether two numbers are equal, however they are written and however large they are. */
const isSameNumber = (a: number | JsonNumber, b: number | JsonNumber): boolean =>
  typeof a === "number" && typeof b === "number"
    ? a === b || Object.is(a, b)
    : exact(textOfNumber(a)) === exact(textOfNumber(b))

/** Whether two values are equal: whether their `valueText` is. */
export const isEqual = (a: Optional, b: Optional): boolean => {
  if (a === b) return true
  if (isNumber(a) && isNumber(b)) return isSameNumber(a, b)
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, at) => isEqual(item, b[at]))
  return isObject(a) && isObject(b) && namesIn(a, b).every((name) => isEqual(own(a, name), own(b, name)))
}

/** One of two equal values, the same one in whichever order they are given. */
export const eitherOf = <V extends SpelledJson>(a: V, b: V): V =>
  compareCodePoints(spelledText(a), spelledText(b)) <= 0 ? a : b
