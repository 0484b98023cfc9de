import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { exportOrder } from "../browse/Columns.js"
import { weight } from "./Weight.js"

/** The most documents that are kept while their columns are found; more are read twice. */
const keptAtMost = { documents: 2_000, units: 8_000_000 }

interface Found {
  readonly seen: Set<string>
  readonly count: number
  readonly units: number
  readonly kept: Option.Option<Chunk.Chunk<JsonObject>>
}

/**
 * The columns of a stream of documents, and the documents again: a short stream is read once and kept, a long one is
 * read a second time, and must then give as many documents as before.
 */
export const withColumns = <E, R>(
  documents: Stream.Stream<JsonObject, E, R>,
  columns: ReadonlyArray<string> | undefined
): Effect.Effect<
  {
    readonly columns: ReadonlyArray<string>
    readonly documents: Stream.Stream<JsonObject, E | ValidationError, R>
  },
  E,
  R
> => {
  if (columns !== undefined) return Effect.succeed({ columns, documents })
  const start: Found = { seen: new Set(), count: 0, units: 0, kept: Option.some(Chunk.empty()) }
  return Effect.map(
    Stream.run(
      documents,
      Sink.foldLeftChunks(start, (found, chunk): Found => {
        for (const document of chunk) for (const field of Object.keys(document)) found.seen.add(field)
        const count = found.count + chunk.length
        let units = found.units
        if (Option.isSome(found.kept)) {
          for (const document of chunk) units += weight(document, keptAtMost.units)
        }
        const few = count <= keptAtMost.documents && units <= keptAtMost.units
        return {
          seen: found.seen,
          count,
          units,
          kept: few ? Option.map(found.kept, Chunk.appendAll(chunk)) : Option.none()
        }
      })
    ),
    (found) => ({
      columns: exportOrder(found.seen),
      documents: Option.match(found.kept, {
        onNone: () => again(documents, found.count),
        onSome: Stream.fromChunk
      })
    })
  )
}

const again = <E, R>(documents: Stream.Stream<JsonObject, E, R>, expected: number) =>
  Stream.suspend(() => {
    let count = 0
    const counted = Stream.mapChunks(documents, (chunk) => {
      count += chunk.length
      return chunk
    })
    const check = Effect.suspend(() =>
      count === expected
        ? Effect.void
        : new ValidationError({
            operation: "export",
            message: `there were ${expected} documents when their columns were read, and ${count} when they were written`,
            hint: "give the columns, or documents that can be read twice: a list, or a stream that starts anew"
          })
    )
    return Stream.concat(counted, Stream.drain(Stream.fromEffect(check)))
  })

/** JSON text with sorted keys and a blank after separators: the cell of a list or an object. */
export const jsonText = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item)}`).join(", ")}}`
}
