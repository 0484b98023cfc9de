const maxLength = 31

/** Excel's rule for one name of a sheet: 31 characters, none of `[ ] : * ? / \`, no control characters, no apostrophe or blank at either end. */
const legal = (name: string) => {
  const cleaned = trim(name.replace(/[[\]:*?/\\\u0000-\u001f\u007f-\u009f]/g, " "))
  const short = trim(cleaned.slice(0, maxLength).toWellFormed().replaceAll("\ufffd", ""))
  return short === "" || short.toLowerCase() === "history" ? `Sheet${short === "" ? "" : ` ${short}`}` : short
}

const trim = (name: string) => name.replace(/^[\s']+|[\s']+$/g, "")

/** Legal names for the sheets of one workbook; a name that is taken, whatever its case, gets `~2`, `~3`, ... */
export const sheetNames = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  return names.map((given) => {
    const name = legal(given)
    let unique = name
    for (let number = 2; taken.has(unique.toLowerCase()); number++) {
      const suffix = `~${number}`
      unique = name.slice(0, maxLength - suffix.length) + suffix
    }
    taken.add(unique.toLowerCase())
    return unique
  })
}
