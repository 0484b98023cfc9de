import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import type { ValidationError, WriteError } from "../../domain/errors/StoreError.js"
import type { Batch, BatchOptions } from "../Batch.js"
import type { CompareOptions } from "../Branches.js"
import { type CollectionDefinition, type NamedSchema, nameIn } from "../CollectionDefinition.js"
import type { DoctorOptions, Finding } from "../Doctor.js"
import { captureTransactions } from "../internal/transaction/CurrentTransaction.js"
import type { Proposed, ProposeOptions } from "../Proposals.js"
import type { Estimate, NewCommit } from "../remote/GitRemote.js"
import { Store } from "../Store.js"
import type { StoreService } from "../StoreService.js"
import type { Transaction, TransactionOptions } from "../Transaction.js"
import type { DatabaseExcelOptions } from "../transfer/Export.js"
import type { StoreView } from "../View.js"
import type { Writer, WriterOptions } from "../Writer.js"
import { AsyncBatch, inBatch } from "./AsyncBatch.js"
import {
  AsyncCollection,
  type AsyncCollectionOf,
  AsyncCollectionReader,
  type AsyncCollectionReaderOf,
  openCollection,
  type PlainCollectionLike,
  type PlainSchema
} from "./AsyncCollection.js"
import type { AsyncDraft } from "./AsyncDraft.js"
import {
  type AsyncDocumentDifference,
  type AsyncMerged,
  type AsyncMergeOptions,
  differencesOf,
  mergedOf,
  mergeOptionsOf
} from "./AsyncMerge.js"
import { AsyncProposal, draftBody } from "./AsyncProposal.js"
import { AsyncTransaction } from "./AsyncTransaction.js"
import { AsyncWriter } from "./AsyncWriter.js"
import { runCallback } from "./Callback.js"
import { type MethodRows, PromiseAdapter, type PromiseMethods, withPromiseMethods } from "./PromiseMethods.js"
import {
  effectOptions,
  type PromiseOptions,
  requireBody,
  type SignalOptions,
  signalOptions
} from "./PromiseOptions.js"
import { PromiseRunner } from "./PromiseRunner.js"
import { type Bracket, ScopedHandle } from "./ScopedHandle.js"
import { withDefaultLogger } from "./StandardErrorLogger.js"

const reads = {
  commitSha: ["nullable", 0],
  collections: ["value", 0],
  indexes: ["value", 0]
} as const satisfies MethodRows<StoreView>

const Reads = withPromiseMethods(PromiseAdapter, reads) as new (
  runner: PromiseRunner,
  target: Effect.Effect<StoreView, ValidationError>
) => PromiseAdapter<StoreView> & PromiseMethods<StoreView, typeof reads>

/**
 * A read-only view of one commit as promises.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncView extends Reads {
  /** Opens a collection for reading, by its definition or its name. */
  collection<
    C extends string | CollectionDefinition<string, PlainSchema>,
    S extends PlainSchema | undefined = undefined
  >(collection: C, schema?: NamedSchema<C, S>): AsyncCollectionReaderOf<C, S>
  collection(given: PlainCollectionLike, schema?: PlainSchema): AsyncCollectionReader<any, any> {
    return new AsyncCollectionReader(nameIn(given), this.runner, openCollection(this.target, given, schema))
  }

  /** Writes one worksheet per collection to a file path (on Node) or to a web stream. Returns the columns of each. */
  async exportExcel(
    destination: string | WritableStream<Uint8Array>,
    options?: PromiseOptions<DatabaseExcelOptions>
  ): Promise<{ readonly [collection: string]: ReadonlyArray<string> }> {
    const { provideFileSystem } = await import("./NodeFileSystem.js")
    return this.run(
      (view) => provideFileSystem(destination, view.exportExcel(destination, effectOptions(options))),
      options
    )
  }
}

const methods = {
  staleTransactions: ["value", 0],
  removeTransaction: ["value", 1],
  resolveRef: ["nullable", 1],
  branches: ["value", 0],
  createBranch: ["value", 1, "options"],
  deleteBranch: ["value", 1],
  proposals: ["value", 0, "options"],
  revert: ["value", 1, "options"],
  reindex: ["nullable", 0, "options"],
  rateLimit: ["value", 0],
  doctor: ["value", 0]
} as const satisfies MethodRows<StoreService>

const Methods = withPromiseMethods(AsyncView, methods) as new (
  runner: PromiseRunner,
  target: Effect.Effect<StoreView, ValidationError>
) => AsyncView & PromiseMethods<StoreService, typeof methods>

/**
 * The document store as promises. Options, names and errors are those of the Effect API. An absent value is null, a
 * stream is an `AsyncIterable`, and every call that reads or writes takes an `AbortSignal`. Close the store, or open it
 * with `await using`.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncStore extends Methods implements AsyncDisposable {
  private constructor(
    runner: PromiseRunner,
    private readonly store: Effect.Effect<StoreService>,
    /** The repository, `<owner>/<name>`. */
    readonly repository: string,
    /** The branch that is read and written. */
    readonly branch: string,
    /** The directory of the collections. */
    readonly root: string,
    /** Whether index and manifest files without the tree id that they describe are trusted. */
    readonly trustForeignIndexes: boolean
  ) {
    super(runner, store)
  }

  /** Opens a store from any layer. For common layers use `chainstore/promise` and `chainstore/local`. */
  static async fromLayer<E>(layer: Layer.Layer<Store, E>): Promise<AsyncStore> {
    const runtime = ManagedRuntime.make(withDefaultLogger(layer))
    const runner = new PromiseRunner(runtime, () => runtime.dispose())
    const service = await runner.run(Store).catch(async (error) => {
      await runner.close()
      throw error
    })
    return AsyncStore.of(runner, service)
  }

  private static of(runner: PromiseRunner, service: StoreService) {
    const { branch, repository, root, trustForeignIndexes } = service
    return new AsyncStore(runner, Effect.succeed(service), repository, branch, root, trustForeignIndexes)
  }

  /** Runs a call of the store. The signal of the options interrupts it. */
  private call<A, E>(use: (store: StoreService) => Effect.Effect<A, E>, options?: SignalOptions): Promise<A> {
    return this.runner.run(Effect.flatMap(this.store, use), signalOptions(options))
  }

  /** Opens a collection by its definition or its name. Sends no request. */
  override collection<
    C extends string | CollectionDefinition<string, PlainSchema>,
    S extends PlainSchema | undefined = undefined
  >(collection: C, schema?: NamedSchema<C, S>): AsyncCollectionOf<C, S>
  override collection(given: PlainCollectionLike, schema?: PlainSchema): AsyncCollection<any, any, any> {
    return new AsyncCollection(nameIn(given), this.runner, openCollection(this.store, given, schema))
  }

  /** Runs the body and commits its queued operations. If the body throws, they are discarded. */
  async batch<A>(
    body: (batch: AsyncBatch) => Promise<A> | A,
    options: PromiseOptions<BatchOptions> = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    return inBatch("Store.batch", this.runner, this.store, body, options)
  }

  /** Opens a batch that the caller commits. Closing the store discards operations that are not committed. */
  async openBatch(options: PromiseOptions<BatchOptions> = {}): Promise<AsyncBatch> {
    const scoped = await ScopedHandle.open<Batch, unknown, WriteError>(
      this.runner,
      (inside) => Effect.flatMap(this.store, (store) => store.batch(effectOptions(options), inside)),
      "abandon",
      signalOptions(options)
    )
    return new AsyncBatch(scoped.handle, this.runner, () => scoped.abandon())
  }

  /**
   * Runs the body, and flushes its queued operations at the end. The body may `close` the writer earlier and continue
   * without it.
   */
  async writer<A>(
    body: (writer: AsyncWriter) => Promise<A> | A,
    options: PromiseOptions<WriterOptions> = {}
  ): Promise<{ readonly result: A; readonly commits: ReadonlyArray<string> }> {
    requireBody("Store.writer", body)
    const { ended, result } = await ScopedHandle.during(
      this.runner,
      this.writers(options),
      (scoped) => body(new AsyncWriter(scoped, this.runner)),
      signalOptions(options)
    )
    return { result, commits: ended ?? [] }
  }

  /** Opens a writer that the caller closes. Closing the store closes it too. */
  async openWriter(options: PromiseOptions<WriterOptions> = {}): Promise<AsyncWriter> {
    return new AsyncWriter(
      await ScopedHandle.open(this.runner, this.writers(options), "close", signalOptions(options)),
      this.runner
    )
  }

  /**
   * Runs the body on a work branch and makes its commits visible together. If the body throws, nothing is written. The
   * body may call `commit` or `rollback` and continue without the transaction; an error after that undoes nothing. After
   * a rollback `commitSha` is null.
   */
  async transaction<A>(
    body: (transaction: AsyncTransaction) => Promise<A> | A,
    options: PromiseOptions<TransactionOptions> = {}
  ): Promise<{ readonly result: A; readonly commitSha: string | null }> {
    requireBody("Store.transaction", body)
    const { ended, result } = await ScopedHandle.during(
      this.runner,
      this.transactions(options),
      (scoped) => body(new AsyncTransaction(scoped, this.runner)),
      signalOptions(options)
    )
    return { result, commitSha: ended }
  }

  /**
   * Runs the body as one transaction. Every operation of the store that the body receives joins the transaction, also
   * in services that use that store: see `Store.withTransaction`. If the body throws, nothing is written. Operations of
   * this store do not join.
   *
   * @since 0.1.0
   */
  async withTransaction<A>(
    body: (store: AsyncStore) => Promise<A> | A,
    options: PromiseOptions<TransactionOptions> = {}
  ): Promise<A> {
    requireBody("Store.withTransaction", body)
    return this.call(
      (store) =>
        store.withTransaction(
          Effect.flatMap(captureTransactions, (joined) =>
            runCallback(() => this.during(AsyncStore.of(this.runner.child(joined), store), body))
          ),
          effectOptions(options)
        ),
      options
    )
  }

  /** Runs the body with a store, and closes that store at the end. */
  private async during<A>(store: AsyncStore, body: (store: AsyncStore) => Promise<A> | A): Promise<A> {
    try {
      const result = await body(store)
      await store.close()
      return result
    } catch (error) {
      await store.close().catch(() => {})
      throw error
    }
  }

  /** Opens a transaction that the caller commits. Closing the store rolls it back. */
  async openTransaction(options: PromiseOptions<TransactionOptions> = {}): Promise<AsyncTransaction> {
    const scoped = await ScopedHandle.open(
      this.runner,
      this.transactions(options),
      "abandon",
      signalOptions(options)
    )
    return new AsyncTransaction(scoped, this.runner)
  }

  private writers(
    options: PromiseOptions<WriterOptions>
  ): Bracket<Writer, ReadonlyArray<string>, WriteError> {
    return (inside) =>
      Effect.flatMap(this.store, (store) =>
        Effect.map(store.writer(effectOptions(options), inside), ({ commits }) => commits)
      )
  }

  private transactions(
    options: PromiseOptions<TransactionOptions>
  ): Bracket<Transaction, string | null, WriteError> {
    return (inside) =>
      Effect.flatMap(this.store, (store) =>
        Effect.map(store.transaction(effectOptions(options), inside), ({ commitSha }) =>
          Option.getOrNull(commitSha)
        )
      )
  }

  /** A read-only view of the current head. */
  async snapshot(options?: SignalOptions): Promise<AsyncView> {
    const view = await this.call((store) => store.snapshot, options)
    return new AsyncView(this.runner, Effect.succeed(view))
  }

  /** A read-only view of a commit, tag or branch. */
  async at(ref: string, options?: SignalOptions): Promise<AsyncView> {
    const view = await this.call((store) => store.at(ref), options)
    return new AsyncView(this.runner, Effect.succeed(view))
  }

  /** The store on another branch. Closing this store closes the other one, but not the reverse. */
  async onBranch(branch: string): Promise<AsyncStore> {
    const service = await this.call((store) => Effect.sync(() => store.onBranch(branch)))
    return AsyncStore.of(this.runner.child(), service)
  }

  /** The documents that differ between two branches, tags or commits, by collection and id. */
  compare(
    a: string,
    b: string,
    options?: PromiseOptions<CompareOptions>
  ): AsyncIterable<AsyncDocumentDifference> {
    return this.runner.iterate(
      Effect.map(this.store, (store) =>
        differencesOf(this.runner, store.compare(a, b, effectOptions(options)))
      ),
      signalOptions(options)
    )
  }

  /**
   * Merges a branch, a tag or a commit into a branch. `onConflict` may be an async function: see `Store.merge` of the
   * Effect API.
   */
  async merge(from: string, options?: PromiseOptions<AsyncMergeOptions>): Promise<AsyncMerged> {
    return mergedOf(await this.call((store) => store.merge(from, mergeOptionsOf(options)), options))
  }

  /**
   * Writes on a separate branch and proposes it. If the edits throw or write nothing, there is no proposal.
   *
   * @since 0.1.0
   */
  async propose<A>(
    edits: (draft: AsyncDraft) => PromiseLike<A> | A,
    options: PromiseOptions<ProposeOptions>
  ): Promise<Proposed<A>> {
    requireBody("Store.propose", edits)
    return this.call((store) => store.propose(effectOptions(options), draftBody(this.runner, edits)), options)
  }

  /**
   * One proposal. It is looked up by the calls of its methods.
   *
   * @since 0.1.0
   */
  proposal(id: string): AsyncProposal {
    return new AsyncProposal(
      this.runner,
      Effect.flatMap(this.store, (store) =>
        Effect.try({ try: () => store.proposal(id), catch: (error) => error as ValidationError })
      )
    )
  }

  /** Runs the body until its first commit and returns that commit without making it; null if nothing would be written. */
  async preview<A>(
    body: (store: AsyncStore) => Promise<A> | A,
    options?: SignalOptions
  ): Promise<NewCommit | null> {
    requireBody("Store.preview", body)
    const commit = await this.call(
      (store) =>
        store.preview((dry) => runCallback(() => this.during(AsyncStore.of(this.runner.child(), dry), body))),
      options
    )
    return Option.getOrNull(commit)
  }

  /** Removes a path of the repository, or everything, from the cache: the next read asks the remote. */
  async invalidate(path?: string): Promise<void> {
    return this.call((store) => store.invalidate(path))
  }

  /** The number of requests that an operation will send to the remote; 0 for a repository on this machine. */
  estimate(operation: Estimate): Promise<number> {
    return this.call((store) => Effect.sync(() => store.estimate(operation)))
  }

  /** `doctor` with options. */
  doctorWith(options: PromiseOptions<DoctorOptions>): Promise<ReadonlyArray<Finding>> {
    return this.call((store) => store.doctorWith(effectOptions(options)), options)
  }

  /**
   * Ends all open calls and releases the resources. Open writers are flushed; if a flush fails, the promise rejects and
   * `unwritten` names the operations. Open transactions are rolled back, open batches are discarded, and pending calls
   * reject. Further calls have no effect.
   */
  close(): Promise<void> {
    return this.runner.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
