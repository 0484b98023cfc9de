import type * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** An array as a stream of one chunk. `Stream.fromIterable` takes about 150 steps more. */
export const fromArray = <A>(items: ReadonlyArray<A>): Stream.Stream<A> =>
  Stream.fromChunk(Chunk.unsafeFromArray(items))

/** Streams one after the other. */
export const concatAll = <A, E, R>(streams: ReadonlyArray<Stream.Stream<A, E, R>>): Stream.Stream<A, E, R> =>
  streams.length === 1 ? streams[0]! : Stream.flatten(fromArray(streams))

/**
 * A stream in chunks of `size` items; the last chunk may have fewer. Long chunks are split as they are consumed:
 * `Stream.rechunk` and `Stream.grouped` split them at once, and overflow the stack above about 100,000 parts.
 */
export const rechunk = <A, E, R>(stream: Stream.Stream<A, E, R>, size: number): Stream.Stream<A, E, R> =>
  Stream.suspend(() => {
    let rest = Chunk.empty<A>()
    type Parts = Channel.Channel<Chunk.Chunk<A>, Chunk.Chunk<A>, E, E, unknown, unknown>
    const last = (): Parts => (Chunk.isEmpty(rest) ? Channel.void : Channel.write(rest))
    const read: Parts = Channel.readWithCause({
      onInput: (chunk: Chunk.Chunk<A>) => {
        rest = Chunk.appendAll(rest, chunk)
        return parts()
      },
      onFailure: (cause: Cause.Cause<E>) => Channel.zipRight(last(), Channel.failCause(cause)),
      onDone: last
    })
    const parts = (): Parts => {
      if (rest.length < size) return read
      const [part, behind] = Chunk.splitAt(rest, size)
      rest = behind
      return Channel.flatMap(Channel.write(part), parts)
    }
    return Stream.pipeThroughChannel(stream, read)
  })

/**
 * Runs a stream in the calling fiber, and an action for each chunk. `Stream.runForEachChunk` starts a fiber: for a stream
 * of one chunk it takes about 470 steps instead of 180.
 */
export const forEachChunk = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  use: (items: ReadonlyArray<A>) => Effect.Effect<void, E, R>
): Effect.Effect<void, E, R> =>
  Effect.scoped(
    Effect.flatMap(Stream.toPull(stream), (pull) => {
      const rest: Effect.Effect<void, Option.Option<E>, R> = Effect.flatMap(pull, (chunk) =>
        Effect.zipRight(Effect.mapError(use(Chunk.toReadonlyArray(chunk)), Option.some), rest)
      )
      return Effect.catchAll(rest, Option.match({ onNone: () => Effect.void, onSome: Effect.fail }))
    })
  ) as Effect.Effect<void, E, R>

/** The same for each item. */
export const forEach = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  use: (item: A) => Effect.Effect<void, E, R>
): Effect.Effect<void, E, R> => forEachChunk(stream, (items) => Effect.forEach(items, use, { discard: true }))

/** The items of a stream, which runs in the calling fiber. */
export const collect = <A, E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> =>
  Effect.suspend(() => {
    const all: Array<A> = []
    return Effect.as(
      forEachChunk(stream, (items) =>
        Effect.sync(() => {
          for (const item of items) all.push(item)
        })
      ),
      all
    )
  })
