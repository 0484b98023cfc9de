import type { Json } from "../../domain/json/Json.js"
import type { Sort } from "../../store/browse/Browse.js"
import type { Filter, Operator } from "../../store/browse/Filter.js"
import { operators, takesValue } from "../../store/browse/Filter.js"

const panels = [
  "history",
  "commits",
  "timeline",
  "branches",
  "proposals",
  "edit",
  "import",
  "change",
  "review"
] as const

/** The state of the page that its address contains. It never contains a token. */
export interface Route {
  readonly api?: string | undefined
  readonly repo?: string | undefined
  readonly branch?: string | undefined
  readonly root?: string | undefined
  readonly collection?: string | undefined
  readonly filters: ReadonlyArray<Filter>
  /** Filters of the address that cannot be parsed, unchanged. The query does not run without them. */
  readonly invalidFilters: ReadonlyArray<string>
  /** The sort keys, most significant first. */
  readonly sort: ReadonlyArray<Sort>
  /** The selected columns in their order. Default: the first `defaultColumnLimit`. */
  readonly columns?: ReadonlyArray<string> | "all" | undefined
  readonly limit: number
  /** Whether to read whole documents even if a manifest has the fields. */
  readonly whole: boolean
  readonly document?: string | undefined
  /** The commit of the open document, if it is not that of the table. */
  readonly version?: string | undefined
  readonly at?: string | undefined
  /** The open side panel. */
  readonly panel?: (typeof panels)[number] | undefined
}

/** Columns shown by default at most: browsers draw more of them slowly. */
export const defaultColumnLimit = 100

export const initialRoute: Route = {
  collection: undefined,
  filters: [],
  invalidFilters: [],
  sort: [],
  columns: undefined,
  limit: 50,
  whole: false,
  document: undefined,
  version: undefined,
  at: undefined,
  panel: undefined
}

const parse = (text: string | null): unknown => {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const isOperator = (value: unknown): value is Operator => operators.some((operator) => operator === value)

const parseFilter = (text: string): Filter | undefined => {
  const value = parse(text)
  if (!Array.isArray(value)) return undefined
  const [path, operator, operand] = value as ReadonlyArray<unknown>
  if (typeof path !== "string" || !isOperator(operator)) return undefined
  if (takesValue(operator) !== (value.length === 3) || value.length > 3) return undefined
  return operand === undefined ? { path, operator } : { path, operator, value: operand as Json }
}

/** A leading minus means descending. A leading plus escapes a name that starts with a plus or a minus. */
const parseSort = (text: string): Sort => ({
  path: text.replace(/^[-+]/, ""),
  descending: text.startsWith("-")
})

const printSort = ({ descending, path }: Sort): string =>
  descending ? `-${path}` : /^[-+]/.test(path) ? `+${path}` : path

/** Parses the address after `#`. Invalid parts are ignored, except filters: see `invalidFilters`. */
export const fromHash = (hash: string): Route => {
  const params = new URLSearchParams(hash.replace(/^#/, ""))
  const text = (name: string) => params.get(name) || undefined
  const columns = parse(params.get("columns"))
  const limit = Number(params.get("limit") ?? 50)
  const panel = text("panel")
  const wheres = params.getAll("where").map((value) => ({ value, filter: parseFilter(value) }))
  return {
    api: text("api"),
    repo: text("repo"),
    branch: text("branch"),
    root: params.get("root") ?? undefined,
    collection: text("table"),
    filters: wheres.flatMap(({ filter }) => filter ?? []),
    invalidFilters: wheres.flatMap(({ filter, value }) => (filter === undefined ? [value] : [])),
    sort: params.getAll("sort").map(parseSort),
    columns:
      params.get("columns") === "all"
        ? "all"
        : Array.isArray(columns) && columns.every((column) => typeof column === "string")
          ? columns
          : undefined,
    limit: Number.isInteger(limit) && limit >= 1 && limit <= 500 ? limit : 50,
    whole: params.get("rows") === "whole",
    document: text("document"),
    version: text("version"),
    at: text("at"),
    panel: panels.find((name) => name === panel)
  }
}

export const toHash = (route: Route): string => {
  const params = new URLSearchParams()
  const set = (name: string, value: string | undefined) => {
    if (value !== undefined) params.set(name, value)
  }
  set("api", route.api)
  set("repo", route.repo)
  set("branch", route.branch)
  set("root", route.root)
  set("table", route.collection)
  for (const { operator, path, value } of route.filters) {
    params.append("where", JSON.stringify(value === undefined ? [path, operator] : [path, operator, value]))
  }
  for (const text of route.invalidFilters) params.append("where", text)
  for (const sort of route.sort) params.append("sort", printSort(sort))
  if (route.columns !== undefined) {
    params.set("columns", route.columns === "all" ? "all" : JSON.stringify(route.columns))
  }
  if (route.limit !== 50) params.set("limit", String(route.limit))
  if (route.whole) params.set("rows", "whole")
  if (route.at !== undefined) params.set("at", route.at)
  if (route.document !== undefined) params.set("document", route.document)
  if (route.document !== undefined && route.version !== undefined) params.set("version", route.version)
  if (route.panel !== undefined) params.set("panel", route.panel)
  const text = params.toString()
  return text === "" ? "" : `#${text}`
}
