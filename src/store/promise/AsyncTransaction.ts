import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { BatchOptions, StoreService, Transaction, Typed } from "../Store.js"
import { AsyncBatch } from "./AsyncBatch.js"
import { AsyncCollection } from "./AsyncCollection.js"
import type { Held } from "./Held.js"
import { called, type Runner } from "./Runner.js"

/**
 * Commits on a work branch that become visible together at `commit`. Leaving an `await using` block without it rolls
 * back.
 */
export class AsyncTransaction implements AsyncDisposable {
  constructor(
    private readonly transaction: Transaction,
    private readonly runner: Runner,
    private readonly held?: Held<Transaction, string | null>
  ) {}

  /** The work branch. */
  get branch(): string {
    return this.transaction.branch
  }

  collection(name: string): AsyncCollection
  collection<A, I extends object>(name: string, schema: Schema.Schema<A, I>): AsyncCollection<Typed<A>, A>
  collection(name: string, schema?: Schema.Schema<any, any>): AsyncCollection<any, any> {
    return new AsyncCollection(
      name,
      this.runner,
      Effect.succeed(this.transaction as unknown as StoreService),
      schema
    )
  }

  /** Runs the body and commits what it queued on the work branch; the commit's id, null when it queued nothing. */
  async batch<A>(
    body: (batch: AsyncBatch) => Promise<A> | A,
    options: BatchOptions = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    const { result, commitSha } = await this.runner.run(
      this.transaction.batch(options, (batch) => called(() => body(new AsyncBatch(batch, this.runner))))
    )
    return { result, commitSha: commitSha._tag === "Some" ? commitSha.value : null }
  }

  /** Makes everything visible with one fast-forward; the commit's id, null when nothing was written. */
  async commit(): Promise<string | null> {
    return this.held === undefined ? null : this.held.close()
  }

  async rollback(): Promise<void> {
    await this.held?.abandon()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rollback()
  }
}
