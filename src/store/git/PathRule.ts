import { ValidationError } from "../../domain/StoreError.js"

const loneSurrogate = /[\ud800-\udfff]/u
const invisible = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** Names that some file system takes for `.git`, which Git therefore refuses in trees. */
const isDotGit = (segment: string) => {
  const plain = segment.replace(invisible, "").toLowerCase()
  return plain.split(/[\\:]/).some((part) => /^(\.git|git~1)[ .]*$/.test(part))
}

const problemOf = (path: string): string | undefined => {
  if (path === "") return "is empty"
  if (path.includes("\0")) return "contains a NUL"
  if (loneSurrogate.test(path)) return "is not well-formed Unicode"
  for (const segment of path.split("/")) {
    if (segment === "") return "has an empty segment"
    if (segment === "." || segment === "..") return `has the segment ${segment}`
    if (isDotGit(segment)) return `has the segment ${JSON.stringify(segment)}, which Git reserves`
  }
  return undefined
}

/** Throws a `ValidationError` for a path that a tree may not hold. */
export const unsafeCheckPath = (operation: string, path: string): void => {
  const problem = problemOf(path)
  if (problem === undefined) return
  throw new ValidationError({
    operation,
    path,
    message: `The path ${JSON.stringify(path)} ${problem}`,
    hint: "Use a relative path with forward slashes"
  })
}

/** The segments of a path to read; undefined when no tree can hold it. "" has none. */
export const segmentsOf = (path: string): ReadonlyArray<string> | undefined => {
  if (path === "") return []
  const segments = path.split("/")
  return segments.some((segment) => segment === "" || segment === "." || segment === "..")
    ? undefined
    : segments
}
