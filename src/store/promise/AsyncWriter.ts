import type { JsonObject } from "../../domain/Document.js"
import type { Writer } from "../Store.js"
import type { Held } from "./Held.js"
import { own, type SignalOptions, signalIn } from "./Options.js"
import type { Runner } from "./Runner.js"

/** Collects writes and commits them together. `put` means queued; `flush` and `close` mean durable. */
export class AsyncWriter implements AsyncDisposable {
  constructor(
    private readonly held: Held<Writer, ReadonlyArray<string>>,
    private readonly runner: Runner
  ) {}

  async put(collection: string, id: string, document: JsonObject, options?: SignalOptions): Promise<void> {
    return this.runner.run(this.held.handle.put(collection, id, document), options)
  }

  async insert(
    collection: string,
    document: JsonObject,
    options?: SignalOptions & { readonly id?: string | undefined }
  ): Promise<string> {
    return this.runner.run(this.held.handle.insert(collection, document, own(options)), signalIn(options))
  }

  async delete(collection: string, id: string, options?: SignalOptions): Promise<void> {
    return this.runner.run(this.held.handle.delete(collection, id), options)
  }

  /** Commits what is queued; the commit's id, null when nothing was. */
  flush(options?: SignalOptions): Promise<string | null> {
    return this.runner.runNullable(this.held.handle.flush, options)
  }

  /** Drops what is queued and not being written right now, such as an operation that cannot succeed; answers how many. */
  discard(): Promise<number> {
    return this.runner.run(this.held.handle.discard)
  }

  /** Operations that are not yet durable. */
  pending(): Promise<number> {
    return this.runner.run(this.held.handle.pending)
  }

  commits(): Promise<ReadonlyArray<string>> {
    return this.runner.run(this.held.handle.commits)
  }

  /** Flushes and ends the writer; rejects with what could not be written, `unwritten` names it. */
  async close(options?: SignalOptions): Promise<void> {
    await this.held.close(options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.held.leave()
  }
}
