import { Either } from "effect"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { Edit } from "./StoreProgram.js"

/** Documents by `collection/id`: the whole store, in plain memory. */
export type State = ReadonlyMap<string, StoredDocument>

/** What a write leaves behind: fields with their revision, or null where a document is gone. */
export type Effects = ReadonlyMap<string, Written | null>

export interface Written {
  readonly fields: JsonObject
  readonly rev: number
  /** The creation time it must have; undefined for a document that is new. */
  readonly createdAt: string | undefined
}

export type Refusal = "NotFoundError" | "ConflictError" | "ValidationError"

export const keyOf = (collection: string, id: string): string => `${collection}/${id}`

const metadata = new Set(["_id", "_rev", "_created_at", "_updated_at"])

/** The caller's part of a stored document. */
export const fieldsOf = (document: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([name]) => !metadata.has(name)))

const one = (key: string, written: Written | null): Either.Either<Effects, Refusal> =>
  Either.right(new Map([[key, written]]))

export const written = (current: StoredDocument | undefined, fields: JsonObject): Written => ({
  fields: fieldsOf(fields),
  rev: (current?._rev ?? 0) + 1,
  createdAt: current?._created_at
})

/** What a single-document write does to a state, or how it is refused. */
export const single = (
  state: State,
  operation: {
    readonly _tag: "insert" | "update" | "replace" | "upsert" | "delete" | "edit"
    readonly collection: string
    readonly id: string
    readonly fields: JsonObject
    readonly expectedRev?: number | undefined
  }
): Either.Either<Effects, Refusal> => {
  const key = keyOf(operation.collection, operation.id)
  const current = state.get(key)
  if (operation._tag === "insert") {
    return current === undefined
      ? one(key, written(undefined, operation.fields))
      : Either.left("ConflictError")
  }
  if (current === undefined && operation._tag !== "upsert") return Either.left("NotFoundError")
  if (operation.expectedRev !== undefined && operation.expectedRev !== current?._rev) {
    return Either.left("ConflictError")
  }
  if (operation._tag === "delete") return one(key, null)
  const merges = operation._tag !== "replace" && current !== undefined
  return one(key, written(current, merges ? { ...current, ...operation.fields } : operation.fields))
}

/**
 * What queued operations do in one commit: the last one on a document wins, an insert goes on asking that the
 * document be absent, and deleting what the same queue put is nothing when the document was not there.
 */
export const batch = (state: State, edits: ReadonlyArray<Edit>): Either.Either<Effects, Refusal> => {
  const last = new Map<
    string,
    { readonly edit: Edit; readonly absent: boolean; readonly tolerant: boolean }
  >()
  for (const edit of edits) {
    const key = keyOf(edit.collection, edit.id)
    const before = last.get(key)
    last.set(key, {
      edit,
      absent: before?.absent === true || (edit._tag === "insert" && before === undefined),
      tolerant: before !== undefined && (before.tolerant || before.edit._tag !== "delete")
    })
  }
  const effects = new Map<string, Written | null>()
  for (const [key, { absent, edit, tolerant }] of last) {
    const current = state.get(key)
    if (absent && current !== undefined) return Either.left("ConflictError")
    if (edit._tag !== "delete") effects.set(key, written(current, edit.fields))
    else if (current !== undefined) effects.set(key, null)
    else if (!tolerant) return Either.left("NotFoundError")
  }
  return Either.right(effects)
}

/** The version of `past`, brought back over `state`. */
export const restore = (state: State, past: State, key: string): Either.Either<Effects, Refusal> => {
  const version = past.get(key)
  if (version === undefined) return Either.left("NotFoundError")
  const current = state.get(key)
  return one(key, written(current ?? version, version))
}

/** The documents that `commit` changed against `parent`, as they were before it. */
export const revert = (
  state: State,
  commit: State,
  parent: State,
  force: boolean
): Either.Either<Effects, Refusal> => {
  const effects = new Map<string, Written | null>()
  let changed = 0
  for (const key of new Set([...commit.keys(), ...parent.keys()])) {
    const after = commit.get(key)
    const before = parent.get(key)
    if (sameVersion(after, before)) continue
    changed++
    const current = state.get(key)
    if (!force && !sameVersion(current, after)) return Either.left("ConflictError")
    if (before !== undefined) effects.set(key, written(current ?? before, before))
    else if (current !== undefined) effects.set(key, null)
  }
  return changed === 0 || effects.size === 0 ? Either.left("ValidationError") : Either.right(effects)
}

/** The same stored bytes. */
export const sameVersion = (a: StoredDocument | undefined, b: StoredDocument | undefined): boolean =>
  canonical(a ?? null) === canonical(b ?? null)

/** One text for each JSON value, whatever the order of its keys. */
export const canonical = (value: Json | undefined): string => {
  if (value === undefined) return "undefined"
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  const object = value as JsonObject
  return `{${Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(object[name])}`)
    .join(",")}}`
}

/** Whether a document's field equals a value, or is a list that holds it. */
export const matches = (document: JsonObject, field: string, value: Json): boolean => {
  const actual = document[field]
  if (actual === undefined) return false
  const wanted = canonical(value)
  return (
    canonical(actual) === wanted ||
    (Array.isArray(actual) && actual.some((item) => canonical(item) === wanted))
  )
}
