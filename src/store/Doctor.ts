import type * as Effect from "effect/Effect"

/** One finding of `doctor`. */
export interface Finding {
  readonly severity: "ok" | "warning" | "error"
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly collection?: string | undefined
  readonly ids?: ReadonlyArray<string> | undefined
}

/** How many documents of a collection the doctor has read. */
export interface DoctorProgress {
  readonly collection: string
  readonly documents: number
  readonly total: number
}

/** How closely the doctor looks. */
export interface DoctorOptions {
  /**
   * Reads every document, and compares indexes and manifests with a rebuild. Default: only where reads take no
   * requests.
   */
  readonly deep?: boolean | undefined
  readonly onProgress?: ((progress: DoctorProgress) => Effect.Effect<void>) | undefined
}
