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

/** The own member of an object; undefined where it has none. */
export const own = (object: LosslessObject | undefined, name: string): Optional =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined

/** The names that any of some objects has. */
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

/** A text that two values share if they are written alike: `10` and `10.0` are not. */
export const spelledText = (value: LosslessJson): Steps.Steps<string> => print(value, (text) => text)

const exact = (text: string): string => (/\d/.test(text) ? decimal(text) : text)

/** A text that two values share if they are equal: `10` and `10.0` are, however large. */
export const valueText = (value: LosslessJson): Steps.Steps<string> => print(value, exact)

/** Two lists or objects whose members are being compared. */
interface Compared {
  readonly a: SpelledList | LosslessObject
  readonly b: SpelledList | LosslessObject
  /** Of objects: those of the first, then those of the second, of which it must have all. */
  names: ReadonlyArray<string> | undefined
  isFirst: boolean
  length: number
  /** The member that is next. */
  at: number
  /** How many members had been compared before these. */
  readonly before: number
}

/** Members from which on it is remembered how lists and objects compare. */
const manyMembers = 32

/**
 * Compares values in steps. It remembers how large ones compare, so that what is asked at each level of a document is
 * computed once.
 */
export class Comparison {
  private readonly known = new WeakMap<object, WeakMap<object, boolean>>()
  private compared = 0

  constructor(private readonly areAlike: (a: Optional, b: Optional) => boolean) {}

  /** Whether both are the same to this comparison; an absent one is like an absent one alone. */
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
    const known = this.known.get(a)?.get(b)
    if (known !== undefined) return known
    const names = Object.keys(a)
    return { a, b, names, isFirst: true, length: names.length, at: 0, before }
  }
}

const memberOf = (value: SpelledList | LosslessObject, name: string | number): Optional =>
  typeof name === "number" ? (value as SpelledList)[name] : own(value as LosslessObject, name)

const isSpelledAlike = (a: Optional, b: Optional): boolean =>
  isNumber(a) && isNumber(b) ? (a === b ? Object.is(a, b) : textOfNumber(a) === textOfNumber(b)) : a === b

/** Compares whether values are written alike. */
export const bySpelling = (): Comparison => new Comparison(isSpelledAlike)

/** Whether two numbers are equal, however they are written and however large they are. */
const isSameNumber = (a: Optional, b: Optional): boolean =>
  a === b ||
  (isNumber(a) &&
    isNumber(b) &&
    (typeof a === "number" && typeof b === "number"
      ? Object.is(a, b)
      : exact(textOfNumber(a)) === exact(textOfNumber(b))))

/** Compares whether values are equal: whether their `valueText` is. */
export const byValue = (): Comparison => new Comparison(isSameNumber)

/** One of two equal values, the same one in whichever order they are given. */
export function* eitherOf<V extends LosslessJson>(a: V, b: V): Steps.Steps<V> {
  return compareCodePoints(yield* spelledText(a), yield* spelledText(b)) <= 0 ? a : b
}
