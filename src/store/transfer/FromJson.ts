import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { withErrorListener } from "./NodeStreamErrors.js"
import { type ImportRecord, sourceError } from "./RecordSource.js"
import type { SourceError } from "./SourceError.js"
import type { ByteSource } from "./Utf8Text.js"

// Loaded on the first use, to keep pages small.
const reading = (operation: string) =>
  Effect.mapError(
    lazyModule(() => import("./JsonRecords.js")),
    sourceError(operation)
  )

/**
 * Records of an NDJSON text (one JSON object per line) in UTF-8, in constant memory. Blank lines are skipped. A number
 * that JavaScript cannot represent exactly becomes an `UnheldNumber`, which an import rejects with its path. An object
 * that has a key twice is a `ValidationError`.
 *
 * @since 0.1.0
 * @category importing
 */
export const fromNdjson = <E = never, R = never>(
  source: ByteSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> => {
  const kept = withErrorListener(source)
  return Stream.unwrap(Effect.map(reading("fromNdjson"), ({ ndjsonRecords }) => ndjsonRecords(kept)))
}

/**
 * Records of a JSON array of objects. The whole text is in memory: use NDJSON for big files. An object that has a key
 * twice is a `ValidationError`.
 *
 * @since 0.1.0
 * @category importing
 */
export const fromJson = <E = never, R = never>(
  source: ByteSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> => {
  const kept = withErrorListener(source)
  return Stream.unwrap(Effect.map(reading("fromJson"), ({ jsonRecords }) => jsonRecords(kept)))
}
