import type { SessionView } from "../../http/console/Api.js"

/** A repository that was opened in this browser. It never contains a token. */
export interface RecentRepository {
  readonly api: string
  readonly repo: string
  readonly branch: string
  readonly root: string
}

const key = "chainstore.recent"
const maxRecent = 8

const isRecent = (value: unknown): value is RecentRepository =>
  typeof value === "object" &&
  value !== null &&
  ["api", "repo", "branch", "root"].every(
    (name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "string"
  )

/** The repositories opened most recently, newest first. */
export const recentRepositories = (): ReadonlyArray<RecentRepository> => {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? "[]") as unknown
    return Array.isArray(stored) ? stored.filter(isRecent) : []
  } catch {
    return []
  }
}

export const isSameRepository = (one: RecentRepository, other: RecentRepository): boolean =>
  one.api === other.api && one.repo === other.repo && one.branch === other.branch && one.root === other.root

const store = (all: ReadonlyArray<RecentRepository>): void => {
  try {
    localStorage.setItem(key, JSON.stringify(all.slice(0, maxRecent)))
  } catch {
    // The list is a convenience: without storage there is none.
  }
}

/** Puts a repository at the start of the list. */
export const rememberRepository = ({ api, branch, repo, root }: SessionView): void => {
  const opened = { api, repo, branch, root }
  store([opened, ...recentRepositories().filter((one) => !isSameRepository(one, opened))])
}

/** Removes a repository from the list. */
export const forgetRepository = (gone: RecentRepository): void =>
  store(recentRepositories().filter((one) => !isSameRepository(one, gone)))
