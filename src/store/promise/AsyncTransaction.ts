import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { ValidationError } from "../../domain/StoreError.js"
import type { BatchOptions, StoreService, Transaction, Typed } from "../Store.js"
import { AsyncBatch } from "./AsyncBatch.js"
import { AsyncCollection } from "./AsyncCollection.js"
import { called } from "./Callback.js"
import type { Held } from "./Held.js"
import { own, type SignalOptions, signalIn, wantBody } from "./Options.js"
import type { Runner } from "./Runner.js"

/**
 * Commits on a work branch that become visible together at `commit`. Leaving an `await using` block without it rolls
 * back.
 */
export class AsyncTransaction implements AsyncDisposable {
  constructor(
    private readonly held: Held<Transaction, string | null>,
    private readonly runner: Runner
  ) {}

  /** The work branch. */
  get branch(): string {
    return this.held.handle.branch
  }

  collection(name: string): AsyncCollection
  collection<A, I extends object>(name: string, schema: Schema.Schema<A, I>): AsyncCollection<Typed<A>, A>
  collection(name: string, schema?: Schema.Schema<any, any>): AsyncCollection<any, any> {
    return new AsyncCollection(
      name,
      this.runner,
      Effect.map(this.open, (transaction) => transaction as unknown as StoreService),
      schema
    )
  }

  /** Runs the body and commits what it queued on the work branch; the commit's id, null when it queued nothing. */
  async batch<A>(
    body: (batch: AsyncBatch) => Promise<A> | A,
    options: BatchOptions & SignalOptions = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    wantBody("Transaction.batch", body)
    const { result, commitSha } = await this.runner.run(
      Effect.flatMap(this.open, (transaction) =>
        transaction.batch(own(options) as BatchOptions, (batch) =>
          called(() => body(new AsyncBatch(batch, this.runner)))
        )
      ),
      signalIn(options)
    )
    return { result, commitSha: commitSha._tag === "Some" ? commitSha.value : null }
  }

  /**
   * Makes everything visible with one fast-forward and ends the transaction; the commit's id, null when nothing was
   * written. Again, it answers the same.
   */
  async commit(options?: SignalOptions): Promise<string | null> {
    return this.held.close(options)
  }

  /** Ends the transaction, and nothing of it is written; after `commit` it changes nothing. */
  async rollback(): Promise<void> {
    await this.held.abandon()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rollback()
  }

  private get open(): Effect.Effect<Transaction, ValidationError> {
    return Effect.suspend(() =>
      this.held.isOver
        ? new ValidationError({
            operation: "AsyncTransaction",
            message: "this transaction has ended: it was committed or rolled back",
            hint: "use a transaction before its end, or open another one"
          })
        : Effect.succeed(this.held.handle)
    )
  }
}
