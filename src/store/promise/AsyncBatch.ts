import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import type { Batch, BatchOptions } from "../Batch.js"
import type { StoreService } from "../StoreService.js"
import type { AsyncQueueing } from "./AsyncQueueing.js"
import { runCallback } from "./Callback.js"
import { type MethodRows, PromiseAdapter, type PromiseMethods, withPromiseMethods } from "./PromiseMethods.js"
import {
  effectOptions,
  type PromiseOptions,
  requireBody,
  type SignalOptions,
  signalOptions
} from "./PromiseOptions.js"
import type { PromiseRunner } from "./PromiseRunner.js"

const methods = {
  delete: ["value", 2],
  expect: ["value", 3],
  discard: ["value", 0],
  operations: ["value", 0],
  expectations: ["value", 0]
} as const satisfies MethodRows<Batch>

const queueing = { put: ["value", 3], insert: ["value", 2, "options"] } as const

const Methods = withPromiseMethods(PromiseAdapter, { ...methods, ...queueing }) as new (
  runner: PromiseRunner,
  target: Effect.Effect<Batch>
) => PromiseAdapter<Batch> & PromiseMethods<Batch, typeof methods> & AsyncQueueing

/**
 * Queued operations of one commit. `commit` writes them. Leaving an `await using` block discards operations that are not
 * committed.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncBatch extends Methods implements AsyncDisposable {
  constructor(
    private readonly batch: Batch,
    runner: PromiseRunner,
    private readonly end: () => Promise<void> = () => this.discard()
  ) {
    super(runner, Effect.succeed(batch))
  }

  /** Writes the queued operations as one commit. Returns its id, or null if nothing was queued. */
  commit(options?: SignalOptions): Promise<string | null> {
    return this.runner.run(Effect.map(this.batch.commit, Option.getOrNull), options, true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }
}

/** Runs a function with a batch and commits the queued operations. If the function throws, they are discarded. */
export const inBatch = async <A>(
  operation: string,
  runner: PromiseRunner,
  opener: Effect.Effect<Pick<StoreService, "batch">, ValidationError>,
  body: (batch: AsyncBatch) => PromiseLike<A> | A,
  options: PromiseOptions<BatchOptions>
): Promise<{ readonly result: A; readonly commitSha: string | null }> => {
  requireBody(operation, body)
  const { commitSha, result } = await runner.run(
    Effect.flatMap(opener, (store) =>
      store.batch(effectOptions(options), (batch) => runCallback(() => body(new AsyncBatch(batch, runner))))
    ),
    signalOptions(options)
  )
  return { result, commitSha: Option.getOrNull(commitSha) }
}
