import { membersOf } from "../json/JsonOrder.js"
import type { LosslessJson } from "../json/LosslessJson.js"
import { LosslessNumber } from "../json/NumberText.js"

/*
 * An order-preserving encoding: the sort keys of values sort like the values. A key consists of the 38 characters - 0-9
 * _ a-z, so a key and every prefix of it are valid file names on all systems. No key is a prefix of another value's key,
 * so concatenated keys sort like tuples, and a key with mirrored characters sorts in descending order.
 */

/** The value of a field; undefined if the document lacks it. Undefined sorts before all values. */
export type SortValue = LosslessJson | undefined

const alphabet = "-0123456789_abcdefghijklmnopqrstuvwxyz"

const [missing, nothing, no, yes, number, text, list, object] = ["a", "b", "c", "d", "n", "t", "v", "w"]

/** Sorts before the first character of every value. */
const endOfMembers = "-"

/** Sorts before every character of a text. */
const endOfText = "--"

const hexadecimal = (byte: number) => byte.toString(16).padStart(2, "0")

/** The characters for one byte. They sort like the bytes, and none is a prefix of another. */
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

/** The characters for one UTF-16 unit. Surrogates sort after all others, as in `compareCodePoints`. */
const escapeUnit = (unit: number): string => {
  if (unit < 0x80) return escapes[unit]!
  const codePoint = unit < 0xd800 ? unit : unit >= 0xe000 ? unit - 0x800 : unit + 0x2000
  if (codePoint < 0x800) return escapes[0xc0 | (codePoint >> 6)]! + escapes[0x80 | (codePoint & 0x3f)]!
  return (
    escapes[0xe0 | (codePoint >> 12)]! +
    escapes[0x80 | ((codePoint >> 6) & 0x3f)]! +
    escapes[0x80 | (codePoint & 0x3f)]!
  )
}

/** The key of a text without its end mark: for the last value of a tuple, and for texts with a common prefix. */
export const textPrefixKey = (value: string): string => {
  let key: string = text!
  for (let at = 0; at < value.length; at++) key += escapeUnit(value.charCodeAt(at))
  return key
}

const textKey = (value: string): string => textPrefixKey(value) + endOfText

const mirrors = new Map(Array.from(alphabet, (character, at) => [character, alphabet.at(-1 - at)!]))

/** Mirrors a key so that it sorts in descending order. */
export const descending = (key: string): string => {
  let mirrored = ""
  for (const character of key) mirrored += mirrors.get(character)
  return mirrored
}

/** Added to exponents, which are between -324 and 309. */
const exponentBase = 400

/** The key of the magnitude 0.DIGITS times ten to the EXPONENT. */
const sizeKey = (digits: string, exponent: number): string =>
  `${String(exponent + exponentBase).padStart(3, "0")}${digits}${endOfMembers}`

const withoutZeros = (digits: string): string => {
  let end = digits.length
  while (end > 1 && digits[end - 1] === "0") end--
  return digits.slice(0, end)
}

const signed = (negative: boolean, size: string): string =>
  negative ? `${number}m${descending(size)}` : `${number}p${size}`

/** An integer in a text is exact at any length. Any other number is converted to a JavaScript number. */
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

/** The sort key of a value. Equal values have equal keys: 1 and 1.0 are equal, 0 and -0 are equal, 1 and "1" are not. */
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

/** The sort direction of a field. */
export type Direction = "asc" | "desc"

/** The sort key of several values, compared in order. The default direction is ascending. */
export const tupleSortKey = (
  values: ReadonlyArray<SortValue>,
  directions: ReadonlyArray<Direction> = []
): string =>
  values
    .map((value, at) => (directions[at] === "desc" ? descending(sortKey(value)) : sortKey(value)))
    .join("")

/** An upper bound that sorts directly after all keys with this prefix. */
export const afterPrefix = (prefix: string): string => `${prefix}~`

/** The bounds of the integers that JavaScript reads as `value`. */
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
 * The smallest and the greatest key of all stored values that JavaScript reads as `value`. They differ only for integers
 * beyond 2^53, where many integers are the same JavaScript number. Documents between the two keys must be checked.
 */
export const equalKeyRange = (value: LosslessJson): readonly [string, string] => [
  sortKey(widened(value, 0)),
  sortKey(widened(value, 1))
]
