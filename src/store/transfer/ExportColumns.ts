import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { approximateSize } from "./ApproximateSize.js"

/** Documents up to this number and size stay in memory while their columns are collected. Others are read twice. */
const bufferLimits = { documents: 2_000, characters: 8_000_000 }

const metadata = ["_id", "_rev", "_created_at", "_updated_at"]

/** The columns of an export: the metadata fields that occur, then the other fields in the order of their first use. */
export const exportColumnsOf = (fields: ReadonlySet<string>): ReadonlyArray<string> => [
  ...metadata.filter((field) => fields.has(field)),
  ...[...fields].filter((field) => !metadata.includes(field))
]

interface ColumnScan {
  readonly fields: Set<string>
  readonly count: number
  readonly characters: number
  /** The documents read so far; none once they exceed the limits. */
  readonly buffer: Option.Option<Chunk.Chunk<JsonObject>>
}

/**
 * Collects the columns of a stream, and returns them with a stream of the same documents. A short stream is read once
 * and buffered. A long stream is read a second time, and must then have as many documents as the first time.
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
  const start: ColumnScan = {
    fields: new Set(),
    count: 0,
    characters: 0,
    buffer: Option.some(Chunk.empty())
  }
  return Effect.map(
    Stream.run(
      documents,
      Sink.foldLeftChunks(
        start,
        ({ buffer, characters: before, count: counted, fields }, chunk): ColumnScan => {
          for (const document of chunk) for (const field of Object.keys(document)) fields.add(field)
          const count = counted + chunk.length
          let characters = before
          if (Option.isSome(buffer)) {
            for (const document of chunk) characters += approximateSize(document, bufferLimits.characters)
          }
          const fits = count <= bufferLimits.documents && characters <= bufferLimits.characters
          return {
            fields,
            count,
            characters,
            buffer: fits ? Option.map(buffer, Chunk.appendAll(chunk)) : Option.none()
          }
        }
      )
    ),
    (scan) => ({
      columns: exportColumnsOf(scan.fields),
      documents: Option.match(scan.buffer, {
        onNone: () => readAgain(documents, scan.count),
        onSome: Stream.fromChunk
      })
    })
  )
}

const readAgain = <E, R>(documents: Stream.Stream<JsonObject, E, R>, expected: number) =>
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
            hint: "pass the columns, or documents that can be read twice: a list, or a stream that starts again"
          })
    )
    return Stream.concat(counted, Stream.drain(Stream.fromEffect(check)))
  })
