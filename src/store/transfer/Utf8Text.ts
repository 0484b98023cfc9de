import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { fromAsyncIterable } from "./FromAsyncIterable.js"
import { SourceError } from "./SourceError.js"

/**
 * The bytes of a text: a byte array, a stream, or an iterable of chunks, such as a file's `createReadStream` or a
 * `fetch` body. A chunk that is a string is encoded as UTF-8.
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

/** Decodes UTF-8 without its byte order mark. Invalid bytes are a `ValidationError`. */
export const utf8Text = <E, R>(
  source: ByteSource<E, R>,
  operation: string
): Stream.Stream<string, E | SourceError | ValidationError, R> =>
  Stream.suspend(() => {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    let read = 0
    const decode = (chunk?: Uint8Array) =>
      Effect.try({
        try: () => {
          const text = decoder.decode(chunk, { stream: chunk !== undefined })
          read += chunk?.length ?? 0
          return text
        },
        catch: () =>
          new ValidationError({
            operation,
            message: `this is not text in UTF-8, after byte ${read}`,
            hint: "save the complete file as UTF-8"
          })
      })
    return Stream.concat(Stream.mapEffect(chunksOf(source, operation), decode), Stream.fromEffect(decode()))
  })

const chunksOf = <E, R>(
  source: ByteSource<E, R>,
  operation: string
): Stream.Stream<Uint8Array, E | SourceError | ValidationError, R> => {
  if (typeof source === "string") return Stream.succeed(encoder.encode(source))
  if (typeof source !== "object" || source === null) return notBytes(operation, source)
  if (source instanceof Uint8Array) return Stream.succeed(source)
  const given = iteratedChunks(source, operation)
  return Stream.mapEffect(given, (chunk: unknown) =>
    chunk instanceof Uint8Array
      ? Effect.succeed(chunk)
      : typeof chunk === "string"
        ? Effect.succeed(encoder.encode(chunk))
        : notBytes(operation, chunk)
  )
}

const iteratedChunks = <E, R>(
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
  // Safari does not implement async iteration of streams.
  if (source instanceof ReadableStream) return Stream.fromReadableStream(() => source, unreadable)
  if (Symbol.asyncIterator in source) return fromAsyncIterable(source, unreadable)
  if (Symbol.iterator in source) return Stream.fromIterable(source)
  return notBytes(operation, source)
}

const encoder = new TextEncoder()

const notBytes = (operation: string, given: unknown) =>
  Effect.fail(
    new ValidationError({
      operation,
      message: `these are not bytes, but ${given === null ? "null" : `a ${typeof given}`}`,
      hint: "pass bytes, a stream of bytes, or an iterable of chunks"
    })
  )
