import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import type { Json, JsonObject } from "../../domain/Document.js"

/** Fields of a document that stand first in every table, in this order. */
const leading = ["_id", "_rev", "_created_at", "_updated_at"]

/** Columns of documents: the metadata first, then the fields in the order in which they are first seen. */
export const columnsOf = (documents: Iterable<JsonObject>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  for (const document of documents) for (const field of Object.keys(document)) seen.add(field)
  return inOrder(seen)
}

const inOrder = (seen: ReadonlySet<string>) => [
  ...leading.filter((field) => seen.has(field)),
  ...[...seen].filter((field) => !leading.includes(field))
]

/** Up to this many documents are kept while their columns are found; beyond it they are read twice instead. */
const keptAtMost = 2_000

/**
 * The columns of a stream of documents, and the documents again: a short stream is read once and kept, a long one is
 * read a second time.
 */
export const withColumns = <E, R>(
  documents: Stream.Stream<JsonObject, E, R>,
  columns: ReadonlyArray<string> | undefined
): Effect.Effect<
  { readonly columns: ReadonlyArray<string>; readonly documents: Stream.Stream<JsonObject, E, R> },
  E,
  R
> => {
  if (columns !== undefined) return Effect.succeed({ columns, documents })
  const empty = { seen: new Set<string>(), kept: Option.some(Chunk.empty<JsonObject>()) }
  return Effect.map(
    Stream.run(
      documents,
      Sink.foldLeftChunks(empty, (found, chunk) => {
        for (const document of chunk) for (const field of Object.keys(document)) found.seen.add(field)
        const kept = Option.map(found.kept, Chunk.appendAll(chunk))
        return { seen: found.seen, kept: Option.filter(kept, (all) => all.length <= keptAtMost) }
      })
    ),
    (found) => ({
      columns: inOrder(found.seen),
      documents: Option.match(found.kept, { onNone: () => documents, onSome: Stream.fromChunk })
    })
  )
}

/** JSON text with sorted keys and a blank after separators: how a value that is not a scalar stands in a cell. */
export const jsonText = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item)}`).join(", ")}}`
}
