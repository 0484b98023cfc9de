import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { DocumentMetadata, StoredDocument } from "../domain/document/Document.js"
import type { Page } from "../domain/document/Page.js"
import type { ReadError, ValidationError, WriteError } from "../domain/errors/StoreError.js"
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
import type { Destination } from "./transfer/Destination.js"
import type { ExcelOptions, Exported, TextFormat, TextOptions } from "./transfer/Export.js"
import type { ImportOptions, ImportReport } from "./transfer/Import.js"
import type { RecordSource } from "./transfer/RecordSource.js"
import type { SourceError } from "./transfer/SourceError.js"

export type { Page, PathOf, Query, ReadError, Selected, SelectQuery, ValueAt, Where, WriteError }

/**
 * Which ids, or documents, a list begins and ends with.
 *
 * @since 0.1.0
 * @category options
 */
export interface ListOptions {
  /** At most this many; at least 1. */
  readonly limit?: number | undefined
  /** Only ids after this one, by Unicode code point. */
  readonly after?: string | undefined
}

/**
 * What a stored document that no longer fits the collection's schema does to a read of many.
 *
 * @since 0.1.0
 * @category models
 */
export type OnInvalid = "fail" | "skip" | ((id: string, error: ValidationError) => Effect.Effect<void>)

/**
 * Options of reads that return many documents.
 *
 * @since 0.1.0
 * @category options
 */
export interface ReadManyOptions extends ListOptions {
  /** What happens at a document that does not fit the schema. Default: the read fails with `ValidationError`. */
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
 * How many documents a rebuilding of index and manifest files has read; it begins anew when the branch moves.
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
 * Options of `collection.reindex`.
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
  /** A schema of Effect, or a JSON Schema. Default: the schema that the collection was opened with. */
  readonly schema?: Schema.Schema.All | JsonObject | undefined
}

/**
 * Options of a write that may name the revision it is based on.
 *
 * @since 0.1.0
 * @category options
 */
export interface GuardedWriteOptions extends WriteOptions {
  /** Fails with `ConflictError` unless the stored `_rev`, at the commit that the write is built on, equals this. */
  readonly expectedRev?: number | undefined
}

/**
 * A version of a document that a write is based on: its revision, its blob id, or what `version(id)` returned. A
 * revision must be found in the history of the branch, and only one version may have it; the others name the version
 * itself.
 *
 * @since 0.1.0
 * @category merging
 */
export type MergeBase =
  | number
  | string
  | { readonly sha: string; readonly commit?: string | undefined; readonly rev?: number | undefined }

/**
 * Decides about a write that could not be merged: the document to write instead, as it is stored, or undefined for the
 * `ConflictError`. It runs again where the stored document has changed again meanwhile.
 *
 * @since 0.1.0
 * @category merging
 */
export type ConflictResolver = (
  merge: DocumentMerge
) => JsonObject | undefined | Effect.Effect<JsonObject | undefined>

/**
 * Options of a write that may begin with an older version than the one that is stored.
 *
 * @since 0.1.0
 * @category merging
 */
export interface MergingWriteOptions extends GuardedWriteOptions {
  /**
   * The version that the write is based on. Where another one is stored by now, what both changed since is merged; what
   * cannot be merged is a `ConflictError` with its `merge`. Not together with `expectedRev`.
   */
  readonly base?: MergeBase | undefined
  /**
   * What a stored document that differs from `base` does: `merge`, which is the default; `fail`, a `ConflictError` with
   * its `merge`; or a function that is asked about what cannot be merged.
   */
  readonly onConflict?: "fail" | "merge" | ConflictResolver | undefined
  /** How documents are merged; goes before the rules of the definition and the annotations of the schema. */
  readonly rules?: MergeRules | undefined
}

/**
 * Options of `edit`.
 *
 * @since 0.1.0
 * @category merging
 */
export interface EditOptions extends WriteOptions {
  /** As of `MergingWriteOptions`. */
  readonly rules?: MergeRules | undefined
}

/**
 * Options of `collection.restore`.
 *
 * @since 0.1.0
 * @category options
 */
export interface RestoreOptions extends WriteOptions {
  /** As of `GuardedWriteOptions`; null: unless there is no such document. */
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
  /** The id of the file's blob, which `Batch.expect` takes: no two contents share one. */
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
  /** When it was committed, in ISO 8601. */
  readonly date: string
  /** The commit's page, where the remote gives one. */
  readonly url?: string | undefined
}

/**
 * How a query would be, or was, answered.
 *
 * @since 0.1.0
 * @category models
 */
export interface Explanation {
  /** Whether an index is read or the whole collection. */
  readonly source: "index" | "scan"
  /** Why, in words. */
  readonly reason: string
  /** The path of the index in the repository; absent where there is none. */
  readonly index?: string | undefined
  /** False when somebody else's commit left the index behind. */
  readonly current: boolean
  /** Requests that the remote takes for it; 0 on a repository of this machine. */
  readonly requests: number
}

/**
 * What a query reads.
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
 * How a query is answered, and what that took.
 *
 * @since 0.1.0
 * @category queries
 */
export interface QueryExplanation {
  /** Whether the query reads an index, the manifest or the whole collection. */
  readonly source: "index" | "manifest" | "scan"
  /** Why, in words. */
  readonly reason: string
  /** The path of the index or the manifest. */
  readonly index?: string | undefined
  /** How many ranges of the index are read, and how many of its fields they restrict. */
  readonly ranges?: number | undefined
  /** How many fields of the index the query restricts. */
  readonly restricted?: number | undefined
  /** Whether documents come in the order of the query, so that reading ends at its limit; otherwise they are sorted. */
  readonly ordered: boolean
  /** False when somebody else's commit left the index behind. */
  readonly current: boolean
  /** How much it takes without the limit, by the sizes of collection and index. */
  readonly estimated: QueryReads
  /** What one page of the query has read; nothing where it was not run. */
  readonly read: QueryReads
}

/**
 * A page of a query, and how it was found.
 *
 * @since 0.1.0
 * @category queries
 */
export interface ExplainedPage<A> extends Page<A> {
  /** What `explainQuery` returns, of this very page. */
  readonly explanation: QueryExplanation
}

/**
 * What a stored document that does not fit the schema does to a query that finds it.
 *
 * @since 0.1.0
 * @category queries
 */
export interface QueryOptions {
  /** What happens at a document that does not fit the schema. Default: the query fails with `ValidationError`. */
  readonly onInvalid?: OnInvalid | undefined
}

/**
 * A query of whole documents or, with `select`, of some of their fields.
 *
 * @since 0.1.0
 * @category queries
 */
export interface StreamQuery<E, S = undefined> extends Query<E>, QueryOptions {
  /** The paths that results have; the others are left out. `_id` is always there. Default: whole documents. */
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
 * What a query returns of a document: what reads return, or the selected fields.
 *
 * @since 0.1.0
 * @category type-level
 */
export type QueryResult<A, E, S> = S extends ReadonlyArray<infer P extends string> ? Selected<E, P> : A

/**
 * A page of a query, with its explanation where that was asked for.
 *
 * @since 0.1.0
 * @category type-level
 */
export type QueryPage<A, X> = X extends true ? ExplainedPage<A> : Page<A>

/**
 * What a query requires: what the schema does, and nothing where fields are selected, which are not decoded.
 *
 * @since 0.1.0
 * @category type-level
 */
export type QueryContext<R, S> = S extends ReadonlyArray<string> ? never : R

/**
 * Exports of a collection: from one commit, in constant memory, as documents lie in their files.
 *
 * @since 0.1.0
 * @category models
 */
export interface CollectionExports {
  /** Writes the collection as the one sheet of an Excel workbook; answers the columns. */
  readonly exportExcel: <D extends Destination<unknown, unknown>>(
    destination: D,
    options?: ExcelOptions
  ) => Exported<D, ReadonlyArray<string>>
  /** Writes the collection as CSV, NDJSON or JSON; answers the number of documents. */
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
 * What a field of a stored document may be looked for by: its value, or an element where that is a list.
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
 * Reads of a collection: what views have too. `A` is the document as the caller sees it, metadata included; `E` is the JSON
 * in its file, which queries are about, and `R` what the schema requires.
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
  /** The document with what tells its version: its revision, its file's blob id, and the commit that was looked at. */
  readonly version: (id: string) => Effect.Effect<Option.Option<Version<A>>, ReadError, R>
  /** Whether the document exists; its content is not read. */
  readonly exists: (id: string) => Effect.Effect<boolean, ReadError>
  /** Ids, sorted by Unicode code point. */
  readonly list: (options?: ListOptions) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /** How many documents there are, without reading them. */
  readonly count: Effect.Effect<number, ReadError>
  /**
   * The JSON Schema of the collection's documents that is stored in `_schemas`; none where none is. Fails with
   * `ValidationError` where the file is not a JSON Schema.
   */
  readonly jsonSchema: Effect.Effect<Option.Option<JsonObject>, ReadError>
  /** Every document of the commit that was the head when the stream started, in order of id, in constant memory. */
  readonly all: (options?: ReadManyOptions) => Stream.Stream<A, ReadError, R>
  /** Every document that the predicate accepts, by reading all of one commit in order of id, in constant memory. */
  readonly find: (
    predicate: (document: A) => boolean,
    options?: ReadManyOptions
  ) => Stream.Stream<A, ReadError, R>
  /** Documents whose field equals the value, deep and typed, or is a list that contains it; in order of id. */
  readonly findBy: <F extends FieldOf<E> & string>(
    field: F,
    value: ValueOf<E, F>,
    options?: ReadManyOptions
  ) => Effect.Effect<ReadonlyArray<A>, ReadError, R>
  /**
   * A page of documents in order of id (100 unless `limit` says otherwise), and the cursor that the next one takes as
   * `after`.
   */
  readonly page: (options?: ReadManyOptions) => Effect.Effect<Page<A>, ReadError, R>
  /** Every page of the commit that was the head when the stream started. */
  readonly pages: (options?: {
    readonly size?: number | undefined
    readonly after?: string | undefined
  }) => Stream.Stream<Page<A>, ReadError, R>
  /** The commits that changed the document, newest first, at most `limit` (default 30); empty where there never was one. */
  readonly history: (
    id: string,
    options?: { readonly limit?: number | undefined }
  ) => Effect.Effect<ReadonlyArray<HistoryEntry>, ReadError>
  /** How `findBy` with this field and value is answered, and what that costs; the documents are not read. */
  readonly explain: <F extends FieldOf<E> & string>(
    field: F,
    value: ValueOf<E, F>
  ) => Effect.Effect<Explanation, ReadError>
  /**
   * A page of the documents that satisfy a condition, in an order; 100 unless `limit` says otherwise. With `select`: some
   * fields of each, as its file has them. Indexes change how fast the result comes, never what it is. With `explain` the page
   * has an `explanation`: what `explainQuery` returns, of this very page.
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
  /** The same as a stream: all documents of one commit, unless `limit` says otherwise. */
  readonly queryAll: <const S extends ReadonlyArray<PathOf<E>> | undefined = undefined>(
    query?: StreamQuery<E, S>
  ) => Stream.Stream<QueryResult<A, E, S>, ReadError, QueryContext<R, S>>
  /** How a query is answered, and what one page of it reads: it is run, unless `run` is false. */
  readonly explainQuery: (
    query: Query<E> & { readonly select?: ReadonlyArray<PathOf<E>> | undefined },
    options?: { readonly run?: boolean | undefined }
  ) => Effect.Effect<QueryExplanation, ReadError>
  /** How many documents satisfy a condition. An index that has all of its fields tells without reading documents. */
  readonly countWhere: (where: Where<E>) => Effect.Effect<number, ReadError>
  /**
   * The different values of a field in order, those of a list one by one. An index or a manifest that has the field tells without
   * reading documents.
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
  /** Answers the id, generated when not given. An existing id is a `ConflictError`. */
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
  /** Stores another content in place of an existing document. Fails with `NotFoundError` where there is none. */
  readonly replace: (
    id: string,
    document: I,
    options?: MergingWriteOptions
  ) => Effect.Effect<A, WriteError, R>
  /**
   * Reads a document, applies a function and writes the result. Where somebody changed the document meanwhile, the
   * changes of other fields are merged; where both changed one field, the function is applied again to what is stored,
   * until the store's deadline.
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
  /** Deletes an existing document. Fails with `NotFoundError` where there is none. */
  readonly delete: (id: string, options?: GuardedWriteOptions) => Effect.Effect<void, WriteError>
  /** Brings back the version that the commit holds, as a new commit. */
  readonly restore: (
    id: string,
    commitSha: string,
    options?: RestoreOptions
  ) => Effect.Effect<A, WriteError, R>
  /**
   * Imports records, each as a whole document, one commit per chunk in constant memory: what `importRecords` of
   * `transfer/Import.ts` does. For a collection with a schema a record must be an encoded document of it.
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
  /** Rebuilds index and manifest files from the documents; the commit's id, none when nothing changed. */
  readonly reindex: (options?: ReindexOptions) => Effect.Effect<Option.Option<string>, WriteError>
  /**
   * Stores a JSON Schema of the documents, as they lie in their files, in `_schemas`: forms are made of it, and nothing is
   * refused because of it. One commit, which is returned; none where the same schema is stored already. Fails with
   * `ValidationError` where the schema has no JSON Schema, is not one, or is too large, and in a transaction.
   *
   * @example
   * ```ts
   * const commit = yield* people.writeJsonSchema()
   * ```
   */
  readonly writeJsonSchema: (options?: JsonSchemaOptions) => Effect.Effect<Option.Option<string>, WriteError>
  /**
   * What one insert costs by the present settings and by those that are recommended for a collection of its size, or of
   * one that is given; and which settings are worth changing. Nothing is written.
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
 * A document of a schema as a reader sees it: the decoded value with the store's metadata.
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
 * The reads and writes of a definition's documents; of a name, those of documents of the schema `S`, or of any JSON.
 *
 * @since 0.1.0
 * @category type-level
 */
export type CollectionOf<D, S = undefined> = OfSchema<SchemaOf<D, S>>

/**
 * The same reads alone.
 *
 * @since 0.1.0
 * @category type-level
 */
export type CollectionReaderOf<D, S = undefined> = ReaderOfSchema<SchemaOf<D, S>>

/**
 * Opens a collection by its definition or by its name: of a schema's values, or of JSON documents.
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
 * Collections, before they are opened.
 *
 * @since 0.1.0
 * @category constructors
 */
export const Collection: { readonly define: typeof define } = { define }
