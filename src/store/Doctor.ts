import type * as Effect from "effect/Effect"

/**
 * One finding of `doctor`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Finding {
  /** `error` needs repair, `warning` should be examined, `ok` states what was checked without a problem. */
  readonly severity: "ok" | "warning" | "error"
  /** A stable name for programs, such as `index-stale`. */
  readonly code: string
  /** The finding, as a text. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string | undefined
  /** The collection; undefined if the finding concerns the repository. */
  readonly collection?: string | undefined
  /** Some of the documents concerned. */
  readonly ids?: ReadonlyArray<string> | undefined
}

/**
 * How many documents of a collection the doctor has read.
 *
 * @since 0.1.0
 * @category models
 */
export interface DoctorProgress {
  /** The collection that is being read. */
  readonly collection: string
  /** Documents read so far. */
  readonly documents: number
  /** Documents in the collection. */
  readonly total: number
}

/**
 * How thoroughly the repository is examined.
 *
 * @since 0.1.0
 * @category options
 */
export interface DoctorOptions {
  /**
   * Reads every document, and compares indexes and manifests with a rebuild. Default: only if reads cost no requests.
   */
  readonly deep?: boolean | undefined
  /** Called as documents are read. */
  readonly onProgress?: ((progress: DoctorProgress) => Effect.Effect<void>) | undefined
}
