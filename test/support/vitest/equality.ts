import * as Effect from "effect/Effect"
import { chai } from "vitest"

const keysOf = (value: object) => Object.keys(value).length

/**
 * Two Effects, Options or Eithers with different members. Chai compares those by their iterators, which yield an opaque object
 * each: `Option.none()` was deeply equal to `Option.some(1)`. Of errors, which are Effects too, Chai compares name and message.
 */
const differ = (a: unknown, b: unknown): boolean =>
  Effect.isEffect(a) &&
  Effect.isEffect(b) &&
  !(a instanceof Error) &&
  (keysOf(a) !== keysOf(b) ||
    (a as { readonly _tag?: unknown })._tag !== (b as { readonly _tag?: unknown })._tag)

const comparator = (a: unknown, b: unknown): boolean | null => (differ(a, b) ? false : null)

chai.config.deepEqual = (expected, actual) => chai.util.eql(expected, actual, { comparator })
