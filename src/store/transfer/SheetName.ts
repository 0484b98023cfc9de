const maxLength = 31

/**
 * Converts a name to one that Excel allows: at most 31 characters, none of `[ ] : * ? / \`, no control characters, and no
 * apostrophe or space at either end.
 */
const legalName = (name: string) => {
  const cleaned = trim(name.replace(/[[\]:*?/\\\u0000-\u001f\u007f-\u009f]/g, " "))
  const short = trim(cleaned.slice(0, maxLength).toWellFormed().replaceAll("\ufffd", ""))
  return short === "" || short.toLowerCase() === "history" ? `Sheet${short === "" ? "" : ` ${short}`}` : short
}

const trim = (name: string) => name.replace(/^[\s']+|[\s']+$/g, "")

/** Valid and distinct sheet names of one workbook. A name that occurs before, in any case, gets `~2`, `~3`, ... */
export const sheetNames = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  return names.map((given) => {
    const name = legalName(given)
    let unique = name
    for (let number = 2; taken.has(unique.toLowerCase()); number++) {
      const suffix = `~${number}`
      unique = name.slice(0, maxLength - suffix.length) + suffix
    }
    taken.add(unique.toLowerCase())
    return unique
  })
}
