import * as Effect from "effect/Effect"
import { ValidationError } from "../../domain/errors/StoreError.js"
import type { Transaction } from "../Transaction.js"
import { AsyncDraft } from "./AsyncDraft.js"
import type { SignalOptions } from "./PromiseOptions.js"
import type { PromiseRunner } from "./PromiseRunner.js"
import type { ScopedHandle } from "./ScopedHandle.js"

/**
 * Commits on a work branch that become visible together at `commit`. Leaving an `await using` block without a commit
 * rolls back.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncTransaction extends AsyncDraft implements AsyncDisposable {
  constructor(
    private readonly scoped: ScopedHandle<Transaction, string | null>,
    runner: PromiseRunner
  ) {
    super(
      runner,
      () => scoped.handle,
      Effect.suspend(() =>
        scoped.isOver
          ? new ValidationError({
              operation: "AsyncTransaction",
              message: "this transaction has ended: it was committed or rolled back",
              hint: "use a transaction before its end, or open another one"
            })
          : Effect.succeed(scoped.handle)
      )
    )
  }

  /**
   * Makes all commits visible with one fast-forward, and ends the transaction. Returns the commit id, or null if nothing
   * was written. Further calls return the same result.
   */
  async commit(options?: SignalOptions): Promise<string | null> {
    return this.scoped.close(options)
  }

  /** Ends the transaction without writing anything. Has no effect after `commit`. */
  async rollback(): Promise<void> {
    await this.scoped.abandon()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rollback()
  }
}
