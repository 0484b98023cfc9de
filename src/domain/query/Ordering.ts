import type { IndexField } from "../indexes/IndexDefinition.js"
import { type Direction, descending, type SortValue, sortKey, textPrefixKey } from "../indexes/SortKey.js"
import { valueAt } from "../json/FieldPath.js"
import { indexable, type LosslessJson, type LosslessObject, toJson } from "../json/LosslessJson.js"
import { satisfiesAll } from "./Matching.js"
import { conjuncts, type Predicate, type Test } from "./Predicate.js"

/** A total order of documents: by fields, then by `_id`. */
export interface Order {
  readonly fields: ReadonlyArray<IndexField>
  readonly ids: Direction
}

/** The order by some fields. Fields after `_id` and repeated fields are ignored. */
export const orderOf = (given: ReadonlyArray<IndexField>): Order => {
  const fields: Array<IndexField> = []
  for (const field of given) {
    if (field.path === "_id") return { fields, ids: field.order }
    if (!fields.some(({ path }) => path === field.path)) fields.push(field)
  }
  return { fields, ids: fields.at(-1)?.order ?? "asc" }
}

/**
 * The tests that select the element of a list by which its document is sorted: those of the only condition at this path
 * that every document satisfies. Undefined if there is no such condition, or more than one.
 */
export const testsAt = (predicate: Predicate, path: string): ReadonlyArray<Test> | undefined => {
  const found = conjuncts(predicate).filter((one) => one._tag === "Field" && one.path === path)
  const [only] = found
  return found.length === 1 && only?._tag === "Field" ? only.tests : undefined
}

const isList = (value: SortValue): value is ReadonlyArray<LosslessJson> => Array.isArray(value)

/** The sort key of an `_id` after the keys of the fields. In descending order it needs an end mark: ids sort after their extensions. */
export const idKey = (id: string, direction: Direction): string =>
  direction === "desc" ? descending(sortKey(id)) : textPrefixKey(id)

/**
 * A function that computes the sort key of a document in an order. A list is sorted by its first element in the field's
 * direction, among those that satisfy the condition.
 */
export const sortKeys = (
  { fields, ids }: Order,
  predicate: Predicate
): ((document: LosslessObject, id: string) => string) => {
  const keys = fields.map(({ order, path }) => {
    const tests = testsAt(predicate, path)
    const satisfies = tests === undefined ? undefined : satisfiesAll(tests)
    const keyOf = (value: SortValue) => {
      const key = sortKey(indexable(value))
      return order === "desc" ? descending(key) : key
    }
    return (document: LosslessObject): string => {
      const value = valueAt(document, path)
      if (!isList(value) || value.length === 0) return keyOf(value)
      const allowed = satisfies === undefined ? value : value.filter((one) => satisfies(toJson(one)))
      return (allowed.length === 0 ? value : allowed).map(keyOf).sort()[0]!
    }
  })
  return (document, id) => keys.map((key) => key(document)).join("") + idKey(id, ids)
}
