import { ValidationError } from "../domain/errors/StoreError.js"
import { trim } from "../domain/text/TrimText.js"

/*
 * The rules for paths, refs, branches and the names of people. They are the same for every remote, so that a name which one remote
 * accepts is not refused by another one.
 */

const encoder = new TextEncoder()
const bytesOf = (text: string): number => encoder.encode(text).length
const loneSurrogate = /\p{Cs}/u

/** Characters that HFS+ ignores in a name. */
const invisible = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** Whether a name is equivalent to `.git` on some file system. Git refuses such names in trees. */
const isDotGit = (segment: string): boolean =>
  segment
    .replace(invisible, "")
    .toLowerCase()
    .split(/[\\:]/)
    .some((part) => /^(\.git|git~1)[ .]*$/.test(part))

/** Why a path is not valid in a repository; undefined if it is. */
export const pathProblem = (path: string): string | undefined => {
  if (path === "") return "an empty path"
  if (path.includes("\0")) return "a path with a NUL character"
  if (loneSurrogate.test(path)) return "a path with half a surrogate pair"
  for (const segment of path.split("/")) {
    if (segment === "") return "a path with an empty segment"
    if (segment === "." || segment === "..") return `a path with the segment ${segment}`
    if (isDotGit(segment)) return `a path with the segment ${JSON.stringify(segment)}, which Git reserves`
  }
  return undefined
}

/** The error for a path that is not valid in a repository. */
export const pathError = (operation: string, path: string): ValidationError | undefined => {
  const problem = pathProblem(path)
  return problem === undefined
    ? undefined
    : new ValidationError({
        operation,
        path,
        message: `${path}: ${problem} cannot be written`,
        hint: "use a relative path with forward slashes"
      })
}

/** The segments of a path; undefined if no tree can have such a path. The path "" has no segments. */
export const segmentsOf = (path: string): ReadonlyArray<string> | undefined => {
  if (path === "") return []
  const segments = path.split("/")
  return segments.some((segment) => segment === "" || segment === "." || segment === "..")
    ? undefined
    : segments
}

/** Why a short or full name of a ref is not valid; undefined if it is. The rules are those of `git check-ref-format`. */
export const refProblem = (name: string): string | undefined => {
  if (name === "" || name === "@") return "not a name that a ref can have"
  if (name.startsWith("-")) return "a name may not start with a dash"
  if (name.endsWith(".")) return "a name may not end with a dot"
  if (name.includes("..") || name.includes("@{")) return "a name may not hold .. or @{"
  if (/[\x00-\x20\x7f~^:?*[\\]/.test(name)) return "a name may not hold spaces, controls or ~ ^ : ? * [ \\"
  if (loneSurrogate.test(name)) return "a name with half a surrogate pair"
  const parts = name.split("/")
  if (parts.some((part) => part === "" || part.startsWith(".") || part.endsWith(".lock")))
    return "a part of a name may not be empty, start with a dot or end with .lock"
  // Each part is a file name, also with `.lock` appended.
  if (name.length >= 1024 || parts.some((part) => bytesOf(part) >= 250)) return "a name that is too long"
  return undefined
}

export const isRefName = (name: string): boolean => refProblem(name) === undefined

/** Whether a name is a valid full name of a ref, below `refs/`. */
export const isFullRefName = (name: string): boolean => name.startsWith("refs/") && isRefName(name)

export const branchRef = (branch: string): string => `refs/heads/${branch}`

/** The largest size of the full name of a branch, in bytes: that of a file name, and GitHub's limit. */
const maxBranchRef = 255

/** Whether a short name would be read as an object id in a revision. */
const looksLikeOid = (name: string): boolean => /^[0-9a-f]{40}$/i.test(name)

/** Whether GitHub refuses a short name for branches and tags because it has another meaning. */
export const isAmbiguousName = (name: string): boolean => looksLikeOid(name) || name.startsWith("refs/")

/**
 * Why the name of a branch is not valid; undefined if it is. The rules are those of `git check-ref-format --branch` and three of
 * GitHub: no name may begin with `refs/`, have 40 hexadecimal digits (a commit), or have more than 244 bytes.
 */
export const branchProblem = (name: string): string | undefined => {
  if (name === "HEAD") return "not a name that a branch can have"
  if (looksLikeOid(name)) return "a name of 40 hexadecimal digits is the id of a commit"
  if (name.startsWith("refs/"))
    return "a branch is named without refs/heads/, and its name may not begin with refs/"
  const size = bytesOf(branchRef(name))
  return (
    refProblem(name) ??
    (size > maxBranchRef
      ? `a branch name has at most ${maxBranchRef - 11} bytes, not ${size - 11}`
      : undefined)
  )
}

/** The error for an invalid name of a branch. */
export const branchError = (operation: string, branch: string): ValidationError | undefined => {
  const problem = branchProblem(branch)
  return problem === undefined
    ? undefined
    : new ValidationError({ operation, message: `branch ${JSON.stringify(branch)}: ${problem}` })
}

/** Characters that Git removes at both ends of a person's name. */
const crud = /[\x00-\x20.,:;<>"'\\]/

/** A person's name or address as Git stores it in a commit. */
export const cleanIdentity = (text: string): string => trim(text.replace(/[<>\n\0]/g, ""), crud)

/** The error for an author, a committer or a message that is not valid in a commit. */
export const commitTextError = (
  operation: string,
  text: {
    readonly message: string
    readonly author?: { readonly name: string; readonly email: string } | undefined
    readonly committer?: { readonly name: string; readonly email: string } | undefined
  }
): ValidationError | undefined => {
  const people = [text.author, text.committer]
  const problem = text.message.includes("\0")
    ? "the commit message contains a NUL"
    : people.some((who) => who !== undefined && /[<>\n\0]/.test(who.name + who.email))
      ? "an author or committer contains <, >, a newline or a NUL"
      : undefined
  return problem === undefined ? undefined : new ValidationError({ operation, message: problem })
}
