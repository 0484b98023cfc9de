import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { ValidationError } from "../../domain/StoreError.js"
import type { BatchOptions } from "../Batch.js"
import type { Typed } from "../Collection.js"
import { nameIn } from "../CollectionDefinition.js"
import type { Transaction } from "../Transaction.js"
import { type AsyncBatch, inBatch } from "./AsyncBatch.js"
import {
  AsyncCollection,
  type AsyncCollectionOf,
  opened,
  type PlainCollectionLike,
  type PlainDefinition
} from "./AsyncCollection.js"
import type { PromiseOptions, SignalOptions } from "./Options.js"
import { Target } from "./Promised.js"
import type { Runner } from "./Runner.js"
import type { ScopedHandle } from "./ScopedHandle.js"

/**
 * Commits on a work branch that become visible together at `commit`. Leaving an `await using` block without it rolls
 * back.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncTransaction extends Target<Transaction> implements AsyncDisposable {
  constructor(
    private readonly scoped: ScopedHandle<Transaction, string | null>,
    runner: Runner
  ) {
    super(
      runner,
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

  /** The work branch. */
  get branch(): string {
    return this.scoped.handle.branch
  }

  /** Opens a collection whose reads and writes are part of the transaction. */
  collection<D extends PlainDefinition>(definition: D): AsyncCollectionOf<D>
  collection(name: string): AsyncCollection
  collection<A, I extends object>(name: string, schema: Schema.Schema<A, I>): AsyncCollection<Typed<A>, A, I>
  collection(given: PlainCollectionLike, schema?: Schema.Schema<any, any>): AsyncCollection<any, any> {
    return new AsyncCollection(nameIn(given), this.runner, opened(this.target, given, schema))
  }

  /** Runs the body and commits what it queued on the work branch; the commit's id, null when it queued nothing. */
  async batch<A>(
    body: (batch: AsyncBatch) => Promise<A> | A,
    options: PromiseOptions<BatchOptions> = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    return inBatch("Transaction.batch", this.runner, this.target, body, options)
  }

  /**
   * Makes everything visible with one fast-forward and ends the transaction; the commit's id, null when nothing was
   * written. A second call returns the same.
   */
  async commit(options?: SignalOptions): Promise<string | null> {
    return this.scoped.close(options)
  }

  /** Ends the transaction, and nothing of it is written; after `commit` it changes nothing. */
  async rollback(): Promise<void> {
    await this.scoped.abandon()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rollback()
  }
}
