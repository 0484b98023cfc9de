import * as Steps from "../concurrency/Steps.js"
import type { LosslessJson, LosslessObject } from "../json/LosslessJson.js"
import { decimal, LosslessNumber, numberText } from "../json/NumberText.js"
import { compareCodePoints } from "../text/CodePointOrder.js"

export type Optional = LosslessJson | undefined
export type SpelledList = ReadonlyArray<LosslessJson>

export const isList = (value: Optional): value is SpelledList => Array.isArray(value)

export const isObject = (value: Optional): value is LosslessObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)

export const isNumber = (value: Optional): value is number | LosslessNumber =>
  typeof value === "number" || value instanceof LosslessNumber

export const textOfNumber = (value: number | LosslessNumber): string =>
  value instanceof LosslessNumber ? value.text : numberText(value)

/** The own member of an object; undefined if there is none. */
export const own = (object: LosslessObject | undefined, name: string): Optional =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined

/** The names of the members of all objects. */
export function* namesIn(
  ...objects: ReadonlyArray<LosslessObject | undefined>
): Steps.Steps<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const object of objects) {
    yield
    for (const [at, name] of Object.keys(object ?? {}).entries()) {
      names.add(name)
      if (at % Steps.stepSize === Steps.stepSize - 1) yield
    }
  }
  return names
}

const isScalar = (value: LosslessJson): value is Exclude<LosslessJson, SpelledList | LosslessObject> =>
  typeof value !== "object" || value === null || value instanceof LosslessNumber

function* print(value: LosslessJson, number: (text: string) => string): Steps.Steps<string> {
  const inside = (member: LosslessJson) =>
    isNumber(member) ? number(textOfNumber(member)) : JSON.stringify(member)
  if (isScalar(value)) return inside(value)
  const parts: Array<string> = []
  const members = isList(value)
    ? undefined
    : yield* Steps.sorted(
        Object.keys(value).filter((name) => (value as LosslessObject)[name] !== undefined),
        compareCodePoints
      )
  for (const name of members ?? (value as SpelledList).keys()) {
    const member = (value as { readonly [name: string | number]: LosslessJson })[name]!
    const text = isScalar(member) ? inside(member) : yield* print(member, number)
    parts.push(typeof name === "number" ? text : `${JSON.stringify(name)}:${text}`)
    if (parts.length % Steps.stepSize === 0) yield
  }
  return members === undefined ? `[${parts.join()}]` : `{${parts.join()}}`
}

/** A text that is equal for values with the same spelling. `10` and `10.0` differ. */
export const spelledText = (value: LosslessJson): Steps.Steps<string> => print(value, (text) => text)

const exact = (text: string): string => (/\d/.test(text) ? decimal(text) : text)

/** A text that is equal for equal values. `10` and `10.0` are equal; integers of any size are exact. */
export const valueText = (value: LosslessJson): Steps.Steps<string> => print(value, exact)

/** A pair of lists or objects whose members are being compared. */
interface Compared {
  readonly a: SpelledList | LosslessObject
  readonly b: SpelledList | LosslessObject
  /** The names of an object's members: first those of `a`, then those of `b`, which `a` must have too. */
  names: ReadonlyArray<string> | undefined
  isFirst: boolean
  length: number
  /** The index of the next member. */
  at: number
  /** The number of members that were compared before this pair. */
  readonly before: number
}

/** The minimum number of members for which a result is cached. */
const manyMembers = 32

/**
 * Compares values in steps. It caches the results for large values, because a merge compares them again at each level
 * of a document.
 */
export class Comparison {
  private readonly known = new WeakMap<object, WeakMap<object, boolean>>()
  private compared = 0

  constructor(private readonly areAlike: (a: Optional, b: Optional) => boolean) {}

  /** Whether both values are equal in this comparison. An absent value equals only an absent value. */
  *isSame(a: Optional, b: Optional): Steps.Steps<boolean> {
    const first = this.begin(a, b)
    if (typeof first === "boolean") return first
    const stack = [first]
    for (let top = first; stack.length > 0; top = stack.at(-1)!) {
      if (top.at === top.length && top.names !== undefined && top.isFirst) {
        top.names = Object.keys(top.b)
        top.isFirst = false
        top.length = top.names.length
        top.at = 0
      }
      if (top.at === top.length) {
        this.remember(top, true)
        stack.pop()
        continue
      }
      const name = top.names?.[top.at] ?? top.at
      top.at++
      if (++this.compared % Steps.stepSize === 0) yield
      if (!top.isFirst && Object.hasOwn(top.a, name)) continue
      const next = this.begin(memberOf(top.a, name), memberOf(top.b, name))
      if (next === true) continue
      if (next === false) {
        for (const open of stack) this.remember(open, false)
        return false
      }
      stack.push(next)
    }
    return true
  }

  private remember({ a, b, before }: Compared, isSame: boolean): void {
    if (this.compared - before < manyMembers) return
    const those = this.known.get(a) ?? new WeakMap<object, boolean>()
    this.known.set(a, those.set(b, isSame))
  }

  private begin(a: Optional, b: Optional): boolean | Compared {
    if (a === b || isNumber(a)) return this.areAlike(a, b)
    const before = this.compared
    if (isList(a)) {
      if (!isList(b) || a.length !== b.length) return false
      const [names, length] = [undefined, a.length]
      return this.known.get(a)?.get(b) ?? { a, b, names, isFirst: true, length, at: 0, before }
    }
    if (!isObject(a) || !isObject(b)) return false
    const cached = this.known.get(a)?.get(b)
    if (cached !== undefined) return cached
    const names = Object.keys(a)
    return { a, b, names, isFirst: true, length: names.length, at: 0, before }
  }
}

const memberOf = (value: SpelledList | LosslessObject, name: string | number): Optional =>
  typeof name === "number" ? (value as SpelledList)[name] : own(value as LosslessObject, name)

const isSpelledAlike = (a: Optional, b: Optional): boolean =>
  isNumber(a) && isNumber(b) ? (a === b ? Object.is(a, b) : textOfNumber(a) === textOfNumber(b)) : a === b

/** Compares values by their spelling. */
export const bySpelling = (): Comparison => new Comparison(isSpelledAlike)

/** Whether two numbers are equal, whatever their spelling and size. */
const isSameNumber = (a: Optional, b: Optional): boolean =>
  a === b ||
  (isNumber(a) &&
    isNumber(b) &&
    (typeof a === "number" && typeof b === "number"
      ? Object.is(a, b)
      : exact(textOfNumber(a)) === exact(textOfNumber(b))))

/** Compares values as `valueText` does. */
export const byValue = (): Comparison => new Comparison(isSameNumber)

/** Selects one of two equal values, independent of their order. */
export function* eitherOf<V extends LosslessJson>(a: V, b: V): Steps.Steps<V> {
  return compareCodePoints(yield* spelledText(a), yield* spelledText(b)) <= 0 ? a : b
}
