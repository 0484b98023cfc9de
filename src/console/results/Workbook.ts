import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { JsonObject } from "../../domain/json/Json.js"
import { encodeXlsx } from "../../store/transfer/Xlsx.js"
import { selectColumns } from "./Export.js"

/** An Excel workbook with these rows and columns. */
export const workbook = (
  name: string,
  rows: ReadonlyArray<JsonObject>,
  columns: ReadonlyArray<string>
): Promise<Uint8Array<ArrayBuffer>> =>
  encodeXlsx([
    { name, columns, rows: Stream.fromIterable(rows.map((row) => selectColumns(row, columns))) }
  ]).pipe(
    Stream.runCollect,
    Effect.map((parts) => {
      const bytes = new Uint8Array(Chunk.reduce(parts, 0, (sum, part) => sum + part.length))
      let at = 0
      for (const part of parts) {
        bytes.set(part, at)
        at += part.length
      }
      return bytes
    }),
    Effect.runPromise
  )
