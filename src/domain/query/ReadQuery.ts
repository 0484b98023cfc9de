import * as Either from "effect/Either"
import type { IndexField } from "../indexes/IndexDefinition.js"
import { nearest } from "../text/NearestName.js"
import { kindOf } from "../text/ValueKind.js"
import { type Order, orderOf } from "./Ordering.js"
import { always, type Predicate } from "./Predicate.js"
import { pathProblem, QueryProblem, readWhere } from "./ReadWhere.js"

/** A validated query. */
export interface CheckedQuery {
  readonly predicate: Predicate
  readonly order: Order
  readonly limit: number | undefined
  readonly cursor: string | undefined
  readonly select: ReadonlyArray<string> | undefined
}

/** The maximum number of fields of an order and of a selection. */
export const maxFields = 100

const members = ["where", "orderBy", "limit", "cursor", "select"]

const refuse = (path: string, problem: string, hint?: string): never => {
  throw new QueryProblem(path, problem, hint)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const listOf = (name: string, given: unknown): ReadonlyArray<unknown> => {
  const list: ReadonlyArray<unknown> = Array.isArray(given) ? given : [given]
  return list.length <= maxFields
    ? Array.from(list)
    : refuse(name, `has ${list.length} fields: at most ${maxFields}`)
}

const pathOf = (at: string, given: unknown): string => {
  const problem = pathProblem(given)
  return problem === undefined ? (given as string) : refuse(at, problem)
}

const readField = (given: unknown, index: number): IndexField => {
  const at = `orderBy[${index}]`
  if (!isObject(given)) return { path: pathOf(at, given), order: "asc" }
  for (const key of Object.keys(given)) {
    if (key !== "field" && key !== "order") {
      return refuse(`${at}.${key}`, "is unknown", 'write "price" or { field: "price", order: "desc" }')
    }
  }
  const { field, order = "asc" } = given
  return order === "asc" || order === "desc"
    ? { path: pathOf(`${at}.field`, field), order }
    : refuse(`${at}.order`, 'must be "asc" or "desc"')
}

const read = (given: unknown = {}): CheckedQuery => {
  if (!isObject(given)) return refuse("query", `must be an object, it is ${kindOf(given)}`)
  for (const key of Object.keys(given)) {
    if (members.includes(key)) continue
    const meant = nearest(key, members)
    refuse(
      key,
      meant === undefined
        ? `is no part of a query; the parts are ${members.join(", ")}`
        : `is no part of a query: did you mean ${meant}?`
    )
  }
  const { cursor, limit, orderBy, select, where } = given
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) >= 1)) {
    refuse("limit", "must be a whole number, at least 1")
  }
  if (cursor !== undefined && cursor !== null && typeof cursor !== "string") {
    refuse("cursor", `must be the cursor of the page before, it is ${kindOf(cursor)}`)
  }
  if (select !== undefined && !Array.isArray(select)) {
    refuse("select", `must be a list of paths, it is ${kindOf(select)}`)
  }
  return {
    predicate: where === undefined ? always : readWhere(where),
    order: orderOf(orderBy === undefined ? [] : listOf("orderBy", orderBy).map(readField)),
    limit: limit as number | undefined,
    cursor: (cursor as string | null | undefined) ?? undefined,
    select:
      select === undefined
        ? undefined
        : [...new Set(listOf("select", select).map((path, index) => pathOf(`select[${index}]`, path)))]
  }
}

/** Validates a query. The result shares no objects with the input. */
export const readQuery = (given: unknown): Either.Either<CheckedQuery, QueryProblem> =>
  Either.try({
    try: () => read(given),
    catch: (cause) =>
      cause instanceof QueryProblem ? cause : new QueryProblem("query", `cannot be read: ${cause}`)
  })
