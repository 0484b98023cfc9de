import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import { approximateSize } from "./ApproximateSize.js"
import { elements, isStream, type RecordSource, sourceError, sourceProblem } from "./RecordSource.js"
import type { SourceError } from "./SourceError.js"

/** The elements of a source; those of an iterable are read ahead in batches, which is faster. */
export const batchedElements = <E, R>(
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
            Effect.try({ try: () => takeBatch(opened), catch: sourceError("fromRecords") }),
            Option.some
          ),
          (some) =>
            some.length === 0 ? Effect.fail(Option.none()) : Effect.succeed(Chunk.unsafeFromArray(some))
        )
      )
    )
  )
}

const batchLength = 256
const batchSize = 1_000_000

const takeBatch = (iterator: Iterator<unknown>): Array<unknown> => {
  const some: Array<unknown> = []
  let units = 0
  while (some.length < batchLength && units < batchSize) {
    const { done, value } = iterator.next()
    if (done === true) break
    some.push(value)
    units += approximateSize(value, batchSize)
  }
  return some
}
