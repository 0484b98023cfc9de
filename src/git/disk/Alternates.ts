import * as fs from "node:fs"
import * as path from "node:path"
import { isThere } from "./Directory.js"
import { hasCode } from "./Disk.js"

/** As deep as Git follows repositories that borrow from others that borrow. */
const deepest = 5

const linesOf = (file: string): ReadonlyArray<string> => {
  if (!isThere(file)) return []
  try {
    return fs.readFileSync(file, "utf8").split("\n")
  } catch (cause) {
    if (hasCode(cause, "ENOENT", "ENOTDIR")) return []
    throw cause
  }
}

/** The directories of objects that one borrows from, and those that they borrow from. */
export const alternatesOf = (objects: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  const visit = (directory: string, depth: number) => {
    for (const line of linesOf(path.join(directory, "info", "alternates"))) {
      if (line === "" || line.startsWith("#")) continue
      const other = path.resolve(directory, line)
      if (other === objects || found.has(other)) continue
      found.add(other)
      if (depth < deepest) visit(other, depth + 1)
    }
  }
  visit(objects, 1)
  return [...found]
}
