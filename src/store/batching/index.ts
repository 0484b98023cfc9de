/**
 * Batches concurrent reads of documents with Effect's `Request` and `RequestResolver`.
 *
 * @module chainstore/batching
 * @since 0.1.0
 */

import * as Effect from "effect/Effect"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import type { ReadError } from "../../domain/errors/StoreError.js"
import { type BatchedRead, type Batching, BatchingTypeId } from "../Batching.js"

export type { Batching } from "../Batching.js"

interface Read extends Request.Request<any, ReadError> {
  readonly _tag: "Read"
  readonly read: BatchedRead<any, any>
}

const Read = Request.tagged<Read>("Read")

const groupByKey = (reads: ReadonlyArray<Read>) => {
  const found = new Map<object, Array<Read>>()
  for (const one of reads) {
    const same = found.get(one.read.key)
    if (same === undefined) found.set(one.read.key, [one])
    else same.push(one)
  }
  return [...found.values()]
}

const run = (reads: ReadonlyArray<Read>) => {
  const [{ read }] = reads as readonly [Read, ...ReadonlyArray<Read>]
  const outcomes =
    reads.length === 1
      ? Effect.succeed([read.alone])
      : read.together(reads.map(({ read: { input } }) => input))
  return outcomes.pipe(
    Effect.flatMap((all) =>
      Effect.forEach(all, (outcome, at) => Request.completeEffect(reads[at]!, outcome), { discard: true })
    ),
    Effect.catchAllCause((cause) =>
      Effect.forEach(reads, (one) => Request.failCause(one, cause), { discard: true })
    )
  )
}

// One resolver for all stores: Effect batches the requests of each resolver separately.
const resolver = RequestResolver.makeBatched((reads: ReadonlyArray<Read>) =>
  Effect.forEach(groupByKey(reads), run, { discard: true, concurrency: "unbounded" })
)

/**
 * The option `batching` of a store. `get`s that run concurrently under `Effect.forEach` or `Effect.all` with
 * `batching: true` become one read of many files at one commit: one query of GitHub's GraphQL API, or one fetch over
 * Git's protocol. Any other `get` is a separate read, as without this option.
 *
 * @example
 * ```ts
 * import { batching } from "chainstore/batching"
 *
 * const program = Effect.gen(function* () {
 *   const people = (yield* Store).collection("people")
 *   return yield* Effect.forEach(["ada", "bob"], (id) => people.get(id), { batching: true })
 * })
 * const result = program.pipe(Effect.provide(Store.layer({ batching })), Effect.provide(Memory.layer()))
 * ```
 *
 * @since 0.1.0
 * @category batching
 */
export const batching: Batching = {
  [BatchingTypeId]: (read) =>
    // A result of Effect's request cache could be older than a write of the same fiber.
    Effect.withRequestCaching(Effect.request(Read({ read }), resolver), false)
}
