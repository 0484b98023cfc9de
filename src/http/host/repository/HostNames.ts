import { branchProblem, isAmbiguousName, isRefName, pathProblem } from "../../../git/Names.js"

/** Whether a text is a valid account name: GitHub's rules, and underscores, which GitHub allows for managed users. */
export const isOwnerName = (owner: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$/.test(owner)

/** The namespace of pull request refs. Only the host writes them. */
export const pullRefs = "refs/pull/"

/** Whether callers may write the ref. The API requires at least two slashes after `refs/`. */
export const isWritableRefName = (name: string): boolean =>
  isRefName(name) && /^refs\/[^/]+\/./.test(name) && !name.startsWith(pullRefs)

/**
 * Whether callers may create the ref: by GitHub's rules for branches and tags, and without a component that begins
 * with a dash, which Git commands would parse as an option.
 */
export const isNewRefName = (name: string): boolean => {
  if (!isWritableRefName(name) || /\/-/.test(name)) return false
  const [, kind, short = ""] = /^refs\/(heads|tags)\/(.*)$/.exec(name) ?? []
  return kind === "heads" ? branchProblem(short) === undefined : !isAmbiguousName(short)
}

/** Whether a text is a full or abbreviated commit id. */
export const isAbbreviation = (text: string): boolean => /^[0-9a-f]{4,40}$/i.test(text)

/** Whether a path is a valid file path of at most 4,096 bytes. */
export const isPath = (path: string): boolean =>
  path.length <= 4096 && Buffer.byteLength(path) <= 4096 && pathProblem(path) === undefined
