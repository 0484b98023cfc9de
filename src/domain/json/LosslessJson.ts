import * as Either from "effect/Either"
import * as Steps from "../concurrency/Steps.js"
import { encodeInline } from "./CanonicalJson.js"
import type { Json, JsonObject } from "./Json.js"
import { setMember } from "./JsonCopy.js"
import { isExact, mayBeInexact, parseObjectSteps, visitNumbers } from "./JsonText.js"
import { LosslessNumber, numberText, pythonNumber } from "./NumberText.js"

/** JSON in which a number that JavaScript would write differently keeps its text, as a `LosslessNumber`. */
export type LosslessJson =
  | Json
  | LosslessNumber
  | ReadonlyArray<LosslessJson>
  | { readonly [key: string]: LosslessJson }

export interface LosslessObject {
  readonly [key: string]: LosslessJson
}

const isContainer = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === "object" && value !== null

/** Replaces the number at a path if it has this value. Of a repeated key the last value is in the object. */
const replace = (
  root: JsonObject,
  steps: ReadonlyArray<string | number>,
  value: number,
  written: number | LosslessNumber
) => {
  const last = steps.length - 1
  let parent: unknown = root
  for (let at = 0; at < last; at++) {
    if (!isContainer(parent) || !Object.hasOwn(parent, steps[at]!)) return
    parent = parent[steps[at]!]
  }
  if (!isContainer(parent) || !Object.hasOwn(parent, steps[last]!)) return
  const held = parent[steps[last]!]
  if ((held instanceof LosslessNumber ? Number(held.text) : held) === value) parent[steps[last]!] = written
}

const decoder = new TextDecoder()

/** Matches every text with a number that JavaScript may write differently: trailing zeros, an exponent, many digits. */
const mayDiffer = /(?:\.\d*0|\d[eE][+-]?\d+|-0)(?=[\s,\]}])|\d{16}|\d[.\d]{17}/

/** Whether a JSON text may contain a number that JavaScript would write differently. */
export const mayNeedLossless = (text: string): boolean => mayDiffer.test(text)

function* parse(
  content: Uint8Array,
  mayDiffer: (text: string) => boolean,
  spell: (part: string, value: number) => string
): Steps.Steps<Either.Either<LosslessObject, string>> {
  const read = yield* parseObjectSteps(content)
  if (Either.isLeft(read)) return read
  const object = read.right
  yield
  const text = decoder.decode(content)
  if (mayDiffer(text)) {
    yield* visitNumbers(text, (steps, part) => {
      const value = Number(part)
      const spelled = spell(part, value)
      replace(object, steps, value, spelled === numberText(value) ? value : new LosslessNumber(spelled))
    })
  }
  return Either.right(object as LosslessObject)
}

const spell = (part: string, value: number): string =>
  Number.isFinite(value) ? pythonNumber(part) : numberText(value)

const spelled = (content: Uint8Array) => parse(content, mayNeedLossless, spell)

/**
 * Parses a file's bytes as a JSON object and keeps the spelling of its numbers, as Python would write them again: integers in full,
 * other numbers as floats. The error is the problem in words.
 */
export const parseLossless = (content: Uint8Array): Either.Either<LosslessObject, string> =>
  Steps.runSync(spelled(content))

/** Like `parseLossless`, but a number that is not exactly a float keeps all its digits: a merge must not change it. */
export const parseExact = (content: Uint8Array): Either.Either<LosslessObject, string> =>
  Steps.runSync(
    parse(
      content,
      (text) => mayNeedLossless(text) || mayBeInexact(text),
      (part, value) => (isExact(part) ? spell(part, value) : part)
    )
  )

/** Like `parseLossless`, in steps, with every number exactly as it is written, for display. */
export const parseVerbatimSteps = (content: Uint8Array): Steps.Steps<Either.Either<LosslessObject, string>> =>
  parse(
    content,
    () => true,
    (part) => part
  )

/** Parses a file as a document. A file without a JSON object gives an empty document. */
export const parseLosslessOrEmpty = (content: Uint8Array): LosslessObject =>
  Either.getOrElse(parseLossless(content), (): LosslessObject => ({}))

/** Like `parseLosslessOrEmpty`, in steps. */
export function* parseLosslessOrEmptySteps(content: Uint8Array): Steps.Steps<LosslessObject> {
  return Either.getOrElse(yield* spelled(content), (): LosslessObject => ({}))
}

const isList = (value: LosslessJson): value is ReadonlyArray<LosslessJson> => Array.isArray(value)

type Members = { readonly [key: string]: LosslessJson }

/** Converts all numbers to JavaScript numbers, in steps. Returns the value itself if nothing changes. */
export function* toJsonSteps(value: LosslessJson): Steps.Steps<Json> {
  if (value instanceof LosslessNumber) return Number(value.text)
  if (typeof value !== "object" || value === null) return value
  const keys = isList(value) ? undefined : Object.keys(value)
  let copy: { [key: string]: unknown } | undefined
  for (let at = 0; at < (keys ?? (value as ReadonlyArray<LosslessJson>)).length; at++) {
    if (at % Steps.stepSize === Steps.stepSize - 1) yield
    const key = keys?.[at] ?? String(at)
    const member = (value as Members)[key]!
    const read = typeof member === "object" ? yield* toJsonSteps(member) : member
    if (read === member) continue
    copy ??= (isList(value) ? [...value] : { ...value }) as { [key: string]: unknown }
    setMember(copy, key, read)
  }
  return (copy ?? value) as Json
}

/** Like `toJsonSteps`, without pauses. */
export function toJson(value: LosslessJson): Json
export function toJson(value: LosslessJson | undefined): Json | undefined
export function toJson(value: LosslessJson | undefined): Json | undefined {
  return Steps.runSync(toJsonSteps(value as LosslessJson))
}

/** The value for indexes and queries. A value with a number beyond JavaScript's range, such as `1e400`, counts as missing. */
export const indexable = (value: LosslessJson | undefined): LosslessJson | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined
  if (typeof value !== "object" || value === null) return value
  return Either.isRight(encodeInline(value)) ? value : undefined
}
