import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import type {
  Collection,
  CollectionReader,
  EditOptions,
  ElementOf,
  PathOf,
  Query,
  QueryOptions,
  QueryPage,
  QueryResult,
  ReadManyOptions,
  Typed,
  ValueAt
} from "../Collection.js"
import type { CollectionDefinition, CollectionLike, InsertOf, SchemaOf } from "../CollectionDefinition.js"
import type { ExcelOptions, TextFormat, TextOptions } from "../transfer/Export.js"
import type { ImportOptions, ImportReport } from "../transfer/Import.js"
import { withErrorListener } from "../transfer/NodeStreamErrors.js"
import type { RecordSource } from "../transfer/RecordSource.js"
import { runCallback } from "./Callback.js"
import { type MethodRows, PromiseAdapter, type PromiseMethods, withPromiseMethods } from "./PromiseMethods.js"
import { effectOptions, type PromiseOptions, type SignalOptions, signalOptions } from "./PromiseOptions.js"
import type { PromiseRunner } from "./PromiseRunner.js"

/**
 * The options of a read of many documents; `onInvalid` may be a plain or an async function.
 *
 * @since 0.1.0
 * @category options
 */
export type AsyncReadManyOptions = PromiseOptions<ReadManyOptions>

/**
 * A query of whole documents or, with `select`, of some of their fields.
 *
 * @since 0.1.0
 * @category queries
 */
export interface AsyncStreamQuery<D, S = undefined> extends Query<D>, PromiseOptions<QueryOptions> {
  /** See `StreamQuery`. */
  readonly select?: S
}

/**
 * A query of one page, optionally with an explanation.
 *
 * @since 0.1.0
 * @category queries
 */
export interface AsyncPageQuery<D, S = undefined, X = undefined> extends AsyncStreamQuery<D, S> {
  /** See `PageQuery`. */
  readonly explain?: X
}

const reads = {
  get: ["nullable", 1, "options"],
  version: ["nullable", 1],
  exists: ["value", 1],
  list: ["value", 0, "options"],
  count: ["value", 0],
  jsonSchema: ["nullable", 0],
  all: ["stream", 0, "options"],
  find: ["stream", 1, "options"],
  findBy: ["value", 2, "options"],
  page: ["value", 0, "options"],
  pages: ["stream", 0, "options"],
  history: ["value", 1, "options"],
  explain: ["value", 2],
  explainQuery: ["value", 1, "options"],
  countWhere: ["value", 1]
} as const satisfies MethodRows<CollectionReader>

const Reads = withPromiseMethods(PromiseAdapter, reads) as new <A, D>(
  runner: PromiseRunner,
  target: Effect.Effect<CollectionReader<A, D>, ValidationError>
) => PromiseAdapter<CollectionReader<A, D>> & PromiseMethods<CollectionReader<A, D>, typeof reads>

/**
 * The reads of a collection as promises; null for an absent value.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncCollectionReader<A = StoredDocument, D = JsonObject> extends Reads<A, D> {
  constructor(
    /** The name of the collection, which is also its directory below the root. */
    readonly name: string,
    runner: PromiseRunner,
    target: Effect.Effect<CollectionReader<A, D>, ValidationError>
  ) {
    super(runner, target)
  }

  /** A page of the documents that match a query; see `CollectionReader.query`. */
  query<
    const S extends ReadonlyArray<PathOf<D>> | undefined = undefined,
    const X extends boolean | undefined = undefined
  >(query?: AsyncPageQuery<D, S, X>): Promise<QueryPage<QueryResult<A, D, S>, X>> {
    return this.run((collection) => collection.query<S, X>(effectOptions(query)), query)
  }

  /** All documents that match a query, at one commit; see `CollectionReader.queryAll`. */
  queryAll<const S extends ReadonlyArray<PathOf<D>> | undefined = undefined>(
    query?: AsyncStreamQuery<D, S>
  ): AsyncIterable<QueryResult<A, D, S>> {
    return this.runner.iterate(
      Effect.map(this.target, (collection) => collection.queryAll<S>(effectOptions(query))),
      signalOptions(query)
    )
  }

  /** The distinct values of a field, in order; see `CollectionReader.distinct`. */
  distinct<P extends PathOf<D>>(
    path: P,
    options?: SignalOptions
  ): Promise<ReadonlyArray<ElementOf<ValueAt<D, P>>>> {
    return this.run((collection) => collection.distinct(path), options)
  }

  /** Writes the collection to an .xlsx workbook at a file path (on Node) or to a web stream. Returns the columns. */
  async exportExcel(
    destination: string | WritableStream<Uint8Array>,
    options?: PromiseOptions<ExcelOptions>
  ): Promise<ReadonlyArray<string>> {
    const { provideFileSystem } = await import("./NodeFileSystem.js")
    return this.run(
      (collection) =>
        provideFileSystem(destination, collection.exportExcel(destination, effectOptions(options))),
      options
    )
  }

  /** Writes the collection as CSV, NDJSON or JSON. Returns the number of documents. */
  async exportText(
    destination: string | WritableStream<Uint8Array>,
    format: TextFormat,
    options?: PromiseOptions<TextOptions>
  ): Promise<number> {
    const { provideFileSystem } = await import("./NodeFileSystem.js")
    return this.run(
      (collection) =>
        provideFileSystem(destination, collection.exportText(destination, format, effectOptions(options))),
      options
    )
  }
}

const writes = {
  insert: ["value", 1, "options"],
  update: ["value", 2, "options"],
  replace: ["value", 2, "options"],
  upsert: ["value", 2, "options"],
  delete: ["value", 1, "options"],
  restore: ["value", 2, "options"],
  reindex: ["nullable", 0, "options"],
  createIndex: ["nullable", 1, "options"],
  dropIndex: ["value", 1, "options"],
  writeJsonSchema: ["nullable", 0, "options"],
  estimate: ["value", 0, "options"]
} as const satisfies MethodRows<Collection>

const Writes = withPromiseMethods(AsyncCollectionReader, writes) as new <A, I, D>(
  name: string,
  runner: PromiseRunner,
  target: Effect.Effect<Collection<A, I, D>, ValidationError>
) => AsyncCollectionReader<A, D> & PromiseMethods<Collection<A, I, D>, typeof writes>

/**
 * A collection of documents as promises. Every write is one commit.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncCollection<A = StoredDocument, I = JsonObject, D = JsonObject> extends Writes<A, I, D> {
  constructor(
    name: string,
    runner: PromiseRunner,
    private readonly collection: Effect.Effect<Collection<A, I, D>, ValidationError>
  ) {
    super(name, runner, collection)
  }

  /** Reads a document, applies a plain or async function, and writes the result; see `Collection.edit`. */
  edit(
    id: string,
    next: (document: A) => PromiseLike<I> | I,
    options?: PromiseOptions<EditOptions>
  ): Promise<A> {
    const apply = typeof next === "function" ? (document: A) => runCallback(() => next(document)) : next
    return this.run(
      (collection) => (collection as Collection<A, I, D>).edit(id, apply, effectOptions(options)),
      options
    )
  }

  /** Imports records with one commit per chunk; see `Collection.importRecords`. */
  importRecords(
    records: RecordSource<unknown>,
    options?: PromiseOptions<ImportOptions>
  ): Promise<ImportReport> {
    const kept = withErrorListener(records)
    return this.runner.run(
      Effect.flatMap(this.collection, (collection) => collection.importRecords(kept, effectOptions(options))),
      signalOptions(options)
    )
  }
}

/** A schema without requirements. */
export type PlainSchema = Schema.Schema<any, any>

/** The name of a collection, or a definition whose schema has no requirements. */
export type PlainCollectionLike = string | CollectionDefinition<string, PlainSchema>

type OfSchema<S> = S extends PlainSchema
  ? AsyncCollection<Typed<Schema.Schema.Type<S>>, InsertOf<S>, Schema.Schema.Encoded<S>>
  : AsyncCollection

type ReaderOfSchema<S> = S extends PlainSchema
  ? AsyncCollectionReader<Typed<Schema.Schema.Type<S>>, Schema.Schema.Encoded<S>>
  : AsyncCollectionReader

/** The collection of a name or definition and a schema; see `CollectionOf`. */
export type AsyncCollectionOf<C, S> = OfSchema<SchemaOf<C, S>>

/** The reader of a name or definition and a schema. */
export type AsyncCollectionReaderOf<C, S> = ReaderOfSchema<SchemaOf<C, S>>

interface CollectionOpener {
  readonly collection: (name: any, schema?: any) => unknown
}

/** Opens a collection of a view or store in each call, so that an invalid name or schema rejects the call. */
export const openCollection = <C>(
  opener: Effect.Effect<CollectionOpener, ValidationError>,
  name: CollectionLike,
  schema: Schema.Schema<any, any> | undefined
) => Effect.map(opener, (view) => view.collection(name, schema) as C)
