import * as Order from "effect/Order"
import { compareCodePoints } from "../text/CodePointOrder.js"
import type { LosslessJson } from "./LosslessJson.js"
import { LosslessNumber } from "./NumberText.js"

/** A value of a document, or undefined if the document lacks it. */
type Component = LosslessJson | undefined

const rank = (value: Component): number => {
  if (value === undefined) return 0
  if (value === null) return 1
  if (typeof value === "boolean") return 2
  if (typeof value === "number" || value instanceof LosslessNumber) return 3
  if (typeof value === "string") return 4
  return Array.isArray(value) ? 5 : 6
}

/** An integer in a text is exact at any length. Any other number is converted to a JavaScript number. */
const numeric = (given: number | LosslessNumber): number | bigint => {
  if (typeof given === "number") return given
  const value = Number(given.text)
  return Number.isFinite(value) && /^-?\d+$/.test(given.text) ? BigInt(given.text) : value
}

const compareNumbers = (a: number | LosslessNumber, b: number | LosslessNumber): number => {
  const [left, right] = [numeric(a), numeric(b)]
  if (left < right) return -1
  if (left > right) return 1
  return Number(Number.isNaN(left)) - Number(Number.isNaN(right))
}

const compareLists = <A>(
  a: ReadonlyArray<A>,
  b: ReadonlyArray<A>,
  compareItems: (a: A, b: A) => number
): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const order = compareItems(a[at]!, b[at]!)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** The members of an object, sorted by key. */
export const membersOf = (value: {
  readonly [key: string]: LosslessJson
}): ReadonlyArray<readonly [string, LosslessJson]> =>
  Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => compareCodePoints(a, b))

const compareMembers = (a: readonly [string, LosslessJson], b: readonly [string, LosslessJson]): number =>
  compareCodePoints(a[0], b[0]) || compareValues(a[1], b[1])

/**
 * Compares two JSON values in the order: missing, null, false, true, numbers, texts by code point, lists by their
 * elements, objects by their members sorted by key. The result is zero if `equalJson` is true.
 */
export const compareValues = (a: Component, b: Component): number => {
  const byKind = rank(a) - rank(b)
  if (byKind !== 0) return byKind
  if (typeof a === "boolean") return Number(a) - Number(b)
  if (typeof a === "string") return compareCodePoints(a, b as string)
  if (typeof a === "number" || a instanceof LosslessNumber)
    return compareNumbers(a, b as number | LosslessNumber)
  if (Array.isArray(a)) return compareLists<LosslessJson>(a, b as ReadonlyArray<LosslessJson>, compareValues)
  if (typeof a !== "object" || a === null) return 0
  type Members = { readonly [key: string]: LosslessJson }
  return compareLists(membersOf(a as Members), membersOf(b as Members), compareMembers)
}

/**
 * The total order of JSON values in memory, in indexes and in sorted results.
 *
 * @since 0.1.0
 * @category utilities
 */
export const JsonOrder: Order.Order<Component> = Order.make(
  (a, b) => Math.sign(compareValues(a, b)) as -1 | 0 | 1
)
