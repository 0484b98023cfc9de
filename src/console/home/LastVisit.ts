import type { SessionView } from "../../http/console/Api.js"

/** The head of a branch when it was last looked at in this browser. */
export interface Visit {
  readonly head: string
  /** An ISO time. */
  readonly at: string
}

const keyOf = ({ api, branch, repo, root }: SessionView): string =>
  `chainstore.visit ${JSON.stringify([api, repo, branch, root])}`

const parse = (text: string | null): Visit | undefined => {
  try {
    const value = JSON.parse(text ?? "null") as Partial<Visit> | null
    return typeof value?.head === "string" && typeof value.at === "string"
      ? { head: value.head, at: value.at }
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Records that the branch is looked at now, and returns the visit before. A visit lasts as long as its tab, so that a
 * reload does not begin another one. Undefined at the first visit.
 */
export const beginVisit = (session: SessionView, head: string): Visit | undefined => {
  const key = keyOf(session)
  try {
    const begun = sessionStorage.getItem(key)
    const last = begun === null ? localStorage.getItem(key) : begun
    if (begun === null) sessionStorage.setItem(key, last ?? "null")
    localStorage.setItem(key, JSON.stringify({ head, at: new Date().toISOString() } satisfies Visit))
    return parse(last)
  } catch {
    return undefined
  }
}
