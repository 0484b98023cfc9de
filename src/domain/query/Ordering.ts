import type { IndexField } from "../indexes/IndexDefinition.js"
import { type Direction, descending, type SortValue, sortKey, textPrefixKey } from "../indexes/SortKey.js"
import { valueAt } from "../json/FieldPath.js"
import { indexable, type LosslessJson, type LosslessObject, toJson } from "../json/LosslessJson.js"
import { satisfiesAll } from "./Matching.js"
import { conjuncts, type Predicate, type Test } from "./Predicate.js"

/** A total order of documents: by fields, then by `_id` in a direction. */
export interface Order {
  readonly fields: ReadonlyArray<IndexField>
  readonly ids: Direction
}

/** The order of some fields. What follows `_id` orders nothing, and a field counts where it comes first. */
export const orderOf = (given: ReadonlyArray<IndexField>): Order => {
  const fields: Array<IndexField> = []
  for (const field of given) {
    if (field.path === "_id") return { fields, ids: field.order }
    if (!fields.some(({ path }) => path === field.path)) fields.push(field)
  }
  return { fields, ids: fields.at(-1)?.order ?? "asc" }
}

/**
 * The tests that choose among the elements of a list which of them orders its document: those of the one condition at
 * this path that every document satisfies. None where there is no such condition, or more than one.
 */
export const testsAt = (predicate: Predicate, path: string): ReadonlyArray<Test> | undefined => {
  const found = conjuncts(predicate).filter((one) => one._tag === "Field" && one.path === path)
  const [only] = found
  return found.length === 1 && only?._tag === "Field" ? only.tests : undefined
}

const isList = (value: SortValue): value is ReadonlyArray<LosslessJson> => Array.isArray(value)

/** The key that sorts an `_id` behind the keys of fields. Downwards it needs its end: there an id follows all that it begins. */
export const idKey = (id: string, direction: Direction): string =>
  direction === "desc" ? descending(sortKey(id)) : textPrefixKey(id)

/**
 * The key of a document in an order: keys sort as the documents do. A list counts as its first element in the direction of
 * the field, among those that the condition lets through.
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

/** The values that a document has in a field: the elements of a list one by one, and an empty list itself. */
export const valuesIn = (document: LosslessObject, path: string): ReadonlyArray<LosslessJson> => {
  const value = valueAt(document, path)
  const values = isList(value) && value.length > 0 ? value : [value]
  return values.flatMap((one) => {
    const found = indexable(one)
    return found === undefined ? [] : [found]
  })
}
