// The page loads this module before the schemas of the other modules that describe endpoints.

/** Signs in. */
export const loginPath = "/api/login"

/** Returns the sign-in choices and the current session. */
export const sessionPath = "/api/session"

/**
 * The header with the repository, branch and root that a page shows. If the session has been switched to others in
 * another tab, the request is rejected, so that the page does not show one branch and write another.
 */
export const sessionTargetHeader = "x-chainstore-place"

/** The value of `sessionTargetHeader`. */
export const sessionTarget = ({
  branch,
  repo,
  root
}: {
  readonly repo: string
  readonly branch: string
  readonly root: string
}): string => encodeURIComponent(JSON.stringify([repo, branch, root]))
