import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { ValidationError } from "../../domain/StoreError.js"
import type { BatchOptions } from "../Batch.js"
import type { Typed } from "../Collection.js"
import { nameIn } from "../CollectionDefinition.js"
import type { Draft } from "../Proposals.js"
import { type AsyncBatch, inBatch } from "./AsyncBatch.js"
import {
  AsyncCollection,
  type AsyncCollectionOf,
  opened,
  type PlainCollectionLike,
  type PlainDefinition
} from "./AsyncCollection.js"
import type { PromiseOptions } from "./Options.js"
import { Target } from "./Promised.js"
import type { Runner } from "./Runner.js"

/**
 * Writes on a branch of their own, which become visible together or are proposed.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncDraft extends Target<Draft> {
  constructor(
    runner: Runner,
    private readonly draft: () => Draft,
    target: Effect.Effect<Draft, ValidationError> = Effect.sync(draft)
  ) {
    super(runner, target)
  }

  /** The branch that is written to. */
  get branch(): string {
    return this.draft().branch
  }

  /** Opens a collection whose reads and writes are on the branch. */
  collection<D extends PlainDefinition>(definition: D): AsyncCollectionOf<D>
  collection(name: string): AsyncCollection
  collection<A, I extends object>(name: string, schema: Schema.Schema<A, I>): AsyncCollection<Typed<A>, A, I>
  collection(given: PlainCollectionLike, schema?: Schema.Schema<any, any>): AsyncCollection<any, any> {
    return new AsyncCollection(nameIn(given), this.runner, opened(this.target, given, schema))
  }

  /** Runs the body and commits what it queued on the branch; the commit's id, null when it queued nothing. */
  async batch<A>(
    body: (batch: AsyncBatch) => Promise<A> | A,
    options: PromiseOptions<BatchOptions> = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    return inBatch("Transaction.batch", this.runner, this.target, body, options)
  }
}
