import * as fs from "node:fs"
import * as path from "node:path"
import { hasErrorCode } from "../files/FileOperations.js"

const maxBytes = 64 * 1024
const keptLines = 100

/** What an engine removed or rebuilt in a repository by itself, and when. */
export interface Repair {
  /** RFC 3339. */
  readonly at: string
  readonly message: string
}

const fileOf = (repository: string) => path.join(repository, "chainstore", "repairs.log")

const linesOf = (file: string): ReadonlyArray<string> => {
  try {
    return fs
      .readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return []
    throw cause
  }
}

const append = (file: string, line: string): void => {
  fs.appendFileSync(file, line)
  if (fs.statSync(file).size <= maxBytes) return
  const shorter = `${file}.${process.pid}`
  fs.writeFileSync(shorter, `${linesOf(file).slice(-keptLines).join("\n")}\n`)
  fs.renameSync(shorter, file)
}

/** Notes a repair, for whoever examines the repository later, if the disk takes the note. */
export const record = (repository: string, message: string): void => {
  try {
    append(fileOf(repository), `${JSON.stringify({ at: new Date().toISOString(), message })}\n`)
  } catch {
    return
  }
}

const repairOf = (line: string): ReadonlyArray<Repair> => {
  try {
    const { at, message } = JSON.parse(line)
    return typeof at === "string" && typeof message === "string" ? [{ at, message }] : []
  } catch {
    return []
  }
}

/** The newest repairs, the oldest of them first. */
export const list = (repository: string): ReadonlyArray<Repair> =>
  linesOf(fileOf(repository)).slice(-keptLines).flatMap(repairOf)
