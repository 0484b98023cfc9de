import * as Either from "effect/Either"
import { encodeInline, JsonNumber, numberText } from "./CanonicalJson.js"
import type { Json, JsonObject } from "./Document.js"
import { setMember } from "./JsonCopy.js"
import { readObject, visitNumbers } from "./JsonText.js"
import * as TimeSlice from "./TimeSlice.js"

/** JSON in which a number that JavaScript would spell differently keeps its text. */
export type SpelledJson =
  | Json
  | JsonNumber
  | ReadonlyArray<SpelledJson>
  | { readonly [key: string]: SpelledJson }

export interface SpelledObject {
  readonly [key: string]: SpelledJson
}

/** A float as Python prints it: with a fraction or an exponent, also where its value is whole. */
const floatText = (value: number): string => {
  if (!Number.isInteger(value) || Object.is(value, -0)) return numberText(value)
  return Math.abs(value) < 1e16 ? `${value}.0` : value.toExponential().replace(/e\+(\d)$/, "e+0$1")
}

/** The spellings of one value: as a whole number, as a float, and as a negative zero. */
export const spellings = (value: number): ReadonlyArray<string> => {
  if (value === 0) return ["0", "0.0", "-0", "-0.0"]
  const whole = Number.isInteger(value) ? [BigInt(value).toString()] : []
  return [...new Set([numberText(value), ...whole, floatText(value)])]
}

/** A number of a text as Python prints what it reads: whole numbers in full, others as floats. */
export const spelling = (text: string): string => {
  if (/^-?\d+$/.test(text)) return text === "-0" ? "0" : text
  return floatText(Number(text))
}

const isContainer = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === "object" && value !== null

/** Replaces the number that lies at a path, if it is this one: of two equal keys the last one holds. */
const replace = (root: JsonObject, steps: ReadonlyArray<string | number>, text: string, value: number) => {
  let parent: unknown = root
  for (const step of steps.slice(0, -1)) {
    if (!isContainer(parent) || !Object.hasOwn(parent, step)) return
    parent = parent[step]
  }
  const last = steps[steps.length - 1]!
  if (isContainer(parent) && Object.hasOwn(parent, last) && parent[last] === value) {
    parent[last] = new JsonNumber(text)
  }
}

const decoder = new TextDecoder()

/** A text without this holds no number that is spelled otherwise: no zeros at the end of a fraction, no exponent, ... */
const mayDiffer = /(?:\.\d*0|\d[eE][+-]?\d+|-0)(?=[\s,\]}])|\d{16}/

/** Whether a JSON text may hold a number that JavaScript would spell differently. */
export const mayBeSpelled = (text: string): boolean => mayDiffer.test(text)

function* parse(
  content: Uint8Array,
  mayDiffer: (text: string) => boolean,
  spell: (part: string, value: number) => string
): TimeSlice.Steps<Either.Either<SpelledObject, string>> {
  const read = yield* readObject(content)
  if (Either.isLeft(read)) return read
  const object = read.right
  yield
  const text = decoder.decode(content)
  if (mayDiffer(text)) {
    yield* visitNumbers(text, (steps, part) => {
      const value = Number(part)
      const spelled = spell(part, value)
      if (spelled !== numberText(value)) replace(object, steps, spelled, value)
    })
  }
  return Either.right(object as SpelledObject)
}

const spelled = (content: Uint8Array) =>
  parse(content, mayBeSpelled, (part, value) => (Number.isFinite(value) ? spelling(part) : numberText(value)))

/** The object that a file's bytes hold, with its numbers as they are spelled; or what is wrong with the bytes. */
export const parseSpelled = (content: Uint8Array): Either.Either<SpelledObject, string> =>
  TimeSlice.runSync(spelled(content))

/** The same with each number letter by letter as it stands there, for people to read; in steps. */
export const readVerbatim = (content: Uint8Array): TimeSlice.Steps<Either.Either<SpelledObject, string>> =>
  parse(
    content,
    () => true,
    (part) => part
  )

/** A file as a document; one that holds no JSON object counts as an empty one. */
export const documentIn = (content: Uint8Array): SpelledObject =>
  Either.getOrElse(parseSpelled(content), (): SpelledObject => ({}))

/** The same in steps. */
export function* readDocumentIn(content: Uint8Array): TimeSlice.Steps<SpelledObject> {
  return Either.getOrElse(yield* spelled(content), (): SpelledObject => ({}))
}

const isList = (value: SpelledJson): value is ReadonlyArray<SpelledJson> => Array.isArray(value)

type Members = { readonly [key: string]: SpelledJson }

/** A value with its numbers as JavaScript reads them, in steps: the value itself where it has no other numbers. */
export function* reading(value: SpelledJson): TimeSlice.Steps<Json> {
  if (value instanceof JsonNumber) return Number(value.text)
  if (typeof value !== "object" || value === null) return value
  const keys = isList(value) ? undefined : Object.keys(value)
  let copy: { [key: string]: unknown } | undefined
  for (let at = 0; at < (keys ?? (value as ReadonlyArray<SpelledJson>)).length; at++) {
    if (at % TimeSlice.stepSize === TimeSlice.stepSize - 1) yield
    const key = keys?.[at] ?? String(at)
    const member = (value as Members)[key]!
    const read = typeof member === "object" ? yield* reading(member) : member
    if (read === member) continue
    copy ??= (isList(value) ? [...value] : { ...value }) as { [key: string]: unknown }
    setMember(copy, key, read)
  }
  return (copy ?? value) as Json
}

/** The same in one go. */
export function asRead(value: SpelledJson): Json
export function asRead(value: SpelledJson | undefined): Json | undefined
export function asRead(value: SpelledJson | undefined): Json | undefined {
  return value === undefined ? undefined : TimeSlice.runSync(reading(value))
}

/** A value as indexes and queries see it: what contains a number that JavaScript cannot hold, such as `1e400`, counts as missing. */
export const held = (value: SpelledJson | undefined): SpelledJson | undefined => {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined
  return value !== undefined && Either.isRight(encodeInline(value)) ? value : undefined
}
