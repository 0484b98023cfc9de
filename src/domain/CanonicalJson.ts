import * as Either from "effect/Either"

/** What is wrong with a value, and where inside it. */
export interface JsonProblem {
  /** Such as `address.lines[2]`; empty for the value itself. */
  readonly path: string
  readonly message: string
}

/** Deeper nesting is refused: other readers of the repository could not follow. */
export const maxDepth = 900
export const tooDeep = `nested deeper than ${maxDepth} levels, or a cycle`

/** Order by Unicode code point, which differs from JavaScript's own order beyond the Basic Multilingual Plane. */
export const compareCodePoints = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    let left = a.charCodeAt(at)
    let right = b.charCodeAt(at)
    if (left === right) continue
    if (left >= 0xd800 && right >= 0xd800) {
      left = left >= 0xe000 ? left - 0x800 : left + 0x2000
      right = right >= 0xe000 ? right - 0x800 : right + 0x2000
    }
    return left - right
  }
  return a.length - b.length
}

/** The text of a finite number as Python's `json` writes the value that it reads from this text. */
export const numberText = (value: number): string => {
  if (Number.isInteger(value)) return Object.is(value, -0) ? "-0.0" : String(value)
  const size = Math.abs(value)
  if (size >= 1e-4) return String(value)
  const [mantissa, exponent] = value.toExponential().split("e-") as [string, string]
  return `${mantissa}e-${exponent.padStart(2, "0")}`
}

/** `parent` with one more step. */
export const stepInto = (parent: string, key: string | number): string =>
  typeof key === "number"
    ? `${parent}[${key}]`
    : /^[A-Za-z_$][\w$-]*$/.test(key)
      ? parent === ""
        ? key
        : `${parent}.${key}`
      : `${parent}[${JSON.stringify(key)}]`

class Unprintable extends Error {
  constructor(
    readonly steps: Array<string | number>,
    override readonly message: string
  ) {
    super(message)
  }
}

const sortedKeys = (keys: Array<string>): Array<string> => {
  for (let at = 1; at < keys.length; at++) {
    if (compareCodePoints(keys[at - 1]!, keys[at]!) > 0) return keys.sort(compareCodePoints)
  }
  return keys
}

const describe = (value: object): string => {
  const name = (value as { readonly constructor?: unknown }).constructor
  return typeof name === "function" && name.name !== "" ? `a ${name.name}` : "an object that is not plain"
}

/** Whether an object is printed by its members. */
export const isPlainObject = (value: object): boolean =>
  Object.prototype.toString.call(value) === "[object Object]" &&
  typeof (value as { readonly toJSON?: unknown }).toJSON !== "function"

interface Form {
  readonly item: (depth: number) => string
  readonly end: (depth: number) => string
  readonly colon: string
}

const indents: Array<string> = []
const indent = (depth: number) => {
  while (indents.length <= depth) indents.push(`\n${"  ".repeat(indents.length)}`)
  return indents[depth]!
}

const pretty: Form = { item: indent, end: (depth) => indent(depth - 1), colon: ": " }
const inline: Form = { item: () => "", end: () => "", colon: ": " }

const print = (value: unknown, form: Form, depth: number): string => {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value)
    case "boolean":
      return value ? "true" : "false"
    case "number":
      if (Number.isFinite(value)) return numberText(value)
      throw new Unprintable([], `${value} is not a number that JSON can hold`)
    case "object":
      break
    default:
      throw new Unprintable([], value === undefined ? "undefined in a list" : `a ${typeof value} is not JSON`)
  }
  if (value === null) return "null"
  if (value instanceof JsonNumber) return value.text
  if (depth >= maxDepth) throw new Unprintable([], tooDeep)
  const inside = depth + 1
  const separator = form === inline ? ", " : `,${form.item(inside)}`
  let text = ""
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]"
    for (let at = 0; at < value.length; at++) {
      text += at === 0 ? form.item(inside) : separator
      text += within(at, value[at], form, inside)
    }
    return `[${text}${form.end(inside)}]`
  }
  const map = value instanceof JsonMap ? value.entries : undefined
  if (map === undefined && !isPlainObject(value)) throw new Unprintable([], `${describe(value)} is not JSON`)
  const keys = sortedKeys(map === undefined ? Object.keys(value) : [...map.keys()])
  for (const key of keys) {
    const member = map === undefined ? (value as Record<string, unknown>)[key] : map.get(key)
    if (member === undefined) continue
    text += text === "" ? form.item(inside) : separator
    text += JSON.stringify(key) + form.colon + within(key, member, form, inside)
  }
  return text === "" ? "{}" : `{${text}${form.end(inside)}}`
}

const within = (key: string | number, value: unknown, form: Form, depth: number): string => {
  if (typeof value === "string") return JSON.stringify(value)
  try {
    return print(value, form, depth)
  } catch (error) {
    if (error instanceof Unprintable) error.steps.push(key)
    throw error
  }
}

/** A number for the printer that keeps its text. */
export class JsonNumber {
  constructor(readonly text: string) {}

  toJSON(): number {
    return Number(this.text)
  }
}

/** An object for the printer whose keys come from a Map, so that no key meets a prototype. */
export class JsonMap {
  constructor(readonly entries: ReadonlyMap<string, unknown>) {}
}

const attempt = (value: unknown, form: Form): Either.Either<string, JsonProblem> => {
  try {
    return Either.right(print(value, form, 0))
  } catch (error) {
    if (error instanceof Unprintable) {
      const path = error.steps.reduceRight<string>(stepInto, "")
      return Either.left({ path, message: error.message })
    }
    return Either.left({ path: "", message: `cannot be read: ${String(error)}` })
  }
}

const encoder = new TextEncoder()

/**
 * The bytes of a JSON file: two-space indent, keys sorted by code point at every level, non-ASCII as it is, one
 * newline at the end. The same bytes as Python's `json.dumps(indent=2, sort_keys=True, ensure_ascii=False)` plus a newline.
 */
export const encode = (value: unknown): Either.Either<Uint8Array, JsonProblem> =>
  Either.map(attempt(value, pretty), (text) => encoder.encode(`${text}\n`))

/** One line: sorted keys, `, ` between items and `: ` after keys. */
export const encodeInline = (value: unknown): Either.Either<string, JsonProblem> => attempt(value, inline)
