import * as Equal from "effect/Equal"
import * as FastCheck from "effect/FastCheck"
import { UnmetExpectation } from "./StoreLaw.js"

const holds = (is: boolean, expected: () => string, actual: unknown, what: string | undefined): void => {
  if (is) return
  const prefix = what === undefined ? "" : `${what}: `
  throw new UnmetExpectation({ found: `${prefix}expected ${expected()}, got ${FastCheck.stringify(actual)}` })
}

const equal = (actual: unknown, expected: unknown): boolean => {
  if (Equal.equals(actual, expected)) return true
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.length === expected.length && actual.every((item, at) => equal(item, expected[at]))
  }
  if (typeof actual !== "object" || typeof expected !== "object") return false
  return FastCheck.stringify(actual) === FastCheck.stringify(expected)
}

/** What bodies of laws say of what they find: each throws what is wrong. */
export const assert = {
  deepStrictEqual: (actual: unknown, expected: unknown, what?: string): void =>
    holds(equal(actual, expected), () => FastCheck.stringify(expected), actual, what),
  strictEqual: (actual: unknown, expected: unknown, what?: string): void =>
    holds(Object.is(actual, expected), () => FastCheck.stringify(expected), actual, what),
  notStrictEqual: (actual: unknown, other: unknown, what?: string): void =>
    holds(!Object.is(actual, other), () => `anything but ${FastCheck.stringify(other)}`, actual, what),
  isTrue: (actual: unknown, what?: string): void => holds(actual === true, () => "true", actual, what),
  isFalse: (actual: unknown, what?: string): void => holds(actual === false, () => "false", actual, what),
  isAbove: (actual: number, least: number, what?: string): void =>
    holds(actual > least, () => `more than ${least}`, actual, what),
  isAtLeast: (actual: number, least: number, what?: string): void =>
    holds(actual >= least, () => `${least} or more`, actual, what),
  isAtMost: (actual: number, most: number, what?: string): void =>
    holds(actual <= most, () => `${most} or less`, actual, what),
  include: (list: ReadonlyArray<unknown>, item: unknown, what?: string): void =>
    holds(list.includes(item), () => `one of ${FastCheck.stringify(list)}`, item, what),
  fail: (found: string): never => {
    throw new UnmetExpectation({ found })
  }
} as const
