import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Steps from "../concurrency/Steps.js"
import { compareCodePoints } from "../text/CodePointOrder.js"
import { appendToPath } from "./JsonPath.js"
import { LosslessNumber, numberText } from "./NumberText.js"

/**
 * A problem with a value, and its path inside the value.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonProblem {
  /** Such as `address.lines[2]`; empty for the value itself. */
  readonly path: string
  /** The problem in words. */
  readonly message: string
}

/** The maximum nesting. Other JSON parsers could not read a deeper document. */
export const maxDepth = 900
export const tooDeepMessage = `nested deeper than ${maxDepth} levels, or a cycle`

class Unprintable extends Error {
  constructor(
    readonly steps: Array<string | number>,
    override readonly message: string
  ) {
    super(message)
  }
}

/** Merges two sorted lists. */
function* merged(left: Array<string>, right: Array<string>): Steps.Steps<Array<string>> {
  const all: Array<string> = []
  let at = 0
  for (const key of right) {
    while (at < left.length && compareCodePoints(left[at]!, key) <= 0) all.push(left[at++]!)
    all.push(key)
    if (all.length % Steps.stepSize === 0) yield
  }
  while (at < left.length) all.push(left[at++]!)
  return all
}

function* sorted(keys: Array<string>): Steps.Steps<Array<string>> {
  if (keys.length <= 2 * Steps.stepSize) return keys.sort(compareCodePoints)
  yield
  const middle = keys.length >>> 1
  return yield* merged(yield* sorted(keys.slice(0, middle)), yield* sorted(keys.slice(middle)))
}

function* sortedKeys(keys: Array<string>): Steps.Steps<Array<string>> {
  for (let at = 1; at < keys.length; at++) {
    if (compareCodePoints(keys[at - 1]!, keys[at]!) > 0) return yield* sorted(keys)
    if (at % Steps.stepSize === 0) yield
  }
  return keys
}

const describe = (value: object): string => {
  const name = (value as { readonly constructor?: unknown }).constructor
  return typeof name === "function" && name.name !== "" ? `a ${name.name}` : "an object that is not plain"
}

/** Whether an object is printed as a JSON object of its members. */
export const isPlainObject = (value: unknown): value is { readonly [key: string]: unknown } =>
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

/** The text of a scalar; undefined for a list or an object. */
const scalarText = (value: unknown): string | undefined => {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value)
    case "boolean":
      return value ? "true" : "false"
    case "number":
      if (Number.isFinite(value)) return numberText(value)
      throw new Unprintable([], `${value} is not a number that JSON can hold`)
    case "object":
      return value === null ? "null" : value instanceof LosslessNumber ? value.text : undefined
    default:
      throw new Unprintable([], value === undefined ? "undefined in a list" : `a ${typeof value} is not JSON`)
  }
}

/** Prints values into `text`. The caller may take and clear `text` at every step. */
class Printer {
  text = ""

  constructor(private readonly form: Form) {}

  *print(value: unknown, depth: number): Steps.Steps<void> {
    const scalar = scalarText(value)
    if (scalar !== undefined) this.text += scalar
    else yield* this.members(value as object, depth)
  }

  private *members(value: object, depth: number): Steps.Steps<void> {
    if (depth >= maxDepth) throw new Unprintable([], tooDeepMessage)
    if (Array.isArray(value)) yield* this.list(value, depth + 1)
    else if (value instanceof JsonMap) yield* this.object([...value.entries.keys()], value.entries, depth + 1)
    else if (isPlainObject(value)) {
      const record = value as { readonly [key: string]: unknown }
      yield* this.object(Object.keys(value), { get: (key) => record[key] }, depth + 1)
    } else throw new Unprintable([], `${describe(value)} is not JSON`)
  }

  private *list(list: ReadonlyArray<unknown>, depth: number): Steps.Steps<void> {
    if (list.length === 0) {
      this.text += "[]"
      return
    }
    const separator = this.separator(depth)
    this.text += `[${this.form.item(depth)}`
    let at = 0
    try {
      for (; at < list.length; at++) {
        if (at > 0) this.text += separator
        if (at % Steps.stepSize === Steps.stepSize - 1) yield
        const scalar = scalarText(list[at])
        if (scalar !== undefined) this.text += scalar
        else yield* this.members(list[at] as object, depth)
      }
    } catch (error) {
      throw inside(at, error)
    }
    this.text += `${this.form.end(depth)}]`
  }

  private *object(
    keys: Array<string>,
    object: { readonly get: (key: string) => unknown },
    depth: number
  ): Steps.Steps<void> {
    const separator = this.separator(depth)
    let before = `{${this.form.item(depth)}`
    let visited = 0
    let key = ""
    const names = yield* sortedKeys(keys)
    try {
      for (key of names) {
        if (++visited % Steps.stepSize === 0) yield
        const member = object.get(key)
        if (member === undefined) continue
        this.text += before + JSON.stringify(key) + this.form.colon
        before = separator
        const scalar = scalarText(member)
        if (scalar !== undefined) this.text += scalar
        else yield* this.members(member as object, depth)
      }
    } catch (error) {
      throw inside(key, error)
    }
    this.text += before === separator ? `${this.form.end(depth)}}` : "{}"
  }

  private separator(depth: number): string {
    return this.form === inline ? ", " : `,${this.form.item(depth)}`
  }
}

const inside = (step: string | number, error: unknown): unknown => {
  if (error instanceof Unprintable) error.steps.push(step)
  return error
}

/** An object for the printer with its members in a Map, so that a key such as `__proto__` is safe. */
export class JsonMap {
  constructor(readonly entries: ReadonlyMap<string, unknown>) {}
}

const problemOf = (error: unknown): JsonProblem =>
  error instanceof Unprintable
    ? { path: error.steps.reduceRight<string>(appendToPath, ""), message: error.message }
    : { path: "", message: `cannot be read: ${String(error)}` }

const encoder = new TextEncoder()

function* bytesOf(value: unknown): Steps.Steps<Either.Either<Uint8Array, JsonProblem>> {
  const printer = new Printer(pretty)
  const chunks: Array<Uint8Array> = []
  try {
    for (const steps = printer.print(value, 0); steps.next().done !== true; ) {
      if (printer.text.length >= chunkLength) {
        chunks.push(encoder.encode(printer.text))
        printer.text = ""
      }
      yield
    }
  } catch (error) {
    return Either.left(problemOf(error))
  }
  chunks.push(encoder.encode(`${printer.text}\n`))
  return Either.right(joined(chunks))
}

/** The number of characters that are encoded at once. */
const chunkLength = 65_536

const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (chunks.length === 1) return chunks[0]!
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

/**
 * The bytes of a JSON file: two-space indent, keys sorted by code point at every level, non-ASCII as it is, one
 * newline at the end. These are the bytes of Python's `json.dumps(indent=2, sort_keys=True, ensure_ascii=False)` plus a newline.
 *
 * @since 0.1.0
 * @category text
 */
export const encode = (value: unknown): Either.Either<Uint8Array, JsonProblem> =>
  Steps.runSync(bytesOf(value))

/** Like `encode`, with pauses if the value is large. The value must not change meanwhile. */
export const encodeSliced = (value: unknown): Effect.Effect<Either.Either<Uint8Array, JsonProblem>> =>
  Steps.run(() => bytesOf(value))

/** The canonical JSON text in one line: sorted keys, `, ` between items and `: ` after keys. */
export const encodeInline = (value: unknown): Either.Either<string, JsonProblem> => {
  const printer = new Printer(inline)
  try {
    Steps.runSync(printer.print(value, 0))
    return Either.right(printer.text)
  } catch (error) {
    return Either.left(problemOf(error))
  }
}
