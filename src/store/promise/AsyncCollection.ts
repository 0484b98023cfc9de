import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Json, JsonObject, StoredDocument } from "../../domain/Document.js"
import type { Page } from "../../domain/Page.js"
import type { ValidationError } from "../../domain/StoreError.js"
import type {
  Collection,
  CollectionReader,
  Explanation,
  GuardedWriteOptions,
  HistoryEntry,
  ListOptions,
  ReadManyOptions,
  ReindexProgress,
  RestoreOptions,
  Version,
  WriteOptions
} from "../Collection.js"
import type { StoreService, StoreView } from "../Store.js"
import type { ExcelOptions, ExportProgress, TextFormat, TextOptions } from "../transfer/Export.js"
import type { ImportOptions, ImportReport, ImportRow } from "../transfer/Import.js"
import type { RecordSource } from "../transfer/Records.js"
import { own, type SignalOptions, signalIn, told } from "./Options.js"
import type { Runner } from "./Runner.js"

/** The options of an export, with a plain function to be told how far it is. */
export type Told<Options> = Omit<Options, "onProgress"> & {
  readonly onProgress?: ((progress: ExportProgress) => PromiseLike<void> | void) | undefined
}

/** What a stored document that no longer fits the schema does to a read of many, with a plain function to be told of it. */
export type AsyncReadManyOptions = Omit<ReadManyOptions, "onInvalid"> &
  SignalOptions & {
    readonly onInvalid?:
      | "fail"
      | "skip"
      | ((id: string, error: ValidationError) => PromiseLike<void> | void)
      | undefined
  }

const manyOptions = (options: AsyncReadManyOptions | undefined): ReadManyOptions | undefined =>
  told(options, "onInvalid")

/** A collection of a view: what can be read of it. */
export class AsyncCollectionReader<A = StoredDocument> {
  constructor(
    readonly name: string,
    protected readonly runner: Runner,
    /** @internal */
    protected readonly view: Effect.Effect<StoreView, ValidationError>,
    protected readonly schema?: Schema.Schema<any, any>
  ) {}

  protected reading<B, E>(use: (collection: CollectionReader<A>) => Effect.Effect<B, E>) {
    return Effect.flatMap(this.view, (view) => use(open(view, this.name, this.schema) as CollectionReader<A>))
  }

  /** The document, or null. `fresh` passes every cache by. */
  get(id: string, options?: SignalOptions & { readonly fresh?: boolean | undefined }): Promise<A | null> {
    return this.runner.runNullable(
      this.reading((collection) => collection.get(id, own(options))),
      signalIn(options)
    )
  }

  /** The document with its revision, its blob id and the commit that was looked at; null when there is none. */
  version(id: string, options?: SignalOptions): Promise<Version<A> | null> {
    return this.runner.runNullable(
      this.reading((collection) => collection.version(id)),
      options
    )
  }

  exists(id: string, options?: SignalOptions): Promise<boolean> {
    return this.runner.run(
      this.reading((collection) => collection.exists(id)),
      options
    )
  }

  /** Ids, sorted by Unicode code point. */
  list(options?: ListOptions & SignalOptions): Promise<ReadonlyArray<string>> {
    return this.runner.run(
      this.reading((collection) => collection.list(own(options))),
      signalIn(options)
    )
  }

  count(options?: SignalOptions): Promise<number> {
    return this.runner.run(
      this.reading((collection) => collection.count),
      options
    )
  }

  /** Every document of one commit, for `for await`, in constant memory. */
  all(options?: AsyncReadManyOptions): AsyncIterable<A> {
    return this.runner.iterate(
      this.reading((collection) => Effect.succeed(collection.all(manyOptions(options)))),
      signalIn(options)
    )
  }

  find(predicate: (document: A) => boolean, options?: AsyncReadManyOptions): AsyncIterable<A> {
    return this.runner.iterate(
      this.reading((collection) => Effect.succeed(collection.find(predicate, manyOptions(options)))),
      signalIn(options)
    )
  }

  findBy(field: string, value: Json, options?: AsyncReadManyOptions): Promise<ReadonlyArray<A>> {
    return this.runner.run(
      this.reading((collection) => collection.findBy(field, value, manyOptions(options))),
      signalIn(options)
    )
  }

  page(options?: AsyncReadManyOptions): Promise<Page<A>> {
    return this.runner.run(
      this.reading((collection) => collection.page(manyOptions(options))),
      signalIn(options)
    )
  }

  pages(
    options?: SignalOptions & { readonly size?: number | undefined; readonly after?: string | undefined }
  ): AsyncIterable<Page<A>> {
    return this.runner.iterate(
      this.reading((collection) => Effect.succeed(collection.pages(own(options)))),
      signalIn(options)
    )
  }

  history(
    id: string,
    options?: SignalOptions & { readonly limit?: number | undefined }
  ): Promise<ReadonlyArray<HistoryEntry>> {
    return this.runner.run(
      this.reading((collection) => collection.history(id, own(options))),
      signalIn(options)
    )
  }

  explain(field: string, value: Json, options?: SignalOptions): Promise<Explanation> {
    return this.runner.run(
      this.reading((collection) => collection.explain(field, value)),
      options
    )
  }

  /** Writes the collection to an .xlsx workbook: a file's path (on Node) or a web stream. Answers the columns. */
  async exportExcel(
    destination: string | WritableStream<Uint8Array>,
    options?: Told<ExcelOptions> & SignalOptions
  ): Promise<ReadonlyArray<string>> {
    const { withFilesFor } = await import("./Files.js")
    return this.runner.run(
      this.reading((collection) =>
        withFilesFor(destination, collection.exportExcel(destination, told(options, "onProgress")))
      ),
      signalIn(options)
    )
  }

  /** Writes the collection as CSV, NDJSON or JSON. Answers the number of documents. */
  async exportText(
    destination: string | WritableStream<Uint8Array>,
    format: TextFormat,
    options?: Told<TextOptions> & SignalOptions
  ): Promise<number> {
    const { withFilesFor } = await import("./Files.js")
    return this.runner.run(
      this.reading((collection) =>
        withFilesFor(destination, collection.exportText(destination, format, told(options, "onProgress")))
      ),
      signalIn(options)
    )
  }
}

const open = (view: StoreView, name: string, schema: Schema.Schema<any, any> | undefined) =>
  schema === undefined ? view.collection(name) : view.collection(name, schema)

/** A collection of documents, as promises. Every write is one commit. */
export class AsyncCollection<A = StoredDocument, I = JsonObject> extends AsyncCollectionReader<A> {
  constructor(
    name: string,
    runner: Runner,
    private readonly store: Effect.Effect<StoreService, ValidationError>,
    schema?: Schema.Schema<any, any>
  ) {
    super(name, runner, store, schema)
  }

  private writing<B, E>(use: (collection: Collection<A, I>) => Effect.Effect<B, E>) {
    return Effect.flatMap(this.store, (store) =>
      use(open(store, this.name, this.schema) as unknown as Collection<A, I>)
    )
  }

  /** Answers the id, generated when not given; an existing one is a `ConflictError`. */
  insert(
    document: I,
    options?: WriteOptions & SignalOptions & { readonly id?: string | undefined }
  ): Promise<string> {
    return this.runner.run(
      this.writing((collection) => collection.insert(document, own(options))),
      signalIn(options)
    )
  }

  /** Merges the patch at the top level; answers the new document. */
  update(id: string, patch: Partial<I>, options?: GuardedWriteOptions & SignalOptions): Promise<A> {
    return this.runner.run(
      this.writing((collection) => collection.update(id, patch, own(options))),
      signalIn(options)
    )
  }

  replace(id: string, document: I, options?: GuardedWriteOptions & SignalOptions): Promise<A> {
    return this.runner.run(
      this.writing((collection) => collection.replace(id, document, own(options))),
      signalIn(options)
    )
  }

  upsert(id: string, document: I, options?: GuardedWriteOptions & SignalOptions): Promise<A> {
    return this.runner.run(
      this.writing((collection) => collection.upsert(id, document, own(options))),
      signalIn(options)
    )
  }

  delete(id: string, options?: GuardedWriteOptions & SignalOptions): Promise<void> {
    return this.runner.run(
      this.writing((collection) => collection.delete(id, own(options))),
      signalIn(options)
    )
  }

  /** Brings an earlier version back as a new commit. */
  restore(id: string, commitSha: string, options?: RestoreOptions & SignalOptions): Promise<A> {
    return this.runner.run(
      this.writing((collection) => collection.restore(id, commitSha, own(options))),
      signalIn(options)
    )
  }

  /** Rebuilds index and manifest files; the commit's id, null when nothing changed. */
  reindex(
    options?: WriteOptions &
      SignalOptions & {
        readonly onProgress?: ((progress: ReindexProgress) => PromiseLike<void> | void) | undefined
      }
  ): Promise<string | null> {
    return this.runner.runNullable(
      this.writing((collection) => collection.reindex(told(options, "onProgress"))),
      signalIn(options)
    )
  }

  /** Imports records, a commit per chunk; see `Collection.importRecords`. */
  importRecords(
    records: RecordSource<unknown>,
    options?: Omit<ImportOptions, "onProgress" | "onRow"> &
      SignalOptions & {
        readonly onProgress?: ((report: ImportReport) => PromiseLike<void> | void) | undefined
        readonly onRow?: ((row: ImportRow) => PromiseLike<void> | void) | undefined
      }
  ): Promise<ImportReport> {
    return this.runner.run(
      this.writing((collection) => collection.importRecords(records, told(options, "onProgress", "onRow"))),
      signalIn(options)
    )
  }
}
