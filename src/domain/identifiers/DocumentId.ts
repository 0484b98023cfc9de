const rule = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/**
 * The problem with a document's id, if any.
 *
 * @since 0.1.0
 * @category rules
 */
export const idProblem = (id: unknown): string | undefined => {
  if (typeof id !== "string") return "an id is text"
  if (id === "") return "an id is not empty"
  if (id.length > 128) return "an id has at most 128 characters"
  if (/[/\\]/.test(id)) return "an id holds no slash or backslash"
  if (!rule.test(id))
    return "an id is made of letters, digits, '.', '_' and '-', and starts with a letter or digit"
  if (id.includes("..")) return "an id does not hold '..'"
  return undefined
}

/**
 * Whether a value is a valid document id.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isDocumentId = (id: unknown): id is string => idProblem(id) === undefined
