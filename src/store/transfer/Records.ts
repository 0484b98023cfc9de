import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { StoreError, ValidationError } from "../../domain/errors/StoreError.js"
import { fromAsyncIterable } from "./FromAsyncIterable.js"
import { keepingError } from "./KeptError.js"
import { SourceError } from "./SourceError.js"
import { weight } from "./Weight.js"

/**
 * A record before it becomes a document: its values may still be anything that `normalise` knows.
 *
 * @since 0.1.0
 * @category models
 */
export type ImportRecord = { readonly [field: string]: unknown }

/**
 * Records from somewhere.
 *
 * @since 0.1.0
 * @category models
 */
export type RecordStream = Stream.Stream<ImportRecord, SourceError | ValidationError>

/**
 * Whatever records can be read from without a driver.
 *
 * @since 0.1.0
 * @category models
 */
export type RecordSource<E = never, R = never> =
  | Iterable<unknown>
  | AsyncIterable<unknown>
  | Stream.Stream<unknown, E, R>

/**
 * Records of an iterable, an async iterable or a stream; each is read when it is asked for, and none is kept.
 *
 * @since 0.1.0
 * @category importing
 */
export const fromRecords = <E = never, R = never>(
  source: RecordSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  Stream.mapEffect(elements(keepingError(source)), asRecord)

/** What a source gives, record or not. */
export const elements = <E, R>(
  source: RecordSource<E, R>
): Stream.Stream<unknown, E | SourceError | ValidationError, R> => {
  const problem = sourceProblem(source)
  if (problem !== undefined) return Stream.fail(problem)
  if (isStream<E, R>(source)) return source
  if (Symbol.asyncIterator in source) return fromAsyncIterable(source, sourceError("fromRecords"))
  return fromAsyncIterable(readOneByOne(source), sourceError("fromRecords"))
}

/** The same, many at a time where they are at hand: quicker, and read ahead of what is asked for. */
export const elementsAhead = <E, R>(
  source: RecordSource<E, R>
): Stream.Stream<unknown, E | SourceError | ValidationError, R> => {
  const given = elements(source)
  if (sourceProblem(source) !== undefined || isStream<E, R>(source)) return given
  if (Symbol.asyncIterator in source) return given
  const iterator = Effect.acquireRelease(
    Effect.sync(() => source[Symbol.iterator]()),
    (opened) => Effect.sync(() => opened.return?.())
  )
  return Stream.unwrapScoped(
    Effect.map(iterator, (opened) =>
      Stream.repeatEffectChunkOption(
        Effect.flatMap(
          Effect.mapError(
            Effect.try({ try: () => taken(opened), catch: sourceError("fromRecords") }),
            Option.some
          ),
          (some) =>
            some.length === 0 ? Effect.fail(Option.none()) : Effect.succeed(Chunk.unsafeFromArray(some))
        )
      )
    )
  )
}

const ahead = 256
const aheadUnits = 1_000_000

const taken = (iterator: Iterator<unknown>): Array<unknown> => {
  const some: Array<unknown> = []
  let units = 0
  while (some.length < ahead && units < aheadUnits) {
    const { done, value } = iterator.next()
    if (done === true) break
    some.push(value)
    units += weight(value, aheadUnits)
  }
  return some
}

/** What keeps a value from being a source of records, if anything. */
export const sourceProblem = (source: unknown): ValidationError | undefined => {
  const iterates =
    typeof source === "object" &&
    source !== null &&
    [Stream.StreamTypeId, Symbol.asyncIterator, Symbol.iterator].some((key) => key in source)
  return iterates
    ? undefined
    : new ValidationError({
        operation: "importRecords",
        message: `records cannot be read from ${describe(source)}`,
        hint: "pass a list, an iterable, an async iterable or a Stream; a promise must be awaited before"
      })
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
          message: `a record must be an object, this is ${describe(record)}`
        })
      )

/** What kind of thing a value is, for a message. */
export const describe = (value: unknown): string => {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "a list"
  if (value instanceof Promise) return "a promise"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

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
