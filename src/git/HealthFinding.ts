/** What the remote found in the files of a repository, or did to them. */
export interface HealthFinding {
  readonly severity: "ok" | "warning" | "error"
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}
