/**
 * The document store as promises, without Effect. Runs in a browser too.
 *
 * @module chainstore/promise
 * @since 0.1.0
 */

export * from "../../domain/errors/StoreError.js"
export type { DurationInput } from "../../domain/time/DurationInput.js"
export type {
  Branch,
  CompareOptions,
  CreateBranchOptions,
  Merged,
  MergeOptions,
  Resolution
} from "../Branches.js"
export { AsyncCache, type CacheEntry, MemoryCache, NullCache } from "../Cache.js"
export type { Version } from "../Collection.js"
export { Collection } from "../Collection.js"
export type {
  ListProposalsOptions,
  Proposal,
  ProposalState,
  Proposed,
  ProposeOptions
} from "../Proposals.js"
export { DestinationError } from "../transfer/Destination.js"
export { type CsvOptions, fromCsv } from "../transfer/FromCsv.js"
export { type DbapiOptions, type FetchCursor, fromDbapi } from "../transfer/FromDbapi.js"
export { fromJson, fromNdjson } from "../transfer/FromJson.js"
export { fromMongo, type MongoCollection, type MongoOptions } from "../transfer/FromMongo.js"
export { fromSql } from "../transfer/FromSql.js"
export {
  fromRecords,
  type ImportRecord,
  type RecordSource,
  type RecordStream
} from "../transfer/RecordSource.js"
export { SourceError } from "../transfer/SourceError.js"
export { UnheldNumber } from "../transfer/UnheldNumber.js"
export type { ByteSource } from "../transfer/Utf8Text.js"
export { AsyncBatch } from "./AsyncBatch.js"
export {
  AsyncCollection,
  AsyncCollectionReader,
  type AsyncPageQuery,
  type AsyncReadManyOptions,
  type AsyncStreamQuery
} from "./AsyncCollection.js"
export type { AsyncDraft } from "./AsyncDraft.js"
export type { AsyncDocumentDifference, AsyncMerged, AsyncMergeOptions } from "./AsyncMerge.js"
export type { AsyncAcceptOptions, AsyncProposal, AsyncProposalMergeOptions } from "./AsyncProposal.js"
export { AsyncStore, AsyncView } from "./AsyncStore.js"
export { AsyncTransaction } from "./AsyncTransaction.js"
export { AsyncWriter } from "./AsyncWriter.js"
export { type OpenStoreOptions, openStore } from "./OpenStore.js"
export type { SignalOptions } from "./PromiseOptions.js"
export { writeXlsx } from "./WriteXlsx.js"
