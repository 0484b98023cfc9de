import * as Effect from "effect/Effect"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import type { BatchOptions } from "../Batch.js"
import { type CollectionDefinition, type NamedSchema, nameIn } from "../CollectionDefinition.js"
import type { Draft } from "../Proposals.js"
import { type AsyncBatch, inBatch } from "./AsyncBatch.js"
import {
  AsyncCollection,
  type AsyncCollectionOf,
  openCollection,
  type PlainCollectionLike,
  type PlainSchema
} from "./AsyncCollection.js"
import { PromiseAdapter } from "./PromiseMethods.js"
import type { PromiseOptions } from "./PromiseOptions.js"
import type { PromiseRunner } from "./PromiseRunner.js"

/**
 * Writes on a separate branch, which become visible together or are proposed.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncDraft extends PromiseAdapter<Draft> {
  constructor(
    runner: PromiseRunner,
    private readonly draft: () => Draft,
    target: Effect.Effect<Draft, ValidationError> = Effect.sync(draft)
  ) {
    super(runner, target)
  }

  /** The branch that receives the writes. */
  get branch(): string {
    return this.draft().branch
  }

  /** Opens a collection of the branch. */
  collection<
    C extends string | CollectionDefinition<string, PlainSchema>,
    S extends PlainSchema | undefined = undefined
  >(collection: C, schema?: NamedSchema<C, S>): AsyncCollectionOf<C, S>
  collection(given: PlainCollectionLike, schema?: PlainSchema): AsyncCollection<any, any, any> {
    return new AsyncCollection(nameIn(given), this.runner, openCollection(this.target, given, schema))
  }

  /** Runs the body and commits its queued operations on the branch. `commitSha` is null if it queued none. */
  async batch<A>(
    body: (batch: AsyncBatch) => Promise<A> | A,
    options: PromiseOptions<BatchOptions> = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    return inBatch("Transaction.batch", this.runner, this.target, body, options)
  }
}
