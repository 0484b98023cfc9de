import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { WriteOptions } from "../Collection.js"
import type { Budget, Estimate, NewCommit } from "../GitRemote.js"
import {
  type Batch,
  type BatchOptions,
  type Finding,
  type Reverted,
  Store,
  type StoreService,
  type StoreView,
  type Transaction,
  type TransactionOptions,
  type Typed,
  type Writer,
  type WriterOptions
} from "../Store.js"
import type { DatabaseExcelOptions } from "../transfer/Export.js"
import { AsyncBatch } from "./AsyncBatch.js"
import { AsyncCollection, AsyncCollectionReader, type Told } from "./AsyncCollection.js"
import { AsyncTransaction } from "./AsyncTransaction.js"
import { AsyncWriter } from "./AsyncWriter.js"
import { Held } from "./Held.js"
import { callback, called, Runner, type SignalOptions } from "./Runner.js"

/** A read-only look at one commit, as promises. */
export class AsyncView {
  constructor(
    protected readonly runner: Runner,
    protected readonly view: Effect.Effect<StoreView>
  ) {}

  commitSha(options?: SignalOptions): Promise<string | null> {
    return this.runner.runNullable(
      Effect.flatMap(this.view, (view) => view.commitSha),
      options
    )
  }

  collections(options?: SignalOptions): Promise<ReadonlyArray<string>> {
    return this.runner.run(
      Effect.flatMap(this.view, (view) => view.collections),
      options
    )
  }

  collection(name: string): AsyncCollectionReader
  collection<A, I extends object>(name: string, schema: Schema.Schema<A, I>): AsyncCollectionReader<Typed<A>>
  collection(name: string, schema?: Schema.Schema<any, any>): AsyncCollectionReader<any> {
    return new AsyncCollectionReader(name, this.runner, this.view, schema)
  }

  /** Writes a worksheet per collection: to a file's path (on Node) or a web stream. Answers the columns of each. */
  async exportExcel(
    destination: string | WritableStream<Uint8Array>,
    options: Told<DatabaseExcelOptions> & SignalOptions = {}
  ): Promise<{ readonly [collection: string]: ReadonlyArray<string> }> {
    const { withFilesFor } = await import("./Files.js")
    return this.runner.run(
      Effect.flatMap(this.view, (view) =>
        withFilesFor(
          destination,
          view.exportExcel(destination, { ...options, onProgress: callback(options.onProgress) })
        )
      ),
      options
    )
  }
}

/**
 * The document store as promises: the same options, names and errors as the Effect face, null for what is absent,
 * `for await` for streams, an `AbortSignal` on every call. Close it, or open it with `await using`.
 */
export class AsyncStore extends AsyncView implements AsyncDisposable {
  private constructor(
    runner: Runner,
    private readonly store: Effect.Effect<StoreService>,
    /** The repository, `<owner>/<name>`. */
    readonly repository: string,
    readonly branch: string,
    readonly root: string,
    private readonly end: () => Promise<void>
  ) {
    super(runner, store)
  }

  /** A store from any layer; `chainstore/promise` and `chainstore/local` open the usual ones. */
  static async fromLayer<E>(layer: Layer.Layer<Store, E>): Promise<AsyncStore> {
    const runtime = ManagedRuntime.make(layer)
    const runner = new Runner(runtime)
    const service = await runner.run(Store).catch(async (error) => {
      await runtime.dispose()
      throw error
    })
    return AsyncStore.of(runner, service, () => runtime.dispose())
  }

  private static of(runner: Runner, service: StoreService, end: () => Promise<void>) {
    return new AsyncStore(
      runner,
      Effect.succeed(service),
      service.repository,
      service.branch,
      service.root,
      end
    )
  }

  private using<A, E>(
    use: (store: StoreService) => Effect.Effect<A, E>,
    options?: SignalOptions
  ): Promise<A> {
    return this.runner.run(Effect.flatMap(this.store, use), options)
  }

  override collection(name: string): AsyncCollection
  override collection<A, I extends object>(
    name: string,
    schema: Schema.Schema<A, I>
  ): AsyncCollection<Typed<A>, A>
  override collection(name: string, schema?: Schema.Schema<any, any>): AsyncCollection<any, any> {
    return new AsyncCollection(name, this.runner, this.store, schema)
  }

  /** Runs the body and commits what it queued; a body that throws discards it. */
  async batch<A>(
    body: (batch: AsyncBatch) => Promise<A> | A,
    options: BatchOptions & SignalOptions = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    const { result, commitSha } = await this.using(
      (store) => store.batch(options, (batch) => called(() => body(new AsyncBatch(batch, this.runner)))),
      options
    )
    return { result, commitSha: Option.getOrNull(commitSha) }
  }

  /** A batch to be committed by hand. */
  async openBatch(options: BatchOptions = {}): Promise<AsyncBatch> {
    const held = await Held.open<Batch, unknown, unknown>(this.runner, (body) =>
      Effect.flatMap(this.store, (store) => store.batch(options, body))
    )
    return new AsyncBatch(held.handle, this.runner, () => held.abandon())
  }

  /** Runs the body and flushes what it queued at the end. */
  async writer<A>(
    body: (writer: AsyncWriter) => Promise<A> | A,
    options: WriterOptions & SignalOptions = {}
  ): Promise<{ readonly result: A; readonly commits: ReadonlyArray<string> }> {
    return this.using(
      (store) => store.writer(options, (writer) => called(() => body(new AsyncWriter(writer, this.runner)))),
      options
    )
  }

  /** A writer to be closed by hand. */
  async openWriter(options: WriterOptions = {}): Promise<AsyncWriter> {
    const held = await Held.open<Writer, unknown, unknown>(this.runner, (body) =>
      Effect.flatMap(this.store, (store) => store.writer(options, body))
    )
    return new AsyncWriter(held.handle, this.runner, () => held.close())
  }

  /** Runs the body on a work branch and makes its commits visible together; a body that throws leaves nothing behind. */
  async transaction<A>(
    body: (transaction: AsyncTransaction) => Promise<A> | A,
    options: TransactionOptions & SignalOptions = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    const { result, commitSha } = await this.using(
      (store) =>
        store.transaction(options, (transaction) =>
          called(() => body(new AsyncTransaction(transaction, this.runner)))
        ),
      options
    )
    return { result, commitSha: Option.getOrNull(commitSha) }
  }

  /** A transaction to be committed by hand. */
  async openTransaction(options: TransactionOptions = {}): Promise<AsyncTransaction> {
    const held = await Held.open<Transaction, string | null, unknown>(this.runner, (body) =>
      Effect.flatMap(this.store, (store) =>
        Effect.map(store.transaction(options, body), ({ commitSha }) => Option.getOrNull(commitSha))
      )
    )
    return new AsyncTransaction(held.handle, this.runner, held)
  }

  staleTransactions(options?: SignalOptions) {
    return this.using((store) => store.staleTransactions, options)
  }

  removeTransaction(branch: string, options?: SignalOptions): Promise<void> {
    return this.using((store) => store.removeTransaction(branch), options)
  }

  /** A read-only view of the current head. */
  async snapshot(options?: SignalOptions): Promise<AsyncView> {
    const view = await this.using((store) => store.snapshot, options)
    return new AsyncView(this.runner, Effect.succeed(view))
  }

  /** A read-only view of a commit, tag or branch. */
  async at(ref: string, options?: SignalOptions): Promise<AsyncView> {
    const view = await this.using((store) => store.at(ref), options)
    return new AsyncView(this.runner, Effect.succeed(view))
  }

  /** The same store on another branch; closing this one closes it too. */
  async onBranch(branch: string): Promise<AsyncStore> {
    const service = await this.using((store) => Effect.succeed(store.onBranch(branch)))
    return AsyncStore.of(this.runner, service, async () => {})
  }

  resolveRef(ref: string, options?: SignalOptions): Promise<string | null> {
    return this.runner.runNullable(
      Effect.flatMap(this.store, (store) => store.resolveRef(ref)),
      options
    )
  }

  /** Undoes a commit with a forward commit. */
  revert(
    commitSha: string,
    options?: WriteOptions & SignalOptions & { readonly force?: boolean | undefined }
  ): Promise<Reverted> {
    return this.using((store) => store.revert(commitSha, options), options)
  }

  /** Runs a body up to its first commit, which is not made; what it would hold, null when nothing would be written. */
  preview<A>(
    body: (store: AsyncStore) => Promise<A> | A,
    options?: SignalOptions
  ): Promise<NewCommit | null> {
    return this.runner.runNullable(
      Effect.flatMap(this.store, (store) =>
        store.preview((dry) => called(() => body(AsyncStore.of(this.runner, dry, async () => {}))))
      ),
      options
    )
  }

  invalidate(path?: string): Promise<void> {
    return this.using((store) => store.invalidate(path))
  }

  /** The current rate budgets, without spending any; empty where there are none. */
  rateLimit(options?: SignalOptions): Promise<ReadonlyArray<Budget>> {
    return this.using((store) => store.rateLimit, options)
  }

  estimate(operation: Estimate): Promise<number> {
    return this.using((store) => Effect.succeed(store.estimate(operation)))
  }

  doctor(options?: SignalOptions): Promise<ReadonlyArray<Finding>> {
    return this.using((store) => store.doctor, options)
  }

  /** Ends what is under way and gives everything back; calling it again changes nothing. */
  async close(): Promise<void> {
    await this.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
