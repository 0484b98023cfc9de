import * as Effect from "effect/Effect"
import type { Writer } from "../Writer.js"
import type { AsyncQueueing } from "./AsyncQueueing.js"
import { type MethodRows, PromiseAdapter, type PromiseMethods, withPromiseMethods } from "./PromiseMethods.js"
import type { SignalOptions } from "./PromiseOptions.js"
import type { PromiseRunner } from "./PromiseRunner.js"
import type { ScopedHandle } from "./ScopedHandle.js"

const methods = {
  delete: ["value", 2],
  flush: ["nullable", 0],
  discard: ["value", 0],
  pending: ["value", 0],
  commits: ["value", 0]
} as const satisfies MethodRows<Writer>

const queueing = { put: ["value", 3], insert: ["value", 2, "options"] } as const

const Methods = withPromiseMethods(PromiseAdapter, { ...methods, ...queueing }) as new (
  runner: PromiseRunner,
  target: Effect.Effect<Writer>
) => PromiseAdapter<Writer> & PromiseMethods<Writer, typeof methods> & AsyncQueueing

/**
 * Collects writes and commits them together. `put` resolves when the write is queued; `flush` and `close` resolve when the
 * queued writes are durable.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncWriter extends Methods implements AsyncDisposable {
  constructor(
    private readonly scoped: ScopedHandle<Writer, ReadonlyArray<string>>,
    runner: PromiseRunner
  ) {
    super(runner, Effect.succeed(scoped.handle))
  }

  /** Flushes and ends the writer. If the flush fails, the promise rejects and `unwritten` names the operations. */
  async close(options?: SignalOptions): Promise<void> {
    await this.scoped.close(options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scoped.leave()
  }
}
