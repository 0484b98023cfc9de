import type { DerivedFormat, Layout } from "../domain/settings/Settings.js"

/**
 * The size for which a collection is estimated. Default: the current one.
 *
 * @since 0.1.0
 * @category options
 */
export interface EstimateOptions {
  /** The planned number of documents, up to 2^53 - 1. Default: the current number. */
  readonly documents?: number | undefined
  /** The planned number of indexes, up to 1,000. Default: those of the settings. */
  readonly indexes?: number | undefined
  /** Whether a manifest is planned. Default: as in the settings. */
  readonly manifest?: boolean | undefined
}

/**
 * The cost of one insert, in a commit of its own, if the files that it reads are cached.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteCost {
  /** The number of files that the commit changes: the document, and those of its indexes and manifest. */
  readonly files: number
  /**
   * The approximate number of bytes before compression: a document of 500 bytes, the other files, and the lists of
   * directories.
   */
  readonly bytes: number
  /** The number of requests; 0 for a local repository. */
  readonly requests: number
}

/**
 * How a collection is stored, and its cost.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoragePlan extends Layout {
  /** How indexes and manifests are stored. */
  readonly format: DerivedFormat
  /** The cost of one insert. */
  readonly insert: WriteCost
}

/**
 * A recommended change of a setting.
 *
 * @since 0.1.0
 * @category models
 */
export interface StorageAdvice {
  /** `format`: how indexes and manifests are stored; `sharding`: how documents are distributed over directories. */
  readonly setting: "format" | "sharding"
  /** The reason, as a text. */
  readonly reason: string
  /** The command and the option that change the setting. */
  readonly hint: string
}

/**
 * The current storage of a collection and the recommended one.
 *
 * @since 0.1.0
 * @category models
 */
export interface CollectionEstimate {
  /** The collection's name. */
  readonly collection: string
  /** The number of documents that the estimate is for. */
  readonly documents: number
  /** The number of indexes that it is for. */
  readonly indexes: number
  /** Whether it is for a collection with a manifest. */
  readonly manifest: boolean
  /** With the settings of the repository. */
  readonly current: StoragePlan
  /** With the recommended settings. */
  readonly recommended: StoragePlan
  /** Recommended changes; none below 2,000 documents. */
  readonly advice: ReadonlyArray<StorageAdvice>
}
