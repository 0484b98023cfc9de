import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { DocumentMetadata, StoredDocument } from "../domain/document/Document.js"
import type { Page } from "../domain/document/Page.js"
import type { ReadError, WriteError } from "../domain/errors/StoreError.js"
import type { IndexOptions } from "../domain/indexes/IndexDefinition.js"
import type { JsonObject } from "../domain/json/Json.js"
import type { DocumentMerge, MergeRules } from "../domain/merge/MergeRules.js"
import type { PathOf, Selected, ValueAt } from "../domain/query/Paths.js"
import type { Query, SelectQuery, Where } from "../domain/query/Query.js"
import {
  type CollectionDefinition,
  type DocumentSchema,
  define,
  type InsertOf,
  type NamedSchema,
  type SchemaOf
} from "./CollectionDefinition.js"
import type { CollectionEstimate, EstimateOptions } from "./CollectionEstimate.js"
import type { OnInvalid } from "./OnInvalid.js"
import type { Destination } from "./transfer/Destination.js"
import type { ExcelOptions, Exported, TextFormat, TextOptions } from "./transfer/Export.js"
import type { ImportOptions, ImportReport } from "./transfer/Import.js"
import type { RecordSource } from "./transfer/RecordSource.js"
import type { SourceError } from "./transfer/SourceError.js"

export type { OnInvalid, Page, PathOf, Query, ReadError, Selected, SelectQuery, ValueAt, Where, WriteError }

/**
 * The range of a list.
 *
 * @since 0.1.0
 * @category options
 */
export interface ListOptions {
  /** The most items; at least 1. */
  readonly limit?: number | undefined
  /** Only ids after this one, by Unicode code point. */
  readonly after?: string | undefined
}

/**
 * Options of reads that return many documents.
 *
 * @since 0.1.0
 * @category options
 */
export interface ReadManyOptions extends ListOptions {
  /** What happens to a document that does not match the schema. Default: the read fails with `ValidationError`. */
  readonly onInvalid?: OnInvalid | undefined
}

/**
 * Options that every write takes.
 *
 * @since 0.1.0
 * @category options
 */
export interface WriteOptions {
  /** The message of the commit. Default: the operation and the document, such as `update people/ada`. */
  readonly message?: string | undefined
}

/**
 * How many documents a rebuild of index and manifest files has read. It starts again if the branch moves.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReindexProgress {
  /** The collection that is being read. */
  readonly collection: string
  /** Documents read so far. */
  readonly documents: number
  /** Documents in the collection. */
  readonly total: number
}

/**
 * Options of `collection.reindex` and `collection.createIndex`.
 *
 * @since 0.1.0
 * @category options
 */
export interface ReindexOptions extends WriteOptions {
  /** Called as documents are read. */
  readonly onProgress?: ((progress: ReindexProgress) => Effect.Effect<void>) | undefined
}

/**
 * Options of `collection.writeJsonSchema`.
 *
 * @since 0.1.0
 * @category options
 */
export interface JsonSchemaOptions extends WriteOptions {
  /** An Effect Schema, or a JSON Schema. Default: the schema with which the collection was opened. */
  readonly schema?: Schema.Schema.All | JsonObject | undefined
}

/**
 * Options of a write that may require a revision.
 *
 * @since 0.1.0
 * @category options
 */
export interface GuardedWriteOptions extends WriteOptions {
  /** Fails with `ConflictError` unless the stored `_rev`, at the commit on which the write is based, equals this. */
  readonly expectedRev?: number | undefined
}

/**
 * The version of a document on which a write is based: its revision, its blob id, or the result of `version(id)`. A
 * revision is searched in the history of the branch, and must belong to a single version; the others identify the
 * version.
 *
 * @since 0.1.0
 * @category merging
 */
export type MergeBase =
  | number
  | string
  | { readonly sha: string; readonly commit?: string | undefined; readonly rev?: number | undefined }

/**
 * Resolves a write that could not be merged: returns the document to write instead, in its stored form, or undefined
 * for the `ConflictError`. It is called again if the stored document changes meanwhile.
 *
 * @since 0.1.0
 * @category merging
 */
export type ConflictResolver = (
  merge: DocumentMerge
) => JsonObject | undefined | Effect.Effect<JsonObject | undefined>

/**
 * Options of a write that may be based on an older version than the stored one.
 *
 * @since 0.1.0
 * @category merging
 */
export interface MergingWriteOptions extends GuardedWriteOptions {
  /**
   * The version on which the write is based. If another one is stored, the changes of both are merged; conflicts fail
   * with a `ConflictError` with `merge`. Excludes `expectedRev`.
   */
  readonly base?: MergeBase | undefined
  /**
   * What happens if the stored document differs from `base`: `merge` (default); `fail`, a `ConflictError` with `merge`;
   * or a function that resolves conflicts.
   */
  readonly onConflict?: "fail" | "merge" | ConflictResolver | undefined
  /** Merge rules. They take precedence over those of the definition and the annotations of the schema. */
  readonly rules?: MergeRules | undefined
}

/**
 * Options of `edit`.
 *
 * @since 0.1.0
 * @category merging
 */
export interface EditOptions extends WriteOptions {
  /** See `MergingWriteOptions`. */
  readonly rules?: MergeRules | undefined
}

/**
 * Options of `collection.restore`.
 *
 * @since 0.1.0
 * @category options
 */
export interface RestoreOptions extends WriteOptions {
  /** See `GuardedWriteOptions`; null requires that the document does not exist. */
  readonly expectedRev?: number | null | undefined
}

/**
 * A document at one commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Version<A = StoredDocument> {
  /** The document as reads of the collection return it. */
  readonly document: A
  /** Its `_rev`. */
  readonly rev: number
  /** The id of the file's blob, which `Batch.expect` takes and which identifies the content. */
  readonly sha: string
  /** The commit in which it was read. */
  readonly commit: string
}

/**
 * One commit of a document's history, newest first.
 *
 * @since 0.1.0
 * @category models
 */
export interface HistoryEntry {
  /** The commit, 40 hexadecimal digits; `collection.restore` and `store.at` take it. */
  readonly sha: string
  /** The commit's message, without the mark of the store. */
  readonly message: string
  /** The name of the commit's author. */
  readonly author: string
  /** The author's date, in ISO 8601. */
  readonly date: string
  /** The commit's page, if the remote has one. */
  readonly url?: string | undefined
}

/**
 * How a query is executed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Explanation {
  /** Whether an index is read or the whole collection. */
  readonly source: "index" | "scan"
  /** The reason, as a text. */
  readonly reason: string
  /** The path of the index in the repository; undefined if there is none. */
  readonly index?: string | undefined
  /** False if another program changed documents without updating the index. */
  readonly current: boolean
  /** The number of requests; 0 for a local repository. */
  readonly requests: number
}

/**
 * How much a query reads.
 *
 * @since 0.1.0
 * @category queries
 */
export interface QueryReads {
  /** Rows of an index or a manifest. */
  readonly entries: number
  /** Documents read. */
  readonly documents: number
}

/**
 * How a query is executed, and what it reads.
 *
 * @since 0.1.0
 * @category queries
 */
export interface QueryExplanation {
  /** Whether the query reads an index, the manifest or the whole collection. */
  readonly source: "index" | "manifest" | "scan"
  /** The reason, as a text. */
  readonly reason: string
  /** The path of the index or the manifest. */
  readonly index?: string | undefined
  /** The number of ranges of the index that are read. */
  readonly ranges?: number | undefined
  /** The number of fields of the index that the query restricts. */
  readonly restricted?: number | undefined
  /**
   * Whether the index provides the order of the query, so that reading ends at the limit; otherwise the documents are
   * sorted.
   */
  readonly ordered: boolean
  /** False if another program changed documents without updating the index. */
  readonly current: boolean
  /** The estimated reads without the limit, by the sizes of collection and index. */
  readonly estimated: QueryReads
  /** What one page of the query has read; zeros if it was not run. */
  readonly read: QueryReads
}

/**
 * A page of a query, with its explanation.
 *
 * @since 0.1.0
 * @category queries
 */
export interface ExplainedPage<A> extends Page<A> {
  /** What `explainQuery` returns, for this page. */
  readonly explanation: QueryExplanation
}

/**
 * Options of queries beside the query itself.
 *
 * @since 0.1.0
 * @category queries
 */
export interface QueryOptions {
  /** What happens to a document that does not match the schema. Default: the query fails with `ValidationError`. */
  readonly onInvalid?: OnInvalid | undefined
}

/**
 * A query for whole documents or, with `select`, for some of their fields.
 *
 * @since 0.1.0
 * @category queries
 */
export interface StreamQuery<E, S = undefined> extends Query<E>, QueryOptions {
  /** The paths that results contain, in addition to `_id`. Default: whole documents. */
  readonly select?: S
}

/**
 * The same for a page, which can explain itself.
 *
 * @since 0.1.0
 * @category queries
 */
export interface PageQuery<E, S = undefined, X = undefined> extends StreamQuery<E, S> {
  /** Whether the page has an `explanation`. Default: no. */
  readonly explain?: X
}

/**
 * The result for one document: what reads return, or the selected fields.
 *
 * @since 0.1.0
 * @category type-level
 */
export type QueryResult<A, E, S> = S extends ReadonlyArray<infer P extends string> ? Selected<E, P> : A

/**
 * A page of a query, with its explanation if requested.
 *
 * @since 0.1.0
 * @category type-level
 */
export type QueryPage<A, X> = X extends true ? ExplainedPage<A> : Page<A>

/**
 * The requirements of a query: those of the schema, or none if fields are selected, because these are not decoded.
 *
 * @since 0.1.0
 * @category type-level
 */
export type QueryContext<R, S> = S extends ReadonlyArray<string> ? never : R

/**
 * Exports of a collection, at one commit and in constant memory. Documents are exported as their files contain them.
 *
 * @since 0.1.0
 * @category models
 */
export interface CollectionExports {
  /** Writes the collection as an Excel workbook with one sheet; returns the columns. */
  readonly exportExcel: <D extends Destination<unknown, unknown>>(
    destination: D,
    options?: ExcelOptions
  ) => Exported<D, ReadonlyArray<string>>
  /** Writes the collection as CSV, NDJSON or JSON; returns the number of documents. */
  readonly exportText: <D extends Destination<unknown, unknown>>(
    destination: D,
    format: TextFormat,
    options?: TextOptions
  ) => Exported<D, number>
}

/**
 * A field of a stored document.
 *
 * @since 0.1.0
 * @category type-level
 */
export type FieldOf<E> = (E extends unknown ? Extract<keyof E, string> : never) | keyof DocumentMetadata

type Element<V> = V extends ReadonlyArray<infer One> ? One : never

/**
 * The type of values that `findBy` takes for a field: its type, or that of its elements if it is a list.
 *
 * @since 0.1.0
 * @category type-level
 */
export type ValueOf<E, F> = E extends unknown
  ? F extends keyof E
    ? Exclude<E[F], undefined> | Element<E[F]>
    : F extends keyof DocumentMetadata
      ? DocumentMetadata[F]
      : never
  : never

/**
 * The reads of a collection, which views have too. `A` is the document as the caller sees it, including metadata; `E`
 * is the JSON in its file, to which queries refer; `R` is what the schema requires.
 *
 * @since 0.1.0
 * @category models
 */
export interface CollectionReader<A = StoredDocument, E = JsonObject, R = never> extends CollectionExports {
  /** The collection's name, which is its directory below the root. */
  readonly name: string
  /** The document, none if there is none. `fresh` reads it without any cache. */
  readonly get: (
    id: string,
    options?: { readonly fresh?: boolean | undefined }
  ) => Effect.Effect<Option.Option<A>, ReadError, R>
  /** The document with its revision, the blob id of its file, and the commit at which it was read. */
  readonly version: (id: string) => Effect.Effect<Option.Option<Version<A>>, ReadError, R>
  /** Whether the document exists; its content is not read. */
  readonly exists: (id: string) => Effect.Effect<boolean, ReadError>
  /** Ids, sorted by Unicode code point. */
  readonly list: (options?: ListOptions) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /** The number of documents, without reading them. */
  readonly count: Effect.Effect<number, ReadError>
  /**
   * The JSON Schema of the collection that is stored in `_schemas`; none if there is none. Fails with `ValidationError`
   * if the file is not a JSON Schema.
   */
  readonly jsonSchema: Effect.Effect<Option.Option<JsonObject>, ReadError>
  /** All documents at the head at which the stream started, in order of id, in constant memory. */
  readonly all: (options?: ReadManyOptions) => Stream.Stream<A, ReadError, R>
  /** The documents that a predicate accepts, in order of id, in constant memory. Reads all documents of one commit. */
  readonly find: (
    predicate: (document: A) => boolean,
    options?: ReadManyOptions
  ) => Stream.Stream<A, ReadError, R>
  /**
   * The documents in which a field equals the value (by JSON type and content), or is a list that contains it; in order
   * of id.
   */
  readonly findBy: <F extends FieldOf<E> & string>(
    field: F,
    value: ValueOf<E, F>,
    options?: ReadManyOptions
  ) => Effect.Effect<ReadonlyArray<A>, ReadError, R>
  /**
   * A page of documents in order of id (100 unless `limit` is given), and the cursor for the `after` of the next page.
   */
  readonly page: (options?: ReadManyOptions) => Effect.Effect<Page<A>, ReadError, R>
  /** All pages at the head at which the stream started. */
  readonly pages: (options?: {
    readonly size?: number | undefined
    readonly after?: string | undefined
  }) => Stream.Stream<Page<A>, ReadError, R>
  /**
   * The commits that changed the document, newest first, at most `limit` (default 30); empty if the document never
   * existed.
   */
  readonly history: (
    id: string,
    options?: { readonly limit?: number | undefined }
  ) => Effect.Effect<ReadonlyArray<HistoryEntry>, ReadError>
  /** How `findBy` with this field and value is executed, and its cost; the documents are not read. */
  readonly explain: <F extends FieldOf<E> & string>(
    field: F,
    value: ValueOf<E, F>
  ) => Effect.Effect<Explanation, ReadError>
  /**
   * A page of the documents that satisfy a condition, in an order; 100 unless `limit` is given. With `select`: some
   * fields of each, as its file contains them. Indexes change the speed, never the result. With `explain` the page has
   * an `explanation`: what `explainQuery` returns, for this page.
   *
   * @example
   * ```ts
   * const page = yield* people.query({ where: { city: "London", age: { atLeast: 30 } }, orderBy: "name", limit: 20 })
   * const names = yield* people.query({ select: ["name"] })
   * ```
   */
  readonly query: <
    const S extends ReadonlyArray<PathOf<E>> | undefined = undefined,
    const X extends boolean | undefined = undefined
  >(
    query?: PageQuery<E, S, X>
  ) => Effect.Effect<QueryPage<QueryResult<A, E, S>, X>, ReadError, QueryContext<R, S>>
  /** The same as a stream: all documents of one commit, unless `limit` is given. */
  readonly queryAll: <const S extends ReadonlyArray<PathOf<E>> | undefined = undefined>(
    query?: StreamQuery<E, S>
  ) => Stream.Stream<QueryResult<A, E, S>, ReadError, QueryContext<R, S>>
  /** How a query is executed, and what one page of it reads. The query is run, unless `run` is false. */
  readonly explainQuery: (
    query: Query<E> & { readonly select?: ReadonlyArray<PathOf<E>> | undefined },
    options?: { readonly run?: boolean | undefined }
  ) => Effect.Effect<QueryExplanation, ReadError>
  /** The number of documents that satisfy a condition. With an index of all its fields no documents are read. */
  readonly countWhere: (where: Where<E>) => Effect.Effect<number, ReadError>
  /**
   * The distinct values of a field in order; the elements of lists count as values. With an index or a manifest of the
   * field no documents are read.
   */
  readonly distinct: <P extends PathOf<E>>(
    path: P
  ) => Effect.Effect<ReadonlyArray<ElementOf<ValueAt<E, P>>>, ReadError>
}

/**
 * A value, or the elements of a list.
 *
 * @since 0.1.0
 * @category queries
 */
export type ElementOf<V> = V extends ReadonlyArray<infer Element> ? Element : V

/**
 * A collection of documents. `E` is the JSON in a file, `I` is what a caller writes (without metadata), `A` what a caller reads back.
 * Every write is one commit, atomic with the collection's indexes and manifest.
 *
 * @since 0.1.0
 * @category models
 */
export interface Collection<A = StoredDocument, I = JsonObject, E = JsonObject, R = never>
  extends CollectionReader<A, E, R> {
  /** Inserts a document and returns its id, which is generated if not given. An existing id is a `ConflictError`. */
  readonly insert: (
    document: I,
    options?: WriteOptions & { readonly id?: string | undefined }
  ) => Effect.Effect<string, WriteError, R>
  /**
   * Merges the patch at the top level of an existing document.
   *
   * @example
   * ```ts
   * const seen = yield* people.version("ada")
   * yield* people.update("ada", { city: "Paris" }, { base: Option.getOrThrow(seen) })
   * ```
   */
  readonly update: (
    id: string,
    patch: Partial<I>,
    options?: MergingWriteOptions
  ) => Effect.Effect<A, WriteError, R>
  /** Replaces the content of an existing document. Fails with `NotFoundError` if it does not exist. */
  readonly replace: (
    id: string,
    document: I,
    options?: MergingWriteOptions
  ) => Effect.Effect<A, WriteError, R>
  /**
   * Reads a document, applies a function and writes the result. If the document changed meanwhile, changes of other
   * fields are merged; if both changed one field, the function is applied again to the stored document, until the
   * store's deadline.
   *
   * @example
   * ```ts
   * yield* people.edit("ada", (person) => ({ ...person, visits: person.visits + 1 }))
   * ```
   */
  readonly edit: <E2 = never, R2 = never>(
    id: string,
    next: (document: A) => I | Effect.Effect<I, E2, R2>,
    options?: EditOptions
  ) => Effect.Effect<A, WriteError | E2, R | R2>
  /** Updates an existing document, inserts a missing one. */
  readonly upsert: (id: string, document: I, options?: GuardedWriteOptions) => Effect.Effect<A, WriteError, R>
  /** Deletes an existing document. Fails with `NotFoundError` if it does not exist. */
  readonly delete: (id: string, options?: GuardedWriteOptions) => Effect.Effect<void, WriteError>
  /** Restores the version of the document at a commit, in a new commit. */
  readonly restore: (
    id: string,
    commitSha: string,
    options?: RestoreOptions
  ) => Effect.Effect<A, WriteError, R>
  /**
   * Imports records, each as a whole document, with one commit per chunk and in constant memory: see `importRecords` of
   * `transfer/Import.ts`. For a collection with a schema a record must be an encoded document.
   *
   * @example
   * ```ts
   * const report = yield* people.importRecords(fromCsv("_id,name\nada,Ada\n"), { chunkSize: 500 })
   * ```
   */
  readonly importRecords: <E2 = never, R2 = never>(
    records: RecordSource<E2, R2>,
    options?: ImportOptions
  ) => Effect.Effect<ImportReport, WriteError | SourceError | E2, R | R2>
  /** Rebuilds index and manifest files from the documents. Returns the commit; none if nothing changed. */
  readonly reindex: (options?: ReindexOptions) => Effect.Effect<Option.Option<string>, WriteError>
  /**
   * Adds an index to the recorded settings and builds it from the documents, in one commit; every client adopts it. A
   * text is short for an index of the field with that name. Returns the commit; none if the same index is recorded
   * already. Fails with `ValidationError` if an index of the name has another definition, if the format does not support
   * it, if the store was opened with the option `indexes`, and in a transaction; with `ConflictError` if documents
   * violate a unique index. Nothing is written then.
   *
   * @example
   * ```ts
   * const commit = yield* people.createIndex({ fields: ["mail"], unique: true })
   * ```
   */
  readonly createIndex: (
    index: string | IndexOptions,
    options?: ReindexOptions
  ) => Effect.Effect<Option.Option<string>, WriteError>
  /**
   * Removes an index from the recorded settings, with its files, in one commit, and returns the commit. Fails with
   * `NotFoundError` if there is no index of the name; otherwise see `createIndex`.
   */
  readonly dropIndex: (name: string, options?: WriteOptions) => Effect.Effect<string, WriteError>
  /**
   * Stores a JSON Schema of the documents' files in `_schemas`. Forms are made from it; it does not refuse documents.
   * Returns the commit; none if the same schema is stored already. Fails with `ValidationError` if the schema has no
   * JSON Schema, is not valid, or is too large, and in a transaction.
   *
   * @example
   * ```ts
   * const commit = yield* people.writeJsonSchema()
   * ```
   */
  readonly writeJsonSchema: (options?: JsonSchemaOptions) => Effect.Effect<Option.Option<string>, WriteError>
  /**
   * The cost of one insert with the current settings and with those that are recommended for the collection's size, or
   * for a given size; and which settings should be changed. Nothing is written.
   *
   * @example
   * ```ts
   * const { advice, recommended } = yield* people.estimate({ documents: 1_000_000, indexes: 1 })
   * // { format: 2, shardBy: "hash", shardDepth: 2, shardWidth: 2, insert: { files: 3, bytes: 34000, requests: 1 } }
   * ```
   */
  readonly estimate: (options?: EstimateOptions) => Effect.Effect<CollectionEstimate, ReadError>
}

/**
 * A document of a schema as readers see it: the decoded value with the store's metadata.
 *
 * @since 0.1.0
 * @category type-level
 */
export type Typed<A> = A & Pick<StoredDocument, "_id" | "_rev" | "_created_at" | "_updated_at">

type OfSchema<S> = S extends DocumentSchema
  ? Collection<Typed<Schema.Schema.Type<S>>, InsertOf<S>, Schema.Schema.Encoded<S>, Schema.Schema.Context<S>>
  : Collection

type ReaderOfSchema<S> = S extends DocumentSchema
  ? CollectionReader<Typed<Schema.Schema.Type<S>>, Schema.Schema.Encoded<S>, Schema.Schema.Context<S>>
  : CollectionReader

/**
 * A collection of a definition; of a name, a collection of the schema `S` or of any JSON.
 *
 * @since 0.1.0
 * @category type-level
 */
export type CollectionOf<D, S = undefined> = OfSchema<SchemaOf<D, S>>

/**
 * The reads of such a collection.
 *
 * @since 0.1.0
 * @category type-level
 */
export type CollectionReaderOf<D, S = undefined> = ReaderOfSchema<SchemaOf<D, S>>

/**
 * Opens a collection by its definition or by its name, for the values of a schema or for JSON documents.
 *
 * @since 0.1.0
 * @category models
 */
export type Collections = <
  C extends string | CollectionDefinition,
  S extends DocumentSchema | undefined = undefined
>(
  collection: C,
  schema?: NamedSchema<C, S>
) => CollectionOf<C, S>

/**
 * The same for reading.
 *
 * @since 0.1.0
 * @category models
 */
export type CollectionReaders = <
  C extends string | CollectionDefinition,
  S extends DocumentSchema | undefined = undefined
>(
  collection: C,
  schema?: NamedSchema<C, S>
) => CollectionReaderOf<C, S>

/**
 * Constructors of definitions.
 *
 * @since 0.1.0
 * @category constructors
 */
export const Collection: { readonly define: typeof define } = { define }
