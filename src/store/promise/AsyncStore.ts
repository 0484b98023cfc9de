import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { WriteError, WriteOptions } from "../Collection.js"
import type { Budget, Estimate, NewCommit } from "../remote/GitRemote.js"
import {
  type Batch,
  type BatchOptions,
  type DoctorOptions,
  type DoctorProgress,
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
import { called } from "./Callback.js"
import { type Bracket, Held } from "./Held.js"
import { withLogs } from "./Logs.js"
import { own, type SignalOptions, signalIn, told, wantBody } from "./Options.js"
import { Runner } from "./Runner.js"

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
    options?: Told<DatabaseExcelOptions> & SignalOptions
  ): Promise<{ readonly [collection: string]: ReadonlyArray<string> }> {
    const { withFilesFor } = await import("./Files.js")
    return this.runner.run(
      Effect.flatMap(this.view, (view) =>
        withFilesFor(destination, view.exportExcel(destination, told(options, "onProgress")))
      ),
      signalIn(options)
    )
  }
}

/**
 * The document store as promises: the same options, names and errors as the Effect face, null for what is absent,
 * `for await` for streams, an `AbortSignal` on every call that reads or writes. Close it, or open it with
 * `await using`.
 */
export class AsyncStore extends AsyncView implements AsyncDisposable {
  private constructor(
    runner: Runner,
    private readonly store: Effect.Effect<StoreService>,
    /** The repository, `<owner>/<name>`. */
    readonly repository: string,
    readonly branch: string,
    readonly root: string
  ) {
    super(runner, store)
  }

  /** A store from any layer; `chainstore/promise` and `chainstore/local` open the usual ones. */
  static async fromLayer<E>(layer: Layer.Layer<Store, E>): Promise<AsyncStore> {
    const runtime = ManagedRuntime.make(withLogs(layer))
    const runner = new Runner(runtime, () => runtime.dispose())
    const service = await runner.run(Store).catch(async (error) => {
      await runner.close()
      throw error
    })
    return AsyncStore.of(runner, service)
  }

  private static of(runner: Runner, service: StoreService) {
    return new AsyncStore(runner, Effect.succeed(service), service.repository, service.branch, service.root)
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
    wantBody("Store.batch", body)
    const { result, commitSha } = await this.using(
      (store) =>
        store.batch(own(options) as BatchOptions, (batch) =>
          called(() => body(new AsyncBatch(batch, this.runner)))
        ),
      signalIn(options)
    )
    return { result, commitSha: Option.getOrNull(commitSha) }
  }

  /** A batch to be committed by hand; closing the store discards what is not. */
  async openBatch(options: BatchOptions & SignalOptions = {}): Promise<AsyncBatch> {
    const held = await Held.open<Batch, unknown, WriteError>(
      this.runner,
      (inside) => Effect.flatMap(this.store, (store) => store.batch(own(options) as BatchOptions, inside)),
      "abandon",
      signalIn(options)
    )
    return new AsyncBatch(held.handle, this.runner, () => held.abandon())
  }

  /**
   * Runs the body and flushes what it queued at the end. The body may `close` the writer before: it then goes on
   * without it.
   */
  async writer<A>(
    body: (writer: AsyncWriter) => Promise<A> | A,
    options: WriterOptions & SignalOptions = {}
  ): Promise<{ readonly result: A; readonly commits: ReadonlyArray<string> }> {
    wantBody("Store.writer", body)
    const { ended, result } = await Held.during(
      this.runner,
      this.writers(options),
      (held) => body(new AsyncWriter(held, this.runner)),
      signalIn(options)
    )
    return { result, commits: ended ?? [] }
  }

  /** A writer to be closed by hand; closing the store closes it. */
  async openWriter(options: WriterOptions & SignalOptions = {}): Promise<AsyncWriter> {
    return new AsyncWriter(
      await Held.open(this.runner, this.writers(options), "close", signalIn(options)),
      this.runner
    )
  }

  /**
   * Runs the body on a work branch and makes its commits visible together; a body that throws leaves nothing behind.
   * The body may `commit` or `rollback` before its end: it then goes on without the transaction, and what it throws
   * undoes nothing. After a rollback `commitSha` is null.
   */
  async transaction<A>(
    body: (transaction: AsyncTransaction) => Promise<A> | A,
    options: TransactionOptions & SignalOptions = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    wantBody("Store.transaction", body)
    const { ended, result } = await Held.during(
      this.runner,
      this.transactions(options),
      (held) => body(new AsyncTransaction(held, this.runner)),
      signalIn(options)
    )
    return { result, commitSha: ended }
  }

  /** A transaction to be committed by hand; closing the store rolls it back. */
  async openTransaction(options: TransactionOptions & SignalOptions = {}): Promise<AsyncTransaction> {
    const held = await Held.open(this.runner, this.transactions(options), "abandon", signalIn(options))
    return new AsyncTransaction(held, this.runner)
  }

  private writers(
    options: WriterOptions & SignalOptions
  ): Bracket<Writer, ReadonlyArray<string>, WriteError> {
    return (inside) =>
      Effect.flatMap(this.store, (store) =>
        Effect.map(store.writer(own(options) as WriterOptions, inside), ({ commits }) => commits)
      )
  }

  private transactions(
    options: TransactionOptions & SignalOptions
  ): Bracket<Transaction, string | null, WriteError> {
    return (inside) =>
      Effect.flatMap(this.store, (store) =>
        Effect.map(store.transaction(own(options) as TransactionOptions, inside), ({ commitSha }) =>
          Option.getOrNull(commitSha)
        )
      )
  }

  staleTransactions(options?: SignalOptions) {
    return this.using((store) => store.staleTransactions, options)
  }

  async removeTransaction(branch: string, options?: SignalOptions): Promise<void> {
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

  /** The same store on another branch; closing this one closes it too, and not the other way round. */
  async onBranch(branch: string): Promise<AsyncStore> {
    const service = await this.using((store) => Effect.sync(() => store.onBranch(branch)))
    return AsyncStore.of(this.runner.part(), service)
  }

  async resolveRef(ref: string, options?: SignalOptions): Promise<string | null> {
    return this.runner.runNullable(
      Effect.flatMap(this.store, (store) => store.resolveRef(ref)),
      options
    )
  }

  /** Undoes a commit with a forward commit. */
  async revert(
    commitSha: string,
    options?: WriteOptions & SignalOptions & { readonly force?: boolean | undefined }
  ): Promise<Reverted> {
    return this.using((store) => store.revert(commitSha, own(options)), signalIn(options))
  }

  /** Runs a body up to its first commit, which is not made; what it would hold, null when nothing would be written. */
  async preview<A>(
    body: (store: AsyncStore) => Promise<A> | A,
    options?: SignalOptions
  ): Promise<NewCommit | null> {
    wantBody("Store.preview", body)
    const show = async (dry: StoreService) => {
      const store = AsyncStore.of(this.runner.part(), dry)
      try {
        await body(store)
      } catch (error) {
        await store.close().catch(() => {})
        throw error
      }
      await store.close()
    }
    return this.runner.runNullable(
      Effect.flatMap(this.store, (store) => store.preview((dry) => called(() => show(dry)))),
      options
    )
  }

  async invalidate(path?: string): Promise<void> {
    return this.using((store) => store.invalidate(path))
  }

  /** The current rate budgets, without spending any; empty where there are none. */
  rateLimit(options?: SignalOptions): Promise<ReadonlyArray<Budget>> {
    return this.using((store) => store.rateLimit, options)
  }

  estimate(operation: Estimate): Promise<number> {
    return this.using((store) => Effect.sync(() => store.estimate(operation)))
  }

  /** Looks at access, settings and collections; each finding of a collection says what was checked. */
  doctor(options?: SignalOptions): Promise<ReadonlyArray<Finding>> {
    return this.using((store) => store.doctor, options)
  }

  /** The same; `deep` reads every document, also over an API. */
  doctorWith(
    options: SignalOptions & {
      readonly deep?: boolean | undefined
      readonly onProgress?: ((progress: DoctorProgress) => PromiseLike<void> | void) | undefined
    }
  ): Promise<ReadonlyArray<Finding>> {
    const asked = told<DoctorOptions>(options, "onProgress")
    return this.using((store) => store.doctorWith(asked), signalIn(options))
  }

  /**
   * Ends what is under way and gives everything back. Open writers are flushed; rejects with what could not be written,
   * `unwritten` names it. Open transactions are rolled back, open batches discarded, calls that have not come to their
   * end reject. Calling it again changes nothing.
   */
  close(): Promise<void> {
    return this.runner.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
