import * as fs from "node:fs"
import * as path from "node:path"
import { hasErrorCode } from "../files/FileOperations.js"

const maxBytes = 64 * 1024
const keptLines = 100

/** A file that an engine removed or rebuilt automatically, with the time. */
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

/** Appends a repair to the log, and ignores errors of the disk. */
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

/** The latest repairs, in the order of their times. */
export const list = (repository: string): ReadonlyArray<Repair> =>
  linesOf(fileOf(repository)).slice(-keptLines).flatMap(repairOf)
