import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import type { Batch, BatchOptions } from "../Batch.js"
import type { StoreService } from "../StoreService.js"
import type { AsyncQueue } from "./AsyncQueue.js"
import { called } from "./Callback.js"
import { effectOptions, type PromiseOptions, requireBody, type SignalOptions, signalOf } from "./Options.js"
import { type Promised, type Rows, Target, withMethods } from "./Promised.js"
import type { Runner } from "./Runner.js"

const methods = {
  delete: ["value", 2],
  expect: ["value", 3],
  discard: ["value", 0],
  operations: ["value", 0],
  expectations: ["value", 0]
} as const satisfies Rows<Batch>

const queueing = { put: ["value", 3], insert: ["value", 2, "options"] } as const

const Methods = withMethods(Target, { ...methods, ...queueing }) as new (
  runner: Runner,
  target: Effect.Effect<Batch>
) => Target<Batch> & Promised<Batch, typeof methods> & AsyncQueue

/**
 * Queued operations of one commit. `commit` writes them; leaving an `await using` block discards what was not committed.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncBatch extends Methods implements AsyncDisposable {
  constructor(
    private readonly batch: Batch,
    runner: Runner,
    private readonly end: () => Promise<void> = () => this.discard()
  ) {
    super(runner, Effect.succeed(batch))
  }

  /** Writes what is queued as one commit; its id, null when nothing was queued. */
  commit(options?: SignalOptions): Promise<string | null> {
    return this.runner.run(Effect.map(this.batch.commit, Option.getOrNull), options, true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }
}

/** Runs a function with a batch and commits what it queued; a function that throws discards it. */
export const inBatch = async <A>(
  operation: string,
  runner: Runner,
  opener: Effect.Effect<Pick<StoreService, "batch">, ValidationError>,
  body: (batch: AsyncBatch) => PromiseLike<A> | A,
  options: PromiseOptions<BatchOptions>
): Promise<{ readonly result: A; readonly commitSha: string | null }> => {
  requireBody(operation, body)
  const { commitSha, result } = await runner.run(
    Effect.flatMap(opener, (store) =>
      store.batch(effectOptions(options), (batch) => called(() => body(new AsyncBatch(batch, runner))))
    ),
    signalOf(options)
  )
  return { result, commitSha: Option.getOrNull(commitSha) }
}
