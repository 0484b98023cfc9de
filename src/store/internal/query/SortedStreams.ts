import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Steps from "../../../domain/concurrency/Steps.js"

/** An item with a unique sort key. */
export interface Keyed {
  readonly key: string
}

interface Head<A, E> {
  readonly pull: Effect.Effect<Chunk.Chunk<A>, Option.Option<E>>
  rows: ReadonlyArray<A>
  at: number
  isDone: boolean
}

/** Merges sorted streams. */
export const mergeSorted = <A extends Keyed, E>(
  streams: ReadonlyArray<Stream.Stream<A, E>>
): Stream.Stream<A, E> => {
  if (streams.length <= 1) return streams[0] ?? Stream.empty
  return Stream.unwrapScoped(
    Effect.gen(function* () {
      const heads = yield* Effect.forEach(streams, (stream) =>
        Effect.map(Stream.toPull(stream), (pull): Head<A, E> => ({ pull, rows: [], at: 0, isDone: false }))
      )
      const refill = (head: Head<A, E>): Effect.Effect<void, E> =>
        head.isDone || head.at < head.rows.length
          ? Effect.void
          : Effect.matchEffect(head.pull, {
              onFailure: (end) => {
                head.isDone = true
                return Option.isSome(end) ? Effect.fail(end.value) : Effect.void
              },
              onSuccess: (rows) => {
                head.rows = Chunk.toReadonlyArray(rows)
                head.at = 0
                return refill(head)
              }
            })
      return Stream.repeatEffectChunkOption(
        Effect.gen(function* () {
          yield* Effect.mapError(
            Effect.forEach(heads, refill, { concurrency: 16, discard: true }),
            Option.some
          )
          const merged: Array<A> = []
          for (;;) {
            let least: Head<A, E> | undefined
            for (const head of heads) {
              if (head.isDone) continue
              if (least === undefined || head.rows[head.at]!.key < least.rows[least.at]!.key) least = head
            }
            if (least === undefined) break
            merged.push(least.rows[least.at++]!)
            if (least.at === least.rows.length) break
          }
          return merged.length === 0 ? yield* Effect.fail(Option.none()) : Chunk.unsafeFromArray(merged)
        })
      )
    })
  )
}

/** A sorted stream without consecutive rows of one key. */
export const distinctKeys = <A extends Keyed, E>(stream: Stream.Stream<A, E>): Stream.Stream<A, E> =>
  Stream.suspend(() => {
    let last: string | undefined
    return Stream.filter(stream, ({ key }) => {
      const isNew = key !== last
      last = key
      return isNew
    })
  })

const byKey = (a: Keyed, b: Keyed): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

/** Keeps the first rows in order among many, without duplicates; at most twice as many are in memory. */
export class FirstRows<A extends Keyed> {
  #rows: Array<A> = []
  #last: string | undefined

  constructor(private readonly limit: number) {}

  *add(rows: Iterable<A>): Steps.Steps<void> {
    for (const row of rows) {
      if (this.#last !== undefined && row.key >= this.#last) continue
      if (this.#rows.push(row) >= 2 * this.limit) yield* this.#cut()
    }
  }

  *#cut(): Steps.Steps<void> {
    const first: Array<A> = []
    for (const [at, row] of (yield* Steps.sorted(this.#rows, byKey)).entries()) {
      if (first.length === this.limit) break
      if (at % Steps.stepSize === 0) yield
      if (row.key !== first.at(-1)?.key) first.push(row)
    }
    this.#rows = first
    if (first.length === this.limit) this.#last = first.at(-1)!.key
  }

  *sorted(): Steps.Steps<ReadonlyArray<A>> {
    yield* this.#cut()
    return this.#rows
  }
}
