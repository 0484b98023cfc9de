import {
  type IndexDefinition,
  type IndexField,
  isPlainIndex
} from "../../../domain/indexes/IndexDefinition.js"
import { afterPrefix, tupleSortKey } from "../../../domain/indexes/SortKey.js"
import type { Json } from "../../../domain/json/Json.js"
import { equalJson } from "../../../domain/json/JsonEquality.js"
import { type Order, testsAt } from "../../../domain/query/Ordering.js"
import { conjuncts, type Predicate, pathsIn, type Test } from "../../../domain/query/Predicate.js"
import type { CheckedQuery } from "../../../domain/query/ReadQuery.js"
import { type FieldRange, type KeyRange, keysBelow, present, rangesOf } from "./KeyRanges.js"

/** A contiguous range of index rows, with the values of the first fields that all of them share. */
export interface IndexSpan extends KeyRange {
  readonly common: ReadonlyArray<Json>
}

/** Reads ranges of an index of format 2. */
export interface TreePlan {
  readonly _tag: "Tree"
  readonly index: IndexDefinition
  readonly spans: ReadonlyArray<IndexSpan>
  /** The number of leading fields that the spans restrict. */
  readonly restricted: number
  /** Whether the rows of each span are in the order of the query. */
  readonly isOrdered: boolean
  readonly reverse: boolean
  /** Whether documents with equal fields occur in the reverse order of their ids. */
  readonly idsAreOpposite: boolean
}

/** Looks up values in an index of format 1. */
export interface ValuesPlan {
  readonly _tag: "Values"
  /** The name of the index, and the member that it indexes. */
  readonly name: string
  readonly path: string
  readonly values: ReadonlyArray<Json>
}

/** Reads a manifest that contains all fields of the query, instead of the documents. */
export interface ManifestPlan {
  readonly _tag: "Manifest"
  readonly fields: ReadonlyArray<string>
}

export interface ScanPlan {
  readonly _tag: "Scan"
  readonly reason: string
}

export type QueryPlan = TreePlan | ValuesPlan | ManifestPlan | ScanPlan

/** What a collection offers for planning. */
export interface PlannerInput {
  readonly format: number
  /** False if the repository has no settings: then there may be index files that no settings name. */
  readonly recorded: boolean
  readonly indexes: ReadonlyArray<IndexDefinition>
  readonly projected: ReadonlyArray<string> | undefined
}

/** The most spans for one query: `in` conditions on several fields multiply. */
const maxSpans = 200

/** The most values that are looked up in an index of format 1. */
const maxValues = 50

const isImplied = (predicate: Predicate, { where }: IndexDefinition): boolean =>
  Array.from(where ?? []).every(([path, value]) =>
    conjuncts(predicate).some(
      (one) =>
        one._tag === "Field" &&
        one.path === path &&
        one.tests.some((test) => test.operator === "is" && equalJson(test.value, value))
    )
  )

/** A rough measure of how selective some tests are. */
const weight = (tests: ReadonlyArray<Test>): number =>
  tests.some(({ operator }) => operator === "is")
    ? 3
    : tests.some(({ operator }) => operator === "in")
      ? 2
      : 1

/** Whether a list as a whole can satisfy some tests. */
export const comparesWholeList = (tests: ReadonlyArray<Test>): boolean =>
  tests.some(
    (test) =>
      (test.operator === "is" && Array.isArray(test.value)) ||
      (test.operator === "in" && test.value.some((value) => Array.isArray(value)))
  )

/**
 * The ranges of a field that contain a row of every document that satisfies the predicate; undefined if nothing
 * restricts the field.
 */
const restriction = (
  predicate: Predicate,
  path: string,
  isOrdering: boolean
): ReadonlyArray<FieldRange> | undefined => {
  const only = testsAt(predicate, path)
  // The row that determines a document's position must be read, and any element of a list may be that row.
  if (isOrdering) return only === undefined || comparesWholeList(only) ? undefined : rangesOf(only)
  const found = conjuncts(predicate).flatMap((one) =>
    one._tag === "Field" && one.path === path ? [one.tests] : []
  )
  const [best] = found.sort((a, b) => weight(b) - weight(a))
  if (best !== undefined) return rangesOf(best)
  const exists = conjuncts(predicate).some((one) => one._tag === "Exists" && one.path === path)
  return exists ? [present] : undefined
}

interface Spans {
  readonly spans: ReadonlyArray<IndexSpan>
  /** The number of leading fields that have one value in each span. */
  readonly common: number
  readonly restricted: number
}

const keyOfCommon = (fields: ReadonlyArray<IndexField>, common: ReadonlyArray<Json>): string =>
  tupleSortKey(
    common,
    fields.map(({ order }) => order)
  )

const spansOf = (
  fields: ReadonlyArray<IndexField>,
  predicate: Predicate,
  ordering: ReadonlyArray<IndexField>
): Spans => {
  let heads: ReadonlyArray<ReadonlyArray<Json>> = [[]]
  for (const [at, field] of fields.entries()) {
    const isOrdering = ordering.some(({ path }) => path === field.path)
    const ranges = restriction(predicate, field.path, isOrdering)
    const within = (ranges: ReadonlyArray<FieldRange> | undefined): Spans => ({
      spans: heads.flatMap((common) => {
        const prefix = keyOfCommon(fields, common)
        return ranges === undefined
          ? [{ common, from: prefix, until: afterPrefix(prefix) }]
          : ranges.map((range) => ({ common, ...keysBelow(prefix, field, range) }))
      }),
      common: at,
      restricted: ranges === undefined ? at : at + 1
    })
    if (ranges === undefined || heads.length * ranges.length > maxSpans) return within(undefined)
    if (ranges.some(({ value }) => value === undefined)) return within(ranges)
    heads = heads.flatMap((common) => ranges.map(({ value }) => [...common, value!]))
  }
  const spans = heads.map((common) => {
    const prefix = keyOfCommon(fields, common)
    return { common, from: prefix, until: afterPrefix(prefix) }
  })
  return { spans, common: fields.length, restricted: fields.length }
}

const unordered = { isOrdered: false, reverse: false, idsAreOpposite: false }

/** Whether rows are in the order of a query, and in which direction they are read. */
const orderingOf = (
  { fields }: IndexDefinition,
  common: number,
  { fields: wanted, ids }: Order
): Pick<TreePlan, "isOrdered" | "reverse" | "idsAreOpposite"> => {
  const same = new Set(fields.slice(0, common).map(({ path }) => path))
  const rest = wanted.filter(({ path }) => !same.has(path))
  const further = fields.slice(common)
  if (further.length !== rest.length || rest.some(({ path }, at) => further[at]!.path !== path)) {
    return unordered
  }
  if (rest.length === 0) return { isOrdered: true, reverse: ids === "desc", idsAreOpposite: false }
  const turned = rest.map(({ order }, at) => further[at]!.order !== order)
  const reverse = turned[0]!
  if (turned.some((one) => one !== reverse)) return unordered
  return { isOrdered: true, reverse, idsAreOpposite: reverse !== (ids === "desc") }
}

const treePlan = (index: IndexDefinition, { order, predicate }: CheckedQuery): TreePlan => {
  const plan = (ordering: ReadonlyArray<IndexField>): TreePlan => {
    const { common, restricted, spans } = spansOf(index.fields, predicate, ordering)
    return { _tag: "Tree", index, spans, restricted, ...orderingOf(index, common, order) }
  }
  const ordered = plan(order.fields)
  // Without the order, more fields may be restricted, for example by two conditions on one field, or by `exists`.
  const further = plan([])
  return !ordered.isOrdered || further.restricted > ordered.restricted
    ? { ...further, ...unordered }
    : ordered
}

/** The worth of a plan; 0 if it reads every document in no order. */
const worthOf = (plan: TreePlan): number => {
  const partial = plan.index.where === undefined ? 0 : 1
  if (plan.restricted === 0 && partial === 0 && !plan.isOrdered) return 0
  const single = plan.spans.length <= 1 ? 1 : 0
  return plan.restricted * 8 + (plan.isOrdered ? 4 : 0) + partial + single
}

const covers = (projected: ReadonlyArray<string>, { order, predicate, select }: CheckedQuery): boolean => {
  if (select === undefined) return false
  // A projected name is a top-level member. A path with dots may lead to a nested one.
  const covered = new Set(["_id", ...projected.filter((name) => !name.includes("."))])
  const asked = [...select, ...pathsIn(predicate), ...order.fields.map(({ path }) => path)]
  return asked.every((path) => covered.has(path))
}

/** The values to look up in an index of format 1. */
const valuesOf = (tests: ReadonlyArray<Test>): ReadonlyArray<Json> | undefined => {
  for (const test of tests) {
    if (test.operator === "is") return [test.value]
    if (test.operator === "in" && test.value.length <= maxValues) return test.value
  }
  return undefined
}

/** The name of the plain index of a member; an index with the member's name takes precedence. */
const plainIndexOf = ({ indexes, recorded }: PlannerInput, path: string): string | undefined => {
  if (!recorded) return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(path) ? path : undefined
  const names = indexes
    .filter((index) => isPlainIndex(index) && index.fields[0]!.path === path)
    .map(({ name }) => name)
  return names.includes(path) ? path : names[0]
}

const valuesPlan = ({ predicate }: CheckedQuery, means: PlannerInput): ValuesPlan | undefined => {
  const found = conjuncts(predicate).flatMap((one): ReadonlyArray<ValuesPlan> => {
    if (one._tag !== "Field") return []
    const { path, tests, whole } = one
    // A file of this format contains top-level members by their whole names, but no nested paths.
    if (path.includes(".") && !whole) return []
    const values = valuesOf(tests)
    const name = plainIndexOf(means, path)
    return values === undefined || name === undefined ? [] : [{ _tag: "Values", name, path, values }]
  })
  return found.sort((a, b) => a.values.length - b.values.length)[0]
}

/** Chooses the plan of a query: the best index, a manifest, or reading every document. */
export const planQuery = (query: CheckedQuery, means: PlannerInput): QueryPlan => {
  if (means.format === 1) {
    return valuesPlan(query, means) ?? { _tag: "Scan", reason: "no index fits the query" }
  }
  const [best] = means.indexes
    .filter((index) => isImplied(query.predicate, index))
    .map((index) => {
      const plan = treePlan(index, query)
      return { plan, worth: worthOf(plan) }
    })
    .filter(({ worth }) => worth > 0)
    .sort((a, b) => b.worth - a.worth)
  const { projected } = means
  const manifest: QueryPlan | undefined =
    projected !== undefined && covers(projected, query) ? { _tag: "Manifest", fields: projected } : undefined
  if (best !== undefined && (best.plan.restricted > 0 || manifest === undefined)) return best.plan
  return manifest ?? { _tag: "Scan", reason: "no index fits the query" }
}
