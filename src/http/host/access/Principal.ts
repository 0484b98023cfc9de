/**
 * An access right to the repositories that match `owner/name`, `owner/*` or `*`. Write access includes read access.
 */
export interface Grant {
  readonly repository: string
  readonly access: "read" | "write"
}

/** The caller of a request. `id` never contains the token. */
export interface Principal {
  readonly id: string
  /** Undefined for a request without a token. */
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

/** Whether a grant of the principal allows the access. Public read access is not considered. */
export const isGranted = (principal: Principal, access: "read" | "write", fullName: string): boolean =>
  principal.grants.some((grant) => (access === "read" || grant.access === "write") && covers(grant, fullName))
