import { valueAt } from "../../domain/json/FieldPath.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { SessionView } from "../../http/console/Api.js"
import type { Filter, Operator } from "../../store/browse/Filter.js"
import { valuesAt } from "../../store/browse/PathValues.js"
import type { Route } from "../navigation/Route.js"

const shellQuoted = (text: string) =>
  /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

export const queryLanguages = ["TypeScript", "Command line", "curl"] as const
export type QueryLanguage = (typeof queryLanguages)[number]

/** The operators of the condition syntax. */
const operatorSigns: { readonly [Name in Operator]?: string } = {
  is: "=",
  isNot: "!=",
  lessThan: "<",
  atMost: "<=",
  greaterThan: ">",
  atLeast: ">="
}

const combinators: ReadonlyArray<string> = ["and", "or", "not"]

const isBound = (operator: Operator) => /^(less|at|greater)/.test(operator)

/**
 * Whether a filter has the same meaning as a condition of the library. A filter's path also matches inside lists, and its
 * texts ignore case. The rows show what the path matches.
 */
const isCondition =
  (rows: ReadonlyArray<JsonObject>) =>
  ({ operator, path, value }: Filter): boolean => {
    const known = operatorSigns[operator] !== undefined || operator === "exists" || operator === "missing"
    if (!known || path === "" || combinators.includes(path)) return false
    if (isBound(operator) && typeof value !== "number" && typeof value !== "string") return false
    return rows.every((row) => {
      const [found, another] = valuesAt(row, path)
      return another === undefined && found === valueAt(row, path)
    })
  }

const conditionOf = ({ operator, path, value }: Filter) => ({
  [path]:
    operator === "exists" || operator === "missing"
      ? { exists: operator === "exists" }
      : { [operator]: value }
})

const whereOf = (filters: ReadonlyArray<Filter>) =>
  filters.length === 1 ? conditionOf(filters[0]!) : { and: filters.map(conditionOf) }

const textOf = ({ operator, path, value }: Filter): string => {
  const sign = operatorSigns[operator]
  const field = JSON.stringify(path)
  return sign === undefined ? `${field} ${operator}` : `${field}${sign}${JSON.stringify(value)}`
}

/** The selected columns; undefined for all. */
const chosenOf = ({ columns }: Route) => (columns === "all" ? undefined : columns)

const ordersOf = ({ sort }: Route) =>
  sort.map(({ descending, path }) => ({ field: path, order: descending ? "desc" : "asc" }))

/** The `orderBy` of a query: one field, or a list. */
const orderOf = (route: Route) => {
  const orders = ordersOf(route)
  return orders.length < 2 ? orders[0] : orders
}

/** Whether a name can be in a comma-separated list. */
const isListable = (name: string) => name !== "" && name === name.trim() && !name.includes(",")

/** The top-level fields of the columns: the command line prints only these. */
const topFields = (columns: ReadonlyArray<string>, rows: ReadonlyArray<JsonObject>) => [
  ...new Set(
    columns.map((column) =>
      rows.some((row) => Object.hasOwn(row, column)) ? column : column.split(".", 1)[0]!
    )
  )
]

/** Whether a language can express the whole query. */
export const canExpress = (
  code: QueryLanguage,
  route: Route,
  rows: ReadonlyArray<JsonObject> = []
): boolean =>
  code !== "Command line" ||
  (route.filters.every(isCondition(rows)) &&
    route.sort.every(({ path }) => isListable(path) && !/\s(asc|desc)$/i.test(path)) &&
    (chosenOf(route)?.every(isListable) ?? true))

const print = (value: unknown) => JSON.stringify(value, null, 2)

const typeScript = (route: Route, rows: ReadonlyArray<JsonObject>): string => {
  const { at, filters, limit } = route
  const conditions = filters.filter(isCondition(rows))
  const rest = filters.filter((filter) => !conditions.includes(filter))
  const opened = at === undefined ? "" : `const view = yield* store.at(${JSON.stringify(at)})\n`
  const collection = `${at === undefined ? "store" : "view"}.collection(${JSON.stringify(route.collection ?? "")})`
  const chosen = chosenOf(route)
  const select =
    chosen &&
    [...new Set([...chosen, ...rest.flatMap(({ path }) => [path, path.split(".", 1)[0]!])])].filter(
      (path) => path !== ""
    )
  const asked = {
    where: conditions.length === 0 ? undefined : whereOf(conditions),
    orderBy: orderOf(route),
    select
  }
  if (rest.length > 0) {
    return `import { matchesAll } from "chainstore/store"
import * as Stream from "effect/Stream"

const filters = ${print(rest)} as const
${opened}const documents = yield* ${collection}
  .queryAll(${print(asked)})
  .pipe(Stream.filter((document) => matchesAll(document, filters)), Stream.take(${limit}), Stream.runCollect)
`
  }
  const isPlain = Object.values(asked).every((part) => part === undefined)
  const call = isPlain ? `page({ limit: ${limit} })` : `query(${print({ ...asked, limit })})`
  return `${opened}const { documents } = yield* ${collection}.${call}\n`
}

const commandLine = (session: SessionView, route: Route, rows: ReadonlyArray<JsonObject>): string => {
  const { at, filters, limit } = route
  const orders = ordersOf(route)
  const columns = chosenOf(route)
  const option = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`--${name}`, shellQuoted(value)]
  return `${[
    "chainstore query",
    shellQuoted(route.collection ?? ""),
    ...option("where", filters.length === 0 ? undefined : filters.map(textOf).join(" and ")),
    ...option(
      "order",
      orders.length === 0 ? undefined : orders.map(({ field, order }) => `${field} ${order}`).join(", ")
    ),
    ...option("columns", columns && topFields(columns, rows).join(",")),
    ...option("limit", String(limit)),
    ...option("at", at),
    ...option("repo", session.repo),
    ...option("branch", session.branch),
    ...option("root", session.root)
  ].join(" ")}\n`
}

/** A `jq` program that selects the columns. */
const columnsByJq = (columns: ReadonlyArray<string>, rows: ReadonlyArray<JsonObject>): string => {
  const steps = (column: string): Json =>
    rows.some((row) => Object.hasOwn(row, column)) ? [column] : column.split(".")
  const fields = columns.map(
    (column) => `${JSON.stringify(column)}: getpath(${JSON.stringify(steps(column))})`
  )
  return `[.documents[] | {${fields.join(", ")}}]`
}

const curl = (route: Route, rows: ReadonlyArray<JsonObject>): string => {
  const { at, collection, filters, limit, sort, whole } = route
  const columns = chosenOf(route)
  // The server sorts a whole collection only with `where`.
  const asked =
    sort.length > 0 && filters.every(isCondition(rows))
      ? { where: filters.length === 0 ? undefined : whereOf(filters), orderBy: orderOf(route) }
      : { filters, sort: sort.length === 0 ? undefined : sort, projected: !whole }
  const body = JSON.stringify({ collection: collection ?? "", ...asked, limit, at })
  const request = `curl -b "$COOKIES" -H 'Content-Type: application/json' -H "Origin: $CONSOLE" "$CONSOLE/api/query" -d ${shellQuoted(body)}`
  return columns === undefined
    ? `${request}\n`
    : `${request} | jq ${shellQuoted(columnsByJq(columns, rows))}\n`
}

/**
 * The query as code in a language. The loaded rows show which kinds of values the paths match.
 */
export const queryCode = (
  kind: QueryLanguage,
  session: SessionView,
  route: Route,
  rows: ReadonlyArray<JsonObject> = []
): string => {
  switch (kind) {
    case "TypeScript":
      return typeScript(route, rows)
    case "Command line":
      return commandLine(session, route, rows)
    case "curl":
      return curl(route, rows)
  }
}
