import * as Either from "effect/Either"
import { runSync } from "../../domain/concurrency/Steps.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { readDocument } from "../../store/browse/EditText.js"
import type { Path } from "./form/JsonNodes.js"
import { applyTextChange, textChangeOf } from "./form/TextEdits.js"

/** A change of several documents; `raw` is JSON. */
export type BulkChange =
  | { readonly _tag: "Set"; readonly field: string; readonly raw: string }
  | { readonly _tag: "Remove"; readonly field: string }
  | { readonly _tag: "Delete" }

/** The path of a column: a member of that name, or else the nested field. */
const pathOf = (document: JsonObject, field: string): ReadonlyArray<string> =>
  Object.hasOwn(document, field) ? [field] : field.split(".")

/** The part of a path that has a value other than an object; undefined if the path can be set. */
const blockingPath = (document: JsonObject, path: ReadonlyArray<string>): string | undefined => {
  let value: unknown = document
  for (const [at, step] of path.entries()) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return path.slice(0, at).join(".")
    if (!Object.hasOwn(value, step)) return undefined
    value = (value as JsonObject)[step]
  }
  return undefined
}

/** The text of a document after a change, otherwise unchanged; null deletes the document. */
export const applyChange = (text: string, change: BulkChange): Either.Either<string | null, string> => {
  if (change._tag === "Delete") return Either.right(null)
  const read = runSync(readDocument(text))
  if (Either.isLeft(read)) return Either.left(read.left)
  const steps = pathOf(read.right, change.field)
  const other = blockingPath(read.right, steps)
  if (other !== undefined)
    return change._tag === "Remove"
      ? Either.right(text)
      : Either.left(`has a value that is not an object at ${other}`)
  const path: Path = steps
  const changed = textChangeOf(text, change._tag === "Set" ? { ...change, path } : { _tag: "Remove", path })
  return Either.right(changed === undefined ? text : applyTextChange(text, changed))
}

const metadata = new Set(["_id", "_rev", "_created_at", "_updated_at"])

/** Why a field cannot be changed; undefined if it can. */
export const fieldProblem = (field: string): string | undefined => {
  const [name = "", ...rest] = field.split(".")
  if (metadata.has(name)) return `${name} is set by the store.`
  return [name, ...rest].includes("") ? "Field names between dots cannot be empty." : undefined
}

/** Reads input as JSON if it is valid JSON, and otherwise as a text. */
export const parseTypedValue = (typed: string): { readonly raw: string; readonly problem?: string } => {
  const raw = (() => {
    try {
      JSON.parse(typed)
      return typed.trim()
    } catch {
      return JSON.stringify(typed)
    }
  })()
  const read = runSync(readDocument(`{"value": ${raw}}`))
  return Either.isLeft(read) ? { raw, problem: `It ${read.left}.` } : { raw }
}
