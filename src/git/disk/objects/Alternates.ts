import * as fs from "node:fs"
import * as path from "node:path"
import { pathExists } from "../files/Directories.js"
import { damageOf, EngineError } from "../files/EngineError.js"
import { hasErrorCode } from "../files/FileOperations.js"

/** The alternates of a repository. */
export interface Alternates {
  /** Their `objects` directories. */
  readonly directories: ReadonlyArray<string>
  /** Why some `objects` directories, which may be the repository's own, cannot be read as a whole; the others can. */
  readonly damage: ReadonlyMap<string, EngineError>
}

/** The depth to which Git follows alternates of alternates. */
const maxDepth = 5

const linesOf = (file: string): ReadonlyArray<string> => {
  try {
    return pathExists(file) ? fs.readFileSync(file, "utf8").split("\n") : []
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

/** The alternates, and their alternates. */
export const alternatesOf = (objects: string): Alternates => {
  const found = new Set<string>()
  const damage = new Map<string, EngineError>()
  const note = (directory: string, cause: EngineError) => {
    if (!damage.has(directory)) damage.set(directory, cause)
  }
  /** What reading a part of a directory answers; undefined if it cannot be read. */
  const tried = <A>(directory: string, read: () => A): A | undefined => {
    try {
      return read()
    } catch (cause) {
      const found = damageOf(cause)
      if (found === undefined) throw cause
      note(directory, found)
      return undefined
    }
  }
  const visit = (directory: string, depth: number) => {
    for (const line of tried(directory, () => linesOf(path.join(directory, "info", "alternates"))) ?? []) {
      if (line === "" || line.startsWith("#")) continue
      const other = path.resolve(directory, unquoted(line))
      if (other === objects || found.has(other)) continue
      found.add(other)
      if (tried(other, () => pathExists(other)) === false) note(other, missing(other))
      if (depth < maxDepth) visit(other, depth + 1)
    }
  }
  visit(objects, 1)
  return { directories: [...found], damage }
}

const missing = (directory: string) => new EngineError("Corrupt", `the alternate ${directory} is missing`)
