import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { StoreError, ValidationError } from "../../domain/errors/StoreError.js"
import { fromAsyncIterable } from "./FromAsyncIterable.js"
import { withErrorListener } from "./NodeStreamErrors.js"
import { SourceError } from "./SourceError.js"

/**
 * A record before it becomes a document. Its values may be anything that `normalise` accepts.
 *
 * @since 0.1.0
 * @category models
 */
export type ImportRecord = { readonly [field: string]: unknown }

/**
 * A stream of records.
 *
 * @since 0.1.0
 * @category models
 */
export type RecordStream = Stream.Stream<ImportRecord, SourceError | ValidationError>

/**
 * The sources that records can be read from without a driver.
 *
 * @since 0.1.0
 * @category models
 */
export type RecordSource<E = never, R = never> =
  | Iterable<unknown>
  | AsyncIterable<unknown>
  | Stream.Stream<unknown, E, R>

/**
 * Records of an iterable, an async iterable or a stream. Each is read on demand, and none is kept in memory.
 *
 * @since 0.1.0
 * @category importing
 */
export const fromRecords = <E = never, R = never>(
  source: RecordSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  Stream.mapEffect(elements(withErrorListener(source)), recordOf)

/** The elements of a source, whether they are records or not. */
export const elements = <E, R>(
  source: RecordSource<E, R>
): Stream.Stream<unknown, E | SourceError | ValidationError, R> => {
  const problem = sourceProblem(source)
  if (problem !== undefined) return Stream.fail(problem)
  if (isStream<E, R>(source)) return source
  if (Symbol.asyncIterator in source) return fromAsyncIterable(source, sourceError("fromRecords"))
  return fromAsyncIterable(toAsyncIterable(source), sourceError("fromRecords"))
}

/** The error if a value is not a source of records. */
export const sourceProblem = (source: unknown): ValidationError | undefined => {
  const iterates =
    typeof source === "object" &&
    source !== null &&
    [Stream.StreamTypeId, Symbol.asyncIterator, Symbol.iterator].some((key) => key in source)
  return iterates
    ? undefined
    : new ValidationError({
        operation: "importRecords",
        message: `records cannot be read from ${describeValue(source)}`,
        hint: "pass a list, an iterable, an async iterable or a Stream; await a promise first"
      })
}

/** Whether a source is a `Stream`. */
export const isStream = <E, R>(source: RecordSource<E, R>): source is Stream.Stream<unknown, E, R> =>
  Stream.StreamTypeId in source

async function* toAsyncIterable(source: Iterable<unknown>) {
  yield* source
}

const recordOf = (record: unknown) =>
  typeof record === "object" && record !== null && !Array.isArray(record)
    ? Effect.succeed(record as ImportRecord)
    : Effect.fail(
        new ValidationError({
          operation: "importRecords",
          message: `a record must be an object, this is ${describeValue(record)}`
        })
      )

/** Describes a value in an error message. */
export const describeValue = (value: unknown): string => {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "a list"
  if (value instanceof Promise) return "a promise"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

/** Converts the failure of a source to an error of the store. */
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
