import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { parseExactly } from "./ExactJson.js"
import type { ImportRecord } from "./RecordSource.js"
import type { SourceError } from "./SourceError.js"
import { type ByteSource, utf8Text } from "./Utf8Text.js"

/** Records of an NDJSON text: one JSON object per line. */
export const ndjsonRecords = <E, R>(
  source: ByteSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  utf8Text(source, "fromNdjson").pipe(
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== ""),
    Stream.mapEffect(([line, index]) =>
      Effect.try({
        try: () => {
          const value = parseExactly(line)
          if (typeof value !== "object" || value === null || Array.isArray(value))
            throw new Error("it is not an object")
          return value as ImportRecord
        },
        catch: (cause) =>
          new ValidationError({
            operation: "fromNdjson",
            message: `line ${index + 1} is not a JSON object: ${cause instanceof Error ? cause.message : cause}`,
            cause
          })
      })
    )
  )

/** Records of a JSON array of objects. */
export const jsonRecords = <E, R>(
  source: ByteSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  Stream.unwrap(
    utf8Text(source, "fromJson").pipe(
      Stream.runCollect,
      Effect.flatMap((parts) =>
        Effect.try({
          try: () => {
            const value = parseExactly(Chunk.join(parts, ""))
            const records = Array.isArray(value) ? value : [value]
            const odd = records.findIndex(
              (item) => typeof item !== "object" || item === null || Array.isArray(item)
            )
            if (odd >= 0) throw new Error(`item ${odd + 1} is not an object`)
            return Stream.fromIterable(records as ReadonlyArray<ImportRecord>)
          },
          catch: (cause) =>
            new ValidationError({
              operation: "fromJson",
              message: `this is not a JSON list of objects: ${cause instanceof Error ? cause.message : cause}`,
              cause
            })
        })
      )
    )
  )
