import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Steps from "../concurrency/Steps.js"
import { encodeInline } from "../json/CanonicalJson.js"
import type { Json } from "../json/Json.js"
import { inexactNumbersSteps, roundedWithin } from "../json/JsonText.js"
import { kindOf } from "../text/ValueKind.js"
import { type Optional, spelledText } from "./JsonIdentity.js"
import type { Settlement } from "./MergeRules.js"

type Path = ReadonlyArray<string | number>

const placeOf = (path: Path): string => (path.length === 0 ? "the document" : path.join("."))

const said = (value: unknown): string => {
  if (value instanceof Promise) return "a promise"
  if (Option.isOption(value)) return "an Option"
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : kindOf(value)
}

const wrong = (what: string, path: Path, returned: string, allowed: string): Error =>
  new Error(`${what} ${placeOf(path)} returned ${returned}: it must return ${allowed}`)

/** The values that a merge function merged. It received numbers that JavaScript cannot represent as rounded ones. */
type Merged = ReadonlyArray<Optional>

/** The problem with a value for a document, if any. An absent value is valid. */
function* problemOf(value: unknown, merged: Merged): Steps.Steps<string | undefined> {
  if (value === undefined) return undefined
  if (value instanceof Promise) return "a promise"
  const text = encodeInline(value)
  if (Either.isLeft(text)) return `a value that is not JSON (${text.left.message})`
  for (const one of merged) {
    if (one === undefined) continue
    const lost = yield* roundedWithin(value, yield* inexactNumbersSteps(yield* spelledText(one)))
    if (lost !== undefined) return `a value that changes the number ${lost.text}`
  }
  return undefined
}

/** Validates the result of a merge function. Programs without types may return any value. */
export function* mergedIn(
  returned: unknown,
  path: Path,
  merged: Merged
): Steps.Steps<Option.Option<Json | undefined>> {
  const allowed = "an Option of the merged value, or Option.none() for a conflict"
  if (!Option.isOption(returned)) throw wrong("the rule for", path, said(returned), allowed)
  const problem = Option.isSome(returned) ? yield* problemOf(returned.value, merged) : undefined
  if (problem !== undefined) throw wrong("the rule for", path, problem, allowed)
  return returned as Option.Option<Json | undefined>
}

const isValue = (returned: unknown): returned is { readonly value: unknown } =>
  typeof returned === "object" &&
  returned !== null &&
  !Option.isOption(returned) &&
  Object.hasOwn(returned, "value")

/** Validates the result of `settle`. */
export function* settlementIn(
  returned: unknown,
  path: Path,
  merged: Merged
): Steps.Steps<Settlement | undefined> {
  if (returned === undefined || returned === "ours" || returned === "theirs") return returned
  const allowed = '"ours", "theirs", { value } or undefined'
  if (!isValue(returned)) throw wrong("settle for", path, said(returned), allowed)
  const problem = yield* problemOf(returned.value, merged)
  if (problem !== undefined) throw wrong("settle for", path, problem, allowed)
  return returned as Settlement
}
