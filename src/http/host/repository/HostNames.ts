import { branchProblem, isAmbiguousName, isRefName, pathProblem } from "../../../git/Names.js"

/** An account's name: what GitHub allows, and underscores, which it gives to managed users. */
export const isOwnerName = (owner: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$/.test(owner)

/** Where pull requests have their refs, which the host alone writes. */
export const pullRefs = "refs/pull/"

/** A name with at least two slashes below `refs/`, as the API wants it, that callers may write to. */
export const isWritableRefName = (name: string): boolean =>
  isRefName(name) && /^refs\/[^/]+\/./.test(name) && !name.startsWith(pullRefs)

/**
 * The same of a ref that is to be made: by GitHub's rules for branches and tags, and without a dash that Git's own commands
 * would take for that of an option.
 */
export const isNewRefName = (name: string): boolean => {
  if (!isWritableRefName(name) || /\/-/.test(name)) return false
  const [, kind, short = ""] = /^refs\/(heads|tags)\/(.*)$/.exec(name) ?? []
  return kind === "heads" ? branchProblem(short) === undefined : !isAmbiguousName(short)
}

/** A commit id, whole or cut short. */
export const isAbbreviation = (text: string): boolean => /^[0-9a-f]{4,40}$/i.test(text)

/** A path of a file in a repository: relative, one that a tree can hold, at most 4,096 bytes. */
export const isPath = (path: string): boolean =>
  path.length <= 4096 && Buffer.byteLength(path) <= 4096 && pathProblem(path) === undefined

/** A collision-poor stable number for a name, for the `id` fields that GitHub counts. */
export const numericId = (name: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 1) + 1
}

/** GitHub's opaque node id: here the kind and the parts, in base64. */
export const nodeId = (kind: string, ...parts: ReadonlyArray<string>): string =>
  Buffer.from([kind, ...parts].join(":")).toString("base64url")

/** The parts of a node id of `kind`, or undefined when it is none. */
export const fromNodeId = (kind: string, id: string): ReadonlyArray<string> | undefined => {
  const [actual, ...parts] = Buffer.from(id, "base64url").toString().split(":")
  return actual === kind ? parts : undefined
}
