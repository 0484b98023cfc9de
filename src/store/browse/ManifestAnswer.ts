import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "../../domain/Document.js"
import { idProblem } from "../../domain/DocumentId.js"
import { compareValues } from "../../domain/JsonOrder.js"
import type { ManifestFile } from "../../domain/ManifestFile.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import { columnsOf } from "./Columns.js"
import { valuesAt } from "./Filter.js"
import { matching } from "./Matching.js"
import type { ManifestState, Query, QueryAnswer, Sort } from "./Query.js"

/** A manifest and the fields that it projects. */
export interface Projection extends ManifestFile {
  readonly fields: ReadonlyArray<string>
}

/** Whether a query asks only of fields that the manifest has. */
export const covers = ({ fields }: Projection, query: Query): boolean => {
  const known = new Set(["_id", ...fields])
  const paths = [...query.filters.map((filter) => filter.path), ...(query.sort ? [query.sort.path] : [])]
  return paths.every((path) => known.has(path) || known.has(path.split(".")[0]!))
}

/** Where a document stands among the others: by the value that it is sorted by, and then by id. */
export interface Place {
  readonly value: Json | undefined
  readonly id: string
}

const byPlace = (descending: boolean) => (a: Place, b: Place) => {
  const byValue = compareValues(a.value, b.value)
  if (byValue === 0) return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
  return descending ? -byValue : byValue
}

const Cursor = Schema.parseJson(Schema.Struct({ id: Schema.String, value: Schema.optional(Schema.Unknown) }))

/** The place after which a page begins, undefined where the cursor is of another order. */
export const cursorPlace = (cursor: string, sort: Sort | undefined): Place | undefined => {
  if (sort === undefined)
    return idProblem(cursor) === undefined ? { value: undefined, id: cursor } : undefined
  return Option.getOrUndefined(
    Option.map(Schema.decodeOption(Cursor)(cursor), ({ id, value }) => ({
      id,
      value: value as Json | undefined
    }))
  )
}

interface Row extends Place {
  readonly document: JsonObject
}

/** The first rows of an order; twice as many are in memory at most. */
class FirstRows {
  private rows: Array<Row> = []
  count = 0

  constructor(
    private readonly kept: number,
    private readonly order: (a: Place, b: Place) => number
  ) {}

  add(row: Row): void {
    this.count++
    if (this.rows.push(row) > 2 * this.kept) this.rows = this.sorted()
  }

  sorted(): Array<Row> {
    return this.rows.sort(this.order).slice(0, this.kept)
  }
}

/** The result of a query, from the manifest alone. */
export const answerFromManifest = (
  manifest: Projection,
  query: Query,
  after: Place | undefined,
  state: ManifestState
): Effect.Effect<QueryAnswer> =>
  Effect.gen(function* () {
    const { filters, limit, sort } = query
    const slice = TimeSlice.make()
    const matches = matching(filters, slice)
    const order = byPlace(sort?.descending === true)
    const rows = new FirstRows(limit, order)
    let total = 0
    for (const id of manifest.ids) {
      if (slice.isSpent()) yield* slice.pause
      const document: JsonObject = { _id: id, ...manifest.documents.get(id) }
      if (filters.length > 0 && !(yield* matches(document))) continue
      total++
      const value = sort === undefined ? undefined : valuesAt(document, sort.path)[0]
      if (after === undefined || order({ id, value }, after) > 0) rows.add({ document, id, value })
    }
    const page = rows.sorted()
    const last = page[page.length - 1]
    const documents = page.map(({ document }) => document)
    return {
      collection: query.collection,
      documents,
      columns: columnsOf([Object.fromEntries(manifest.fields.map((field) => [field, null])), ...documents]),
      cursor:
        last === undefined || rows.count === page.length
          ? null
          : sort === undefined
            ? last.id
            : JSON.stringify({ id: last.id, value: last.value }),
      source: "manifest",
      sorted: sort !== undefined,
      total,
      manifest: state
    }
  })
