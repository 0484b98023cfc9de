/**
 * The problem with a repository's name `<owner>/<name>`, if any.
 *
 * @since 0.1.0
 * @category rules
 */
export const repositoryNameProblem = (name: unknown): string | undefined => {
  if (typeof name !== "string") return "a repository's name is text, <owner>/<name>"
  const parts = name.split("/")
  if (parts.length !== 2) return "a repository's name has the form <owner>/<name>"
  for (const part of parts) {
    if (!/^[A-Za-z0-9._-]{1,100}$/.test(part)) {
      return "owner and name are made of letters, digits, '.', '_' and '-', at most 100 of them"
    }
    if (/^\.{1,2}$/.test(part)) return "owner and name are not '.' or '..'"
  }
  return /\.(git|lock)$/i.test(parts[1]!) ? "a repository's name does not end in .git or .lock" : undefined
}

/**
 * Whether a value is a valid repository name `<owner>/<name>`.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isRepositoryName = (name: unknown): name is string => repositoryNameProblem(name) === undefined
