import * as Option from "effect/Option"
import { assert } from "vitest"

/*
 * Chai finds `Option.none()` and `Option.some(1)` deeply equal: it compares what is iterable by its elements, and both yield
 * themselves. So every deep comparison is asked about options first.
 */

const isObject = (value: unknown): value is { readonly [key: PropertyKey]: unknown } =>
  typeof value === "object" && value !== null

/** Where one value has an option and the other one has another kind of option, or none at all. */
const difference = (a: unknown, b: unknown, at: string, seen: WeakSet<object>): string | undefined => {
  if (!isObject(a) || !isObject(b) || seen.has(a)) return undefined
  seen.add(a)
  if (Option.isOption(a) || Option.isOption(b)) {
    if (!Option.isOption(a) || !Option.isOption(b) || a._tag !== b._tag) return at
    return Option.isSome(a) && Option.isSome(b)
      ? difference(a.value, b.value, `${at}.value`, seen)
      : undefined
  }
  for (const key of Object.keys(a)) {
    if (!Object.hasOwn(b, key)) continue
    const found = difference(a[key], b[key], `${at}.${key}`, seen)
    if (found !== undefined) return found
  }
  return undefined
}

const patched = Symbol.for("chainstore/test/options")
const compares = assert as unknown as {
  [patched]?: true
  [name: string]: (a: unknown, b: unknown, message?: string) => void
}

if (compares[patched] !== true) {
  compares[patched] = true
  for (const name of ["deepEqual", "deepStrictEqual"]) {
    const compare = compares[name]!.bind(assert)
    compares[name] = (a, b, message) => {
      const found = difference(a, b, "the value", new WeakSet())
      if (found !== undefined) {
        assert.fail(
          `${message === undefined ? "" : `${message}: `}${found} is ${String(a)}, expected ${String(b)}`
        )
      }
      compare(a, b, message)
    }
  }
}
