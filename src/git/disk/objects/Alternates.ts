import * as fs from "node:fs"
import * as path from "node:path"
import { pathExists } from "../files/Directories.js"
import { hasErrorCode } from "../files/FileOperations.js"

/** The depth to which Git follows alternates of alternates. */
const maxDepth = 5

const linesOf = (file: string): ReadonlyArray<string> => {
  if (!pathExists(file)) return []
  try {
    return fs.readFileSync(file, "utf8").split("\n")
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return []
    throw cause
  }
}

const escapes: Readonly<Record<string, number>> = {
  ...{ a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 },
  ...{ '"': 34, "\\": 92 }
}

/** Removes the C-style quotes that Git writes around a path with special characters. */
const unquoted = (line: string): string => {
  const quoted = /^"((?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*)"$/.exec(line)?.[1]
  if (quoted === undefined) return line
  const parts = quoted.match(/\\(?:[0-7]{3}|.)|[^\\]+/g) ?? []
  return Buffer.concat(
    parts.map((part) =>
      part.startsWith("\\")
        ? Buffer.of(escapes[part.slice(1)] ?? Number.parseInt(part.slice(1), 8))
        : Buffer.from(part)
    )
  ).toString()
}

/** The `objects` directories of the alternates, and of their alternates. */
export const alternatesOf = (objects: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  const visit = (directory: string, depth: number) => {
    for (const line of linesOf(path.join(directory, "info", "alternates"))) {
      if (line === "" || line.startsWith("#")) continue
      const other = path.resolve(directory, unquoted(line))
      if (other === objects || found.has(other)) continue
      found.add(other)
      if (depth < maxDepth) visit(other, depth + 1)
    }
  }
  visit(objects, 1)
  return [...found]
}
