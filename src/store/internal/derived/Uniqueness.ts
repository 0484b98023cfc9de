import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import { ConflictError, type ReadError, type UniqueViolation } from "../../../domain/errors/StoreError.js"
import { type IndexDefinition, indexHolds } from "../../../domain/indexes/IndexDefinition.js"
import type { DocumentChange } from "../../../domain/indexes/IndexFile.js"
import { tupleSortKey } from "../../../domain/indexes/SortKey.js"
import { describeViolation, maxViolationsInMessage } from "../../../domain/indexes/UniqueViolation.js"
import { valueAt } from "../../../domain/json/FieldPath.js"
import type { Json } from "../../../domain/json/Json.js"
import type { LosslessJson, LosslessObject } from "../../../domain/json/LosslessJson.js"
import { toJson } from "../../../domain/json/LosslessJson.js"
import { type Values, valuesOf } from "../ordered-tree/IndexRows.js"

/** The values of a document that must be unique, by their key in the index. */
export type UniqueValues = ReadonlyMap<string, Values>

/** A unique index of a collection as stored in a snapshot. */
export interface UniqueIndex {
  readonly collection: string
  readonly definition: IndexDefinition
  /** For each key, a document that has it and is not in `except`; none if the index is damaged. */
  readonly holders: (
    values: UniqueValues,
    except: ReadonlySet<string>
  ) => Effect.Effect<Option.Option<ReadonlyMap<string, string>>, ReadError>
}

const isPresent = (value: LosslessJson | undefined): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

/** The values of a document in the fields of a unique index. Missing values, null and empty lists are not compared. */
export const uniqueValues = (index: IndexDefinition, document: LosslessObject): UniqueValues => {
  if (!indexHolds(index, document)) return new Map()
  const { fields } = index
  const directions = fields.map(({ order }) => order)
  return new Map(
    valuesOf(fields, (path) => valueAt(document, path))
      .filter((values) => values.every(isPresent))
      .map((values) => [tupleSortKey(values, directions), values])
  )
}

/** The value of an index as errors show it. */
const valueOf = ({ fields }: IndexDefinition, values: Values): unknown =>
  fields.length === 1
    ? toJson(values[0])
    : Object.fromEntries(fields.map(({ path }, at): [string, Json | undefined] => [path, toJson(values[at])]))

/** A violation: a value that a document would share with another one. */
export const violationOf = (
  { collection, definition }: Pick<UniqueIndex, "collection" | "definition">,
  values: Values,
  id: string,
  other: string
): UniqueViolation => ({
  collection,
  index: definition.name,
  value: valueOf(definition, values),
  id,
  other
})

/** The pairs of documents that share a value, each pair once. */
const pairs = (
  unique: Pick<UniqueIndex, "collection" | "definition">,
  values: Values,
  ids: ReadonlyArray<string>,
  holders: ReadonlyArray<string>
): ReadonlyArray<UniqueViolation> => {
  const [first, second] = [...new Set(holders)].sort()
  if (second === undefined) return []
  const later = ids.filter((id) => id !== first).sort()
  return later.length === 0
    ? [violationOf(unique, values, first!, second)]
    : later.map((id) => violationOf(unique, values, id, first!))
}

/** The documents that have each value, for all or some values. */
export const holdersAmong = (
  index: IndexDefinition,
  documents: Iterable<Pick<DocumentChange, "id" | "document">>,
  wanted?: ReadonlyMap<string, unknown>
) => {
  const holders = new Map<string, Array<string>>()
  return Effect.as(
    TimeSlice.forEach(documents, ({ document, id }) =>
      Effect.sync(() => {
        if (document === undefined) return
        for (const key of uniqueValues(index, document).keys()) {
          if (wanted !== undefined && !wanted.has(key)) continue
          const ids = holders.get(key)
          if (ids === undefined) holders.set(key, [id])
          else ids.push(id)
        }
      })
    ),
    holders
  )
}

/** The values that changed documents gain. */
const newValues = (index: IndexDefinition, changes: ReadonlyArray<DocumentChange>) => {
  const found = new Map<string, { readonly values: Values; readonly ids: Array<string> }>()
  for (const { before, document, id } of changes) {
    if (document === undefined) continue
    const values = uniqueValues(index, document)
    if (values.size === 0) continue
    const had = before === undefined ? undefined : uniqueValues(index, before())
    for (const [key, value] of values) {
      if (had?.has(key) === true) continue
      const holders = found.get(key)
      if (holders === undefined) found.set(key, { values: value, ids: [id] })
      else holders.ids.push(id)
    }
  }
  return found
}

/**
 * The violations that a commit would cause through its `own` changes; `all` are the changes that the stored index
 * lacks. None if the stored index is damaged.
 */
export const violations = (
  unique: UniqueIndex,
  own: ReadonlyArray<DocumentChange>,
  all: ReadonlyArray<DocumentChange>
): Effect.Effect<Option.Option<ReadonlyArray<UniqueViolation>>, ReadError> =>
  Effect.gen(function* () {
    const wanted = newValues(unique.definition, own)
    if (wanted.size === 0) return Option.some([])
    const values = new Map(Array.from(wanted, ([key, one]) => [key, one.values]))
    const stored = yield* unique.holders(values, new Set(all.map(({ id }) => id)))
    if (Option.isNone(stored)) return Option.none()
    const changed = yield* holdersAmong(unique.definition, all, wanted)
    return Option.some(
      Array.from(wanted).flatMap(([key, { ids, values }]) => {
        const other = stored.value.get(key)
        return pairs(unique, values, ids, [
          ...(changed.get(key) ?? []),
          ...(other === undefined ? [] : [other])
        ])
      })
    )
  })

/** The violations among all documents, for a rebuild. Without `own` every document is checked. */
export const violationsAmong = (
  unique: UniqueIndex,
  documents: ReadonlyArray<DocumentChange>,
  own: ReadonlyArray<DocumentChange> | undefined
): Effect.Effect<ReadonlyArray<UniqueViolation>> =>
  Effect.gen(function* () {
    const { definition } = unique
    const wanted = own === undefined ? undefined : newValues(definition, own)
    if (wanted?.size === 0) return []
    const holders = yield* holdersAmong(definition, documents, wanted)
    const shared = Array.from(holders).filter(([, ids]) => ids.length > 1)
    if (shared.length === 0) return []
    const byId = new Map(documents.map(({ document, id }) => [id, document]))
    return shared.flatMap(([key, ids]) => {
      const claim = wanted?.get(key)
      const values = claim?.values ?? uniqueValues(definition, byId.get(ids[0]!)!).get(key)!
      return pairs(unique, values, claim?.ids ?? ids, ids)
    })
  })

/** The violations among the rows of an index in order of their keys, where rows with one value are adjacent. */
export const violationsInOrder = (
  unique: Pick<UniqueIndex, "collection" | "definition">,
  own: ReadonlyArray<DocumentChange> | undefined
) => {
  const { fields } = unique.definition
  const directions = fields.map(({ order }) => order)
  const wanted = own === undefined ? undefined : newValues(unique.definition, own)
  const found: Array<UniqueViolation> = []
  let current: { readonly key: string; readonly values: Values; readonly ids: Array<string> } | undefined
  const close = () => {
    if (current === undefined || current.ids.length === 1) return
    const ids = wanted?.get(current.key)?.ids ?? current.ids
    for (const violation of pairs(unique, current.values, ids, current.ids)) found.push(violation)
  }
  return {
    add: (row: LosslessObject): void => {
      const values = fields.map(({ path }) => (Object.hasOwn(row, path) ? row[path] : undefined))
      if (!values.every(isPresent)) return
      const key = tupleSortKey(values, directions)
      if (wanted !== undefined && !wanted.has(key)) return
      const id = String(row["_id"])
      if (current?.key === key) current.ids.push(id)
      else {
        close()
        current = { key, values, ids: [id] }
      }
    },
    end: (): ReadonlyArray<UniqueViolation> => {
      close()
      current = undefined
      return found
    }
  }
}

/** The values that several documents have, with the ids. */
export const duplicatesAmong = (index: IndexDefinition, documents: ReadonlyMap<string, LosslessObject>) => {
  const all = Array.from(documents, ([id, document]) => ({ id, document }))
  return Effect.map(holdersAmong(index, all), (holders) =>
    Array.from(holders).flatMap(([key, ids]) => {
      if (ids.length === 1) return []
      const values = uniqueValues(index, documents.get(ids[0]!)!).get(key)!
      return [{ ids: ids.sort(), value: valueOf(index, values) }]
    })
  )
}

/** The most violations that one error lists. */
export const maxListed = 20

/** The other documents that a violation error names. */
export const othersIn = (all: ReadonlyArray<UniqueViolation>) => {
  const others = all
    .slice(0, maxListed)
    .map(({ collection, other }) => [`${collection}/${other}`, { collection, id: other }] as const)
  return Array.from(new Map(others).values())
}

/** The error for values that two documents would share. */
export const violationError = (
  operation: string,
  all: ReadonlyArray<UniqueViolation>,
  isReindex: boolean,
  conflicts: ConflictError["conflicts"]
): ConflictError => {
  const named = all.slice(0, maxViolationsInMessage).map(describeViolation).join("; ")
  const [first] = all
  return new ConflictError({
    operation,
    collection: first?.collection,
    id: first?.id,
    message:
      all.length <= maxViolationsInMessage
        ? named
        : `${named}; and ${all.length - maxViolationsInMessage} more`,
    hint: isReindex
      ? "change or delete all but one of the documents with each value, or take unique out of the settings, and try again"
      : "write another value, or change the document that has it; one batch may swap values",
    conflicts,
    reason: "UniqueViolation",
    violations: all.slice(0, maxListed)
  })
}
