/**
 * JSON documents in a Git repository, where every write is a commit. Runs in a browser too.
 *
 * @module chainstore/store
 * @since 0.1.0
 */

export type { DocumentMetadata, StoredDocument } from "../domain/document/Document.js"
export type { Page } from "../domain/document/Page.js"
export { RefMoved } from "../domain/errors/RefMoved.js"
export * from "../domain/errors/StoreError.js"
export { collectionNameProblem, fieldNameProblem } from "../domain/identifiers/CollectionName.js"
export { idProblem, isDocumentId } from "../domain/identifiers/DocumentId.js"
export { emptyTree, isOid, Oid } from "../domain/identifiers/Oid.js"
export { isRepositoryName, repositoryNameProblem } from "../domain/identifiers/RepositoryName.js"
/**
 * Ids that sort by creation time; they are generated for documents without an id.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Ulid from "../domain/identifiers/Ulid.js"
export type { IndexDefinition, IndexField, IndexOptions } from "../domain/indexes/IndexDefinition.js"
export { type IndexFile, parseIndex } from "../domain/indexes/IndexFile.js"
export { indexKeyOf, lookupKeys } from "../domain/indexes/IndexKey.js"
export { type ManifestFile, parseManifestFile } from "../domain/indexes/ManifestFile.js"
export { encode as encodeCanonicalJson, type JsonProblem } from "../domain/json/CanonicalJson.js"
export type { Json, JsonObject } from "../domain/json/Json.js"
export { equalJson, fieldMatches } from "../domain/json/JsonEquality.js"
export { type InexactNumber, inexactNumbers } from "../domain/json/JsonText.js"
export type {
  DocumentMerge,
  MergeConflict,
  MergeFields,
  MergeRule,
  MergeRules,
  Merger,
  MergeSides,
  Settlement
} from "../domain/merge/MergeRules.js"
export {
  type Layout,
  parseSettings,
  plainLayout,
  plainSettings,
  printSettings,
  type Settings,
  type SettingsFile,
  type SettingsOptions,
  settingsFileName,
  settingsFormat
} from "../domain/settings/Settings.js"
export { compareCodePoints } from "../domain/text/CodePointOrder.js"
export type { DurationInput } from "../domain/time/DurationInput.js"
export type * from "./Batch.js"
export type { Batching } from "./Batching.js"
export type * from "./Branches.js"
export * from "./browse/index.js"
export {
  AsyncCache,
  Cache,
  type CacheEntry,
  MemoryCache,
  type MemoryCacheOptions,
  NullCache,
  StoreCache
} from "./Cache.js"
export type * from "./Collection.js"
export { Collection } from "./Collection.js"
export {
  type CollectionDefinition,
  type CollectionLike,
  type ContextOf,
  type DocumentSchema,
  type InputOf,
  type InsertOf,
  isDefinition,
  type NamedSchema,
  type SchemaOf
} from "./CollectionDefinition.js"
export type * from "./CollectionEstimate.js"
export type * from "./Doctor.js"
export { documentPath, idAt, locate } from "./DocumentPath.js"
export type * from "./Proposals.js"
export * from "./remote/GitRemote.js"
/**
 * A repository on GitHub, or on a host with GitHub's API.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as GitHub from "./remote/github/GitHub.js"
/**
 * A repository in this process's memory, for tests and programs without persistent data.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Memory from "./remote/memory/Memory.js"
export { Store } from "./Store.js"
export { decorate, type StoreDecorator, type StoreOperation } from "./StoreDecorator.js"
export { resolveOptions, type StoreOptions } from "./StoreOptions.js"
export type * from "./StoreService.js"
export type * from "./Transaction.js"
export {
  type Destination,
  type DestinationContext,
  DestinationError,
  type DestinationFailure
} from "./transfer/Destination.js"
export type {
  DatabaseExcelOptions,
  ExcelOptions,
  Exported,
  ExportOptions,
  ExportProgress,
  TextFormat,
  TextOptions
} from "./transfer/Export.js"
export { type CsvOptions, fromCsv } from "./transfer/FromCsv.js"
export { type DbapiOptions, type FetchCursor, fromDbapi } from "./transfer/FromDbapi.js"
export { fromJson, fromNdjson } from "./transfer/FromJson.js"
export { fromMongo, type MongoCollection, type MongoOptions } from "./transfer/FromMongo.js"
export {
  type EffectSqlConnection,
  fromSql,
  type PrepareConnection,
  type QueryConnection
} from "./transfer/FromSql.js"
export type { ImportOptions, ImportReport, ImportRow } from "./transfer/Import.js"
export { normalise, normaliseRecord } from "./transfer/Normalise.js"
export {
  fromRecords,
  type ImportRecord,
  type RecordSource,
  type RecordStream
} from "./transfer/RecordSource.js"
export { SourceError } from "./transfer/SourceError.js"
export { UnheldNumber } from "./transfer/UnheldNumber.js"
export type { ByteSource } from "./transfer/Utf8Text.js"
export { writeXlsx } from "./transfer/WriteXlsx.js"
export type * from "./View.js"
export type * from "./Writer.js"
