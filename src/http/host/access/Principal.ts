/** A right on repositories: `owner/name`, `owner/*` or `*`. Write includes read. */
export interface Grant {
  readonly repository: string
  readonly access: "read" | "write"
}

/** Who asks. `id` never holds the token. */
export interface Principal {
  readonly id: string
  /** None for a request without a token. */
  readonly login: string | undefined
  readonly grants: ReadonlyArray<Grant>
}

export const anonymous: Principal = { id: "anonymous", login: undefined, grants: [] }

const covers = (grant: Grant, fullName: string): boolean => {
  const pattern = grant.repository.toLowerCase()
  const name = fullName.toLowerCase()
  return (
    pattern === "*" || pattern === name || (pattern.endsWith("/*") && name.startsWith(pattern.slice(0, -1)))
  )
}

/** Whether a right of the principal itself, not the repository's being public, allows it. */
export const isGranted = (principal: Principal, access: "read" | "write", fullName: string): boolean =>
  principal.grants.some((grant) => (access === "read" || grant.access === "write") && covers(grant, fullName))
