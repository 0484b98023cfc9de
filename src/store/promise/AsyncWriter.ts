import type { JsonObject } from "../../domain/Document.js"
import type { Writer } from "../Store.js"
import type { Runner, SignalOptions } from "./Runner.js"

/** Collects writes and commits them together. `put` means queued; `flush` and `close` mean durable. */
export class AsyncWriter implements AsyncDisposable {
  constructor(
    private readonly writer: Writer,
    private readonly runner: Runner,
    private readonly end: () => Promise<unknown> = async () => {}
  ) {}

  put(collection: string, id: string, document: JsonObject, options?: SignalOptions): Promise<void> {
    return this.runner.run(this.writer.put(collection, id, document), options)
  }

  insert(
    collection: string,
    document: JsonObject,
    options?: SignalOptions & { readonly id?: string | undefined }
  ): Promise<string> {
    return this.runner.run(this.writer.insert(collection, document, options), options)
  }

  delete(collection: string, id: string, options?: SignalOptions): Promise<void> {
    return this.runner.run(this.writer.delete(collection, id), options)
  }

  /** Commits what is queued; the commit's id, null when nothing was. */
  flush(options?: SignalOptions): Promise<string | null> {
    return this.runner.runNullable(this.writer.flush, options)
  }

  /** Drops what is queued and not being written right now, such as an operation that cannot succeed; answers how many. */
  discard(): Promise<number> {
    return this.runner.run(this.writer.discard)
  }

  /** Operations that are not yet durable. */
  pending(): Promise<number> {
    return this.runner.run(this.writer.pending)
  }

  commits(): Promise<ReadonlyArray<string>> {
    return this.runner.run(this.writer.commits)
  }

  /** Flushes and ends the writer. */
  async close(): Promise<void> {
    await this.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }
}
