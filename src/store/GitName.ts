/** Why a path cannot lie in a repository, if it cannot. */
export const pathProblem = (path: string): string | undefined => {
  if (path === "") return "an empty path"
  if (path.includes("\0")) return "a path with a NUL character"
  if (/\p{Cs}/u.test(path)) return "a path with half a surrogate pair"
  for (const segment of path.split("/")) {
    if (segment === "") return "a path with an empty segment"
    if (segment === "." || segment === "..") return `a path with the segment ${segment}`
    if (segment.toLowerCase() === ".git") return "a path with the segment .git"
  }
  return undefined
}

/**
 * Why a name cannot be a branch's, if it cannot: the rules of `git check-ref-format --branch`, and one of GitHub's, by
 * whose API a name that begins with `refs/` means another branch.
 */
export const branchProblem = (name: string): string | undefined => {
  if (name === "" || name === "@" || name === "HEAD") return "not a name that a branch can have"
  if (/^refs\//.test(name))
    return "a branch is named without refs/heads/, and its name may not begin with refs/"
  if (name.startsWith("-")) return "a branch name may not start with a dash"
  if (name.endsWith(".")) return "a branch name may not end with a dot"
  if (name.includes("..") || name.includes("@{")) return "a branch name may not hold .. or @{"
  if (/[\x00-\x20\x7f~^:?*[\\]/.test(name))
    return "a branch name may not hold spaces, controls or ~ ^ : ? * [ \\"
  if (/\p{Cs}/u.test(name)) return "a branch name with half a surrogate pair"
  const bad = name.split("/").find((part) => part === "" || part.startsWith(".") || part.endsWith(".lock"))
  return bad === undefined
    ? undefined
    : "a part of a branch name may not be empty, start with a dot or end with .lock"
}
