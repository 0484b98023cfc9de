import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { StoreError, ValidationError } from "../../domain/StoreError.js"
import { SourceError } from "./SourceError.js"

/** A record before it becomes a document: its values may still be anything that `normalise` knows. */
export type ImportRecord = { readonly [field: string]: unknown }

/** Records from somewhere. */
export type RecordStream = Stream.Stream<ImportRecord, SourceError | ValidationError>

/** Whatever records can be read from without a driver. */
export type RecordSource<E = never, R = never> =
  | Iterable<unknown>
  | AsyncIterable<unknown>
  | Stream.Stream<unknown, E, R>

/** Records of an iterable, an async iterable or a stream; each is read when it is asked for, and none is kept. */
export const fromRecords = <E = never, R = never>(
  source: RecordSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  Stream.mapEffect(elements(source), asRecord)

const elements = <E, R>(
  source: RecordSource<E, R>
): Stream.Stream<unknown, E | SourceError | ValidationError, R> => {
  if (isStream<E, R>(source)) return source
  if (Symbol.asyncIterator in source) return Stream.fromAsyncIterable(source, sourceError("fromRecords"))
  return Stream.fromAsyncIterable(readOneByOne(source), sourceError("fromRecords"))
}

const isStream = <E, R>(source: RecordSource<E, R>): source is Stream.Stream<unknown, E, R> =>
  Stream.StreamTypeId in source

async function* readOneByOne(source: Iterable<unknown>) {
  yield* source
}

const asRecord = (record: unknown) =>
  typeof record === "object" && record !== null && !Array.isArray(record)
    ? Effect.succeed(record as ImportRecord)
    : Effect.fail(
        new ValidationError({
          operation: "importRecords",
          message: `a record must be an object, this one is ${JSON.stringify(record) ?? typeof record}`
        })
      )

/** The failure of a source as the store's own error. */
export const sourceError =
  (operation: string) =>
  (cause: unknown): SourceError | ValidationError =>
    cause instanceof ValidationError || cause instanceof SourceError
      ? cause
      : new SourceError({
          operation,
          message: `the source failed: ${cause instanceof Error ? cause.message : String(cause)}`,
          hint: cause instanceof StoreError ? cause.hint : "look at the cause",
          cause
        })

/**
 * Names of columns made unique: a second `id` becomes `id_2` (its position), a nameless one `column_3`; the number
 * rises until the name is free.
 */
export const uniqueColumns = (names: ReadonlyArray<string | null | undefined>): ReadonlyArray<string> => {
  const taken = new Set(names.filter((name) => name))
  const used = new Set<string>()
  return names.map((name, index) => {
    if (name && !used.has(name)) {
      used.add(name)
      return name
    }
    const stem = name || "column"
    let number = index + 1
    while (used.has(`${stem}_${number}`) || taken.has(`${stem}_${number}`)) number++
    const unique = `${stem}_${number}`
    used.add(unique)
    return unique
  })
}

/** A row of values under its columns' names; a row of another width is a `ValidationError`. */
export const rowRecord = (
  operation: string,
  columns: ReadonlyArray<string>,
  row: ReadonlyArray<unknown>
): ImportRecord => {
  if (row.length !== columns.length) {
    throw new ValidationError({
      operation,
      message: `a row has ${row.length} values for ${columns.length} columns`
    })
  }
  const record: Record<string, unknown> = Object.create(null)
  columns.forEach((column, index) => {
    record[column] = row[index]
  })
  return record
}
