import type * as Effect from "effect/Effect"

/**
 * One finding of `doctor`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Finding {
  /** `error` needs repair, `warning` deserves a look, `ok` says what was checked and found right. */
  readonly severity: "ok" | "warning" | "error"
  /** A name for programs, such as `stale-index`. */
  readonly code: string
  /** What was found, in words. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string | undefined
  /** The collection that it is about; absent where it is about the repository. */
  readonly collection?: string | undefined
  /** Documents that it is about, at most some of them. */
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
 * How closely the doctor looks.
 *
 * @since 0.1.0
 * @category options
 */
export interface DoctorOptions {
  /**
   * Reads every document, and compares indexes and manifests with a rebuild. Default: only where reads take no
   * requests.
   */
  readonly deep?: boolean | undefined
  /** Called as documents are read. */
  readonly onProgress?: ((progress: DoctorProgress) => Effect.Effect<void>) | undefined
}
