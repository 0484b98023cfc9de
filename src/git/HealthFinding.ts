/**
 * A problem in the files of a repository, or a repair that was made.
 *
 * @since 0.1.0
 * @category models
 */
export interface HealthFinding {
  /** `error`: needs repair. `warning`: may need repair. `ok`: no action is needed. */
  readonly severity: "ok" | "warning" | "error"
  /** A stable identifier of the kind of finding. */
  readonly code: string
  /** A description for people. */
  readonly message: string
  /** The recommended action. */
  readonly hint?: string | undefined
}
