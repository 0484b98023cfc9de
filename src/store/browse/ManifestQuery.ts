import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TimeSlice from "../../domain/concurrency/TimeSlice.js"
import { idProblem } from "../../domain/identifiers/DocumentId.js"
import type { ManifestFile } from "../../domain/indexes/ManifestFile.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { compareValues } from "../../domain/json/JsonOrder.js"
import type { ManifestState, Query, QueryAnswer, Sort } from "./BrowseQuery.js"
import { columnsOf } from "./DocumentColumns.js"
import { makeFilterMatcher } from "./FilterMatcher.js"
import { valuesAt } from "./PathValues.js"
import { sortsOf } from "./QuerySorts.js"

/** A manifest with the fields that it contains. */
export interface ProjectedManifest extends ManifestFile {
  readonly fields: ReadonlyArray<string>
}

/** Whether all fields of a query are in the manifest. */
export const coversQuery = ({ fields }: ProjectedManifest, query: Query): boolean => {
  const covered = new Set(["_id", ...fields])
  const paths = [...query.filters, ...sortsOf(query)].map(({ path }) => path)
  return paths.every((path) => covered.has(path) || covered.has(path.split(".")[0]!))
}

/** The position of a row in the sort order: its sort values, then its id. */
export interface RowPosition {
  readonly values: ReadonlyArray<Json | undefined>
  readonly id: string
}

const comparePositions = (sorts: ReadonlyArray<Sort>) => (a: RowPosition, b: RowPosition) => {
  for (const [at, { descending }] of sorts.entries()) {
    const byValue = compareValues(a.values[at], b.values[at])
    if (byValue !== 0) return descending ? -byValue : byValue
  }
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

/** A missing value is encoded as an empty list. */
const Cursor = Schema.parseJson(
  Schema.Struct({ id: Schema.String, values: Schema.Array(Schema.Array(Schema.Unknown)) })
)

/** The position after which a page begins; undefined if the cursor belongs to another order. */
export const cursorPosition = (cursor: string, query: Query): RowPosition | undefined => {
  const sorts = sortsOf(query)
  if (sorts.length === 0) return idProblem(cursor) === undefined ? { values: [], id: cursor } : undefined
  return Schema.decodeOption(Cursor)(cursor).pipe(
    Option.filter(({ values }) => values.length === sorts.length),
    Option.map(({ id, values }) => ({ id, values: values.map(([value]) => value as Json | undefined) })),
    Option.getOrUndefined
  )
}

const cursorOf = ({ id, values }: RowPosition): string =>
  values.length === 0
    ? id
    : JSON.stringify({ id, values: values.map((value) => (value === undefined ? [] : [value])) })

interface Row extends RowPosition {
  readonly document: JsonObject
}

/** Keeps the first rows of an order, with at most twice as many in memory. */
class FirstRows {
  private rows: Array<Row> = []
  count = 0

  constructor(
    private readonly kept: number,
    private readonly order: (a: RowPosition, b: RowPosition) => number
  ) {}

  add(row: Row): void {
    this.count++
    if (this.rows.push(row) > 2 * this.kept) this.rows = this.sorted()
  }

  sorted(): Array<Row> {
    return this.rows.sort(this.order).slice(0, this.kept)
  }
}

/** Runs a query on the manifest without reading documents. */
export const queryManifest = (
  manifest: ProjectedManifest,
  query: Query,
  after: RowPosition | undefined,
  state: ManifestState
): Effect.Effect<QueryAnswer> =>
  Effect.gen(function* () {
    const { filters, limit } = query
    const sorts = sortsOf(query)
    const slice = TimeSlice.make()
    const matches = makeFilterMatcher(filters, slice)
    const order = comparePositions(sorts)
    const rows = new FirstRows(limit, order)
    let total = 0
    for (const id of manifest.ids) {
      if (slice.isSpent()) yield* slice.pause
      const document: JsonObject = { _id: id, ...manifest.documents.get(id) }
      if (filters.length > 0 && !(yield* matches(document))) continue
      total++
      const values = sorts.map(({ path }) => valuesAt(document, path)[0])
      if (after === undefined || order({ id, values }, after) > 0) rows.add({ document, id, values })
    }
    const page = rows.sorted()
    const last = page[page.length - 1]
    const documents = page.map(({ document }) => document)
    return {
      collection: query.collection,
      documents,
      columns: columnsOf([Object.fromEntries(manifest.fields.map((field) => [field, null])), ...documents]),
      cursor: last === undefined || rows.count === page.length ? null : cursorOf(last),
      source: "manifest",
      read: { entries: manifest.ids.length, documents: 0 },
      sorted: sorts.length > 0,
      total,
      manifest: state
    }
  })
