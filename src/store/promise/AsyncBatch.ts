import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { JsonObject } from "../../domain/Document.js"
import type { Batch } from "../Store.js"
import { own, type SignalOptions, signalIn } from "./Options.js"
import type { Runner } from "./Runner.js"

/**
 * Queued operations of one commit. `commit` writes them; leaving an `await using` block discards what was not committed.
 */
export class AsyncBatch implements AsyncDisposable {
  constructor(
    private readonly batch: Batch,
    private readonly runner: Runner,
    private readonly end: () => Promise<void> = () => this.discard()
  ) {}

  async put(collection: string, id: string, document: JsonObject, options?: SignalOptions): Promise<void> {
    return this.runner.run(this.batch.put(collection, id, document), options)
  }

  /** Queues a document and answers its id, generated when not given. */
  async insert(
    collection: string,
    document: JsonObject,
    options?: SignalOptions & { readonly id?: string | undefined }
  ): Promise<string> {
    return this.runner.run(this.batch.insert(collection, document, own(options)), signalIn(options))
  }

  async delete(collection: string, id: string, options?: SignalOptions): Promise<void> {
    return this.runner.run(this.batch.delete(collection, id), options)
  }

  async expect(
    collection: string,
    id: string,
    expectation: { readonly rev: number } | { readonly sha: string } | { readonly absent: true }
  ): Promise<void> {
    return this.runner.run(this.batch.expect(collection, id, expectation))
  }

  /** Writes what is queued as one commit; its id, null when nothing was queued. */
  commit(options?: SignalOptions): Promise<string | null> {
    return this.runner.run(Effect.map(this.batch.commit, Option.getOrNull), options, true)
  }

  discard(): Promise<void> {
    return this.runner.run(this.batch.discard)
  }

  operations(): Promise<number> {
    return this.runner.run(this.batch.operations)
  }

  expectations(): Promise<number> {
    return this.runner.run(this.batch.expectations)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }
}
