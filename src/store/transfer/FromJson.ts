import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { keepingError } from "./KeptError.js"
import { type ImportRecord, sourceError } from "./Records.js"
import type { SourceError } from "./SourceError.js"
import type { ByteSource } from "./Utf8Text.js"

// Loaded when a text is read: a page that imports none does not carry it.
const reading = (operation: string) =>
  Effect.mapError(
    lazyModule(() => import("./JsonRecords.js")),
    sourceError(operation)
  )

/**
 * Records of a text with one JSON object a line, in UTF-8, in constant memory. Blank lines are passed over. A number
 * that JavaScript cannot hold exactly becomes an `UnheldNumber`, which an import refuses by its path; an object with a key twice is a `ValidationError`.
 *
 * @since 0.1.0
 * @category importing
 */
export const fromNdjson = <E = never, R = never>(
  source: ByteSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> => {
  const kept = keepingError(source)
  return Stream.unwrap(Effect.map(reading("fromNdjson"), ({ ndjsonRecords }) => ndjsonRecords(kept)))
}

/**
 * Records of a JSON text that is a list of objects. The whole text is kept in memory: use NDJSON for big files. An
 * object with a key twice is a `ValidationError`.
 *
 * @since 0.1.0
 * @category importing
 */
export const fromJson = <E = never, R = never>(
  source: ByteSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> => {
  const kept = keepingError(source)
  return Stream.unwrap(Effect.map(reading("fromJson"), ({ jsonRecords }) => jsonRecords(kept)))
}
