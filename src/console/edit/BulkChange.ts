import * as Either from "effect/Either"
import { runSync } from "../../domain/concurrency/Steps.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { readDocument } from "../../store/browse/EditText.js"
import type { Path } from "./form/JsonNodes.js"
import { applyTextChange, textChangeOf } from "./form/TextEdits.js"

/** What is done to several documents; `raw` is JSON. */
export type BulkChange =
  | { readonly _tag: "Set"; readonly field: string; readonly raw: string }
  | { readonly _tag: "Remove"; readonly field: string }
  | { readonly _tag: "Delete" }

/** A field by the name of its column: a member of that whole name, or the one that the names between the dots lead to. */
const pathOf = (document: JsonObject, field: string): ReadonlyArray<string> =>
  Object.hasOwn(document, field) ? [field] : field.split(".")

/** What stands where an object would have to be for a path to lead on; nothing where the path can be made. */
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

/** The text of a document after a change, where everything else stays as it is written; null deletes it. */
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
  const made = textChangeOf(text, change._tag === "Set" ? { ...change, path } : { _tag: "Remove", path })
  return Either.right(made === undefined ? text : applyTextChange(text, made))
}

const metadata = new Set(["_id", "_rev", "_created_at", "_updated_at"])

/** What is wrong with the name of a field that is to be changed, if anything. */
export const fieldProblem = (field: string): string | undefined =>
  metadata.has(field)
    ? `${field} is set by the store.`
    : field.split(".").includes("")
      ? "Field names between dots cannot be empty."
      : undefined

/** What is typed as JSON, where it is JSON, and as a text where it is not. */
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
