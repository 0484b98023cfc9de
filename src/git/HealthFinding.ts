/**
 * What the remote found in the files of a repository, or did to them.
 *
 * @since 0.1.0
 * @category models
 */
export interface HealthFinding {
  /** `error` needs repair, `warning` deserves a look, `ok` was checked and found right. */
  readonly severity: "ok" | "warning" | "error"
  /** A name for programs. */
  readonly code: string
  /** What was found, in words. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string | undefined
}
