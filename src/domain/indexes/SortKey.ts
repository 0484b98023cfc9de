import { membersOf } from "../json/JsonOrder.js"
import type { LosslessJson } from "../json/LosslessJson.js"
import { LosslessNumber } from "../json/NumberText.js"

/*
 * Keys that sort as values do. A key is a text of the 38 characters - 0-9 _ a-z, whose plain order is the order of the
 * values, so a key or its beginning is a file name on every system. No key is the beginning of another value's key:
 * keys one behind the other sort as tuples, and the mirror image of a key sorts the other way round.
 */

/** A value of one field, or undefined where the document has no such field: that sorts before all values. */
export type SortValue = LosslessJson | undefined

const alphabet = "-0123456789_abcdefghijklmnopqrstuvwxyz"

const [missing, nothing, no, yes, number, text, list, object] = ["a", "b", "c", "d", "n", "t", "v", "w"]

/** Sorts before the first character of every value. */
const endOfMembers = "-"

/** Sorts before every character of a text. */
const endOfText = "--"

const hexadecimal = (byte: number) => byte.toString(16).padStart(2, "0")

/** The characters for one byte. They sort as the bytes, and none begins with another. */
const escapeOf = (byte: number): string => {
  const character = String.fromCharCode(byte)
  if (character < "0") return `-${hexadecimal(byte)}`
  if (character <= "9") return character
  if (character < "A") return `_${byte - 0x3a}`
  if (character < "Z") return `_${character.toLowerCase()}`
  if (character < "a") return `_z${byte - 0x5a}`
  if (character < "z") return character
  return character === "z" ? "z0" : `z${hexadecimal(byte)}`
}

const escapes = Array.from({ length: 256 }, (_, byte) => escapeOf(byte))

/** The characters for one unit of UTF-16, so that surrogates sort after all others, as `compareCodePoints` has them. */
const escapeUnit = (unit: number): string => {
  if (unit < 0x80) return escapes[unit]!
  const place = unit < 0xd800 ? unit : unit >= 0xe000 ? unit - 0x800 : unit + 0x2000
  if (place < 0x800) return escapes[0xc0 | (place >> 6)]! + escapes[0x80 | (place & 0x3f)]!
  return (
    escapes[0xe0 | (place >> 12)]! + escapes[0x80 | ((place >> 6) & 0x3f)]! + escapes[0x80 | (place & 0x3f)]!
  )
}

/** The key of a text without an end: for the last part of a tuple, and for the beginning of texts. */
export const textPrefixKey = (value: string): string => {
  let key: string = text!
  for (let at = 0; at < value.length; at++) key += escapeUnit(value.charCodeAt(at))
  return key
}

const textKey = (value: string): string => textPrefixKey(value) + endOfText

const mirrors = new Map(Array.from(alphabet, (character, at) => [character, alphabet.at(-1 - at)!]))

/** The key that sorts the other way round among its like. */
export const descending = (key: string): string => {
  let mirrored = ""
  for (const character of key) mirrored += mirrors.get(character)
  return mirrored
}

/** Added to exponents, which lie between -324 and 309. */
const exponentBase = 400

/** Of a number 0.DIGITS times ten to the EXPONENT. */
const sizeKey = (digits: string, exponent: number): string =>
  `${String(exponent + exponentBase).padStart(3, "0")}${digits}${endOfMembers}`

const withoutZeros = (digits: string): string => {
  let end = digits.length
  while (end > 1 && digits[end - 1] === "0") end--
  return digits.slice(0, end)
}

const signed = (negative: boolean, size: string): string =>
  negative ? `${number}m${descending(size)}` : `${number}p${size}`

/** A whole number in a text is exact, however long; any other number is the one that JavaScript reads. */
const numberKey = (given: number | LosslessNumber): string => {
  const value = typeof given === "number" ? given : Number(given.text)
  if (value === 0) return `${number}o`
  if (Number.isNaN(value)) return `${number}r`
  if (!Number.isFinite(value)) return value < 0 ? `${number}a` : `${number}q`
  if (typeof given !== "number" && /^-?\d+$/.test(given.text)) {
    const digits = given.text.replace(/^-?0*/, "")
    return signed(value < 0, sizeKey(withoutZeros(digits), digits.length))
  }
  const [mantissa, exponent] = Math.abs(value).toExponential().split("e") as [string, string]
  return signed(value < 0, sizeKey(mantissa.replace(".", ""), Number(exponent) + 1))
}

const isList = (value: LosslessJson): value is ReadonlyArray<LosslessJson> => Array.isArray(value)

/** The key of a value. Equal keys are equal values: 1 and 1.0, and 0 and -0, are one value; "1" is another one. */
export const sortKey = (value: SortValue): string => {
  if (value === undefined) return missing!
  if (value === null) return nothing!
  if (typeof value === "boolean") return value ? yes! : no!
  if (typeof value === "string") return textKey(value)
  if (typeof value === "number" || value instanceof LosslessNumber) return numberKey(value)
  if (isList(value)) return `${list}${value.map(sortKey).join("")}${endOfMembers}`
  const members = membersOf(value as { readonly [key: string]: LosslessJson })
  return `${object}${members.map(([key, member]) => textKey(key) + sortKey(member)).join("")}${endOfMembers}`
}

/** Whether a field sorts from the least value up, or from the greatest down. */
export type Direction = "asc" | "desc"

/** The key of several values, compared one after the other. Fields without a direction sort up. */
export const tupleSortKey = (
  values: ReadonlyArray<SortValue>,
  directions: ReadonlyArray<Direction> = []
): string =>
  values
    .map((value, at) => (directions[at] === "desc" ? descending(sortKey(value)) : sortKey(value)))
    .join("")

/** Sorts after every key that begins with `prefix`, and before all that are greater. */
export const afterPrefix = (prefix: string): string => `${prefix}~`

/** Two numbers with the whole numbers between them that JavaScript reads as `value`. */
const neighbours = (value: number): readonly [bigint, bigint] => {
  const bits = new BigInt64Array(1)
  const view = new Float64Array(bits.buffer)
  const step = (by: bigint) => {
    view[0] = value
    bits[0]! += by
    return Number.isFinite(view[0]) ? BigInt(view[0]) : 2n * BigInt(value)
  }
  const [inner, outer] = [step(-1n), step(1n)]
  const [a, b] = [(inner + BigInt(value)) / 2n, (outer + BigInt(value)) / 2n]
  return a < b ? [a, b] : [b, a]
}

const widened = (value: LosslessJson, side: 0 | 1): LosslessJson => {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? new LosslessNumber(String(neighbours(value)[side]))
      : value
  }
  if (typeof value !== "object" || value === null || value instanceof LosslessNumber) return value
  if (isList(value)) return value.map((item) => widened(item, side))
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, widened(member as LosslessJson, side)])
  )
}

/**
 * The least and the greatest key of all stored values that read as `value`. They differ only for whole numbers beyond
 * 2^53, of which many are one JavaScript number; what lies between must then be checked.
 */
export const equalKeyRange = (value: LosslessJson): readonly [string, string] => [
  sortKey(widened(value, 0)),
  sortKey(widened(value, 1))
]
