import type { DerivedFormat, Layout } from "../domain/settings/Settings.js"

/**
 * Which collection is estimated: the present one, where nothing is given.
 *
 * @since 0.1.0
 * @category options
 */
export interface EstimateOptions {
  /** How many documents the collection is going to have, up to 2^53 - 1. Default: as many as it has. */
  readonly documents?: number | undefined
  /** How many indexes it is going to have, up to 1,000. Default: those of the settings. */
  readonly indexes?: number | undefined
  /** Whether it is going to have a manifest. Default: what the settings say. */
  readonly manifest?: boolean | undefined
}

/**
 * What one insert into a collection costs, in a commit of its own, where what it reads is known.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteCost {
  /** The files that the commit changes: the document, and those of its indexes and manifest. */
  readonly files: number
  /** About how many bytes it writes before compression: a document of 500, the other files, and the lists of directories. */
  readonly bytes: number
  /** The requests that it takes of the remote; 0 on a repository of this machine. */
  readonly requests: number
}

/**
 * How a collection is stored, and what that costs.
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
 * A setting that a collection of this size is better stored with.
 *
 * @since 0.1.0
 * @category models
 */
export interface StorageAdvice {
  /** `format` is how indexes and manifests are stored, `sharding` how documents are spread over directories. */
  readonly setting: "format" | "sharding"
  /** Why, in words. */
  readonly reason: string
  /** The command and the option that change it. */
  readonly hint: string
}

/**
 * The present storage of a collection and the one that is recommended.
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
  /** By the settings of the repository. */
  readonly current: StoragePlan
  /** By the recommended settings. */
  readonly recommended: StoragePlan
  /** What is worth changing; nothing below 2,000 documents. */
  readonly advice: ReadonlyArray<StorageAdvice>
}
