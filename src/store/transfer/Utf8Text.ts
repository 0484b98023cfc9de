import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { fromAsyncIterable } from "./FromAsyncIterable.js"
import { SourceError } from "./SourceError.js"

/**
 * The bytes of a text: all of them, a stream, or anything that hands them out in pieces, such as a file's
 * `createReadStream` or a `fetch` body. Pieces that are text already count as their bytes.
 *
 * @since 0.1.0
 * @category models
 */
export type ByteSource<E = never, R = never> =
  | Stream.Stream<Uint8Array, E, R>
  | AsyncIterable<Uint8Array>
  | Iterable<Uint8Array>
  | ReadableStream<Uint8Array>
  | Uint8Array
  | string

/** The text that bytes in UTF-8 hold, without its byte order mark; other bytes are a `ValidationError`. */
export const utf8Text = <E, R>(
  source: ByteSource<E, R>,
  operation: string
): Stream.Stream<string, E | SourceError | ValidationError, R> =>
  Stream.suspend(() => {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    let read = 0
    const decode = (piece?: Uint8Array) =>
      Effect.try({
        try: () => {
          const text = decoder.decode(piece, { stream: piece !== undefined })
          read += piece?.length ?? 0
          return text
        },
        catch: () =>
          new ValidationError({
            operation,
            message: `this is not text in UTF-8, after byte ${read}`,
            hint: "save the file as UTF-8, and whole"
          })
      })
    return Stream.concat(Stream.mapEffect(pieces(source, operation), decode), Stream.fromEffect(decode()))
  })

const pieces = <E, R>(
  source: ByteSource<E, R>,
  operation: string
): Stream.Stream<Uint8Array, E | SourceError | ValidationError, R> => {
  if (typeof source === "string") return Stream.succeed(encoder.encode(source))
  if (typeof source !== "object" || source === null) return noBytes(operation, source)
  if (source instanceof Uint8Array) return Stream.succeed(source)
  const given = iterated(source, operation)
  return Stream.mapEffect(given, (piece: unknown) =>
    piece instanceof Uint8Array
      ? Effect.succeed(piece)
      : typeof piece === "string"
        ? Effect.succeed(encoder.encode(piece))
        : noBytes(operation, piece)
  )
}

const iterated = <E, R>(
  source: Exclude<ByteSource<E, R>, string | Uint8Array>,
  operation: string
): Stream.Stream<Uint8Array, E | SourceError | ValidationError, R> => {
  const unreadable = (cause: unknown) =>
    new SourceError({
      operation: "read",
      message: `the bytes cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause
    })
  if (Stream.StreamTypeId in source) return source as Stream.Stream<Uint8Array, E, R>
  // Safari's streams cannot be iterated.
  if (source instanceof ReadableStream) return Stream.fromReadableStream(() => source, unreadable)
  if (Symbol.asyncIterator in source) return fromAsyncIterable(source, unreadable)
  if (Symbol.iterator in source) return Stream.fromIterable(source)
  return noBytes(operation, source)
}

const encoder = new TextEncoder()

const noBytes = (operation: string, given: unknown) =>
  Effect.fail(
    new ValidationError({
      operation,
      message: `these are no bytes, but ${given === null ? "null" : `a ${typeof given}`}`,
      hint: "pass bytes, a stream of bytes, or something that hands them out in pieces"
    })
  )
