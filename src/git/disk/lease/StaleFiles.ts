import * as fs from "node:fs"
import * as path from "node:path"
import { filesBelow, pathExists } from "../files/Directories.js"
import { hasErrorCode, linkTarget } from "../files/FileOperations.js"
import { gitWritersIn } from "../processes/Processes.js"

/*
 * Git's locks do not tell whose they are, and Git removes none that a killed process left. What a killed child of an
 * engine left is known by the time since when the engine had children: it is younger than that, no Git process that
 * may write it is older than it, and a lock has been there for longer than one is held without a process.
 */

/** What is in a directory; nothing where there is none, as others remove empty ones at any time. */
export const entriesIn = (directory: string): ReadonlyArray<fs.Dirent> => {
  try {
    return fs.readdirSync(directory, { withFileTypes: true })
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return []
    throw cause
  }
}

/** Every lock in a repository, and every file that keeps a pack from being collected. */
export const locksOf = (repository: string): ReadonlyArray<string> => {
  const locks: Array<string> = []
  const look = (directory: string, ending: string) => {
    for (const { name } of entriesIn(directory))
      if (name.endsWith(ending)) locks.push(path.join(directory, name))
  }
  for (const part of ["", "chainstore", "objects/pack", "objects/info", "objects/info/commit-graphs"]) {
    look(path.join(repository, part), ".lock")
  }
  look(path.join(repository, "objects", "pack"), ".keep")
  for (const name of filesBelow(repository, "refs")) {
    if (name.endsWith(".lock")) locks.push(path.join(repository, name))
  }
  const packedRefs = path.join(repository, "packed-refs")
  const shared = linkTarget(packedRefs)
  if (shared !== packedRefs && pathExists(`${shared}.lock`)) locks.push(`${shared}.lock`)
  return locks
}

/** What a push keeps apart until it is applied: no program but Git makes such a directory. */
const quarantine = /^(tmp_objdir-.*|incoming-.*)$/

/** What Git calls files and directories while they are being written, by the directory that they are in. */
const temporaries: Readonly<Record<string, RegExp>> = {
  "": /^packed-refs\.new$/,
  objects: quarantine,
  "objects/pack": /^(tmp_.*|\.tmp-.*)$/,
  "objects/info": /^(tmp_.*|packs_.{6})$/,
  "objects/info/commit-graphs": /^tmp_.*$/
}

const temporariesOf = (repository: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const look = (part: string, pattern: RegExp) => {
    for (const { name } of entriesIn(path.join(repository, part))) {
      if (pattern.test(name)) found.push(path.join(repository, part, name))
    }
  }
  for (const [part, pattern] of Object.entries(temporaries)) look(part, pattern)
  for (const { name } of entriesIn(path.join(repository, "objects"))) {
    if (/^[0-9a-f]{2}$/.test(name)) look(`objects/${name}`, /^tmp_obj_.*$/)
  }
  return found
}

/** Whether a file keeps a pack for a push that is under way; people keep packs too. */
const isOfPush = (file: string): boolean => {
  try {
    return fs.readFileSync(file, "latin1").startsWith("receive-pack ")
  } catch {
    return false
  }
}

/** Milliseconds for which something has to be there that others than Git make too; longer where processes are not listed. */
const patience = 300
const blindPatience = 60_000
/** Milliseconds by which the clocks of files and processes may differ. */
const clockDifference = 50
const day = 86_400_000

interface Leftover {
  readonly file: string
  /** When it was made or changed last, in milliseconds since the epoch. */
  readonly changed: number
}

const timed = (files: ReadonlyArray<string>): ReadonlyArray<Leftover> =>
  files.flatMap((file) => {
    const stat = fs.lstatSync(file, { throwIfNoEntry: false })
    // The lock of an engine is a link to a file of its own.
    if (stat === undefined || (stat.isFile() && stat.nlink > 1)) return []
    return file.endsWith(".keep") && !isOfPush(file) ? [] : [{ file, changed: stat.ctimeMs }]
  })

export interface Cleared {
  /** The paths that were removed, in the repository. */
  readonly removed: ReadonlyArray<string>
  /** Whether something is left that may still be in use. */
  readonly pending: boolean
}

/** When an engine began to have Git children work for it. */
export interface WorkStart {
  /** In milliseconds since the epoch, by the clock as it was set then. */
  readonly at: number
  /** By how many milliseconds the clock has been set forward since. */
  readonly step: number
}

/**
 * Removes what dead Git processes left since the start of their work. Other processes that are not listed here may have
 * worked since the times `others`. Where the clock has been set since, each time may be of before or after that, and the
 * one counts by which the file may still be in use.
 */
export const clearSince = (
  repository: string,
  { at, step }: WorkStart,
  others: ReadonlyArray<number>
): Cleared => {
  const found = timed([...locksOf(repository), ...temporariesOf(repository)]).filter(
    ({ changed }) => changed >= Math.min(at, at + step)
  )
  if (found.length === 0) return { removed: [], pending: false }
  const listed = gitWritersIn(repository)
  const writers = [
    ...(listed ?? []),
    ...others.map((start) => ({ start: Math.min(start, start + step), waits: false }))
  ]
  const now = Date.now()
  const unused = found.filter(({ changed, file }) => {
    const made = Math.max(...[changed, changed + step].filter((time) => time <= now + clockDifference))
    const enough = listed === undefined ? blindPatience : quarantine.test(path.basename(file)) ? 0 : patience
    return (
      now - made >= enough &&
      !writers.some(
        ({ start, waits }) => start <= made + clockDifference && !(waits && file.endsWith(".lock"))
      )
    )
  })
  return { removed: removeAll(repository, unused), pending: unused.length < found.length }
}

/** Removes temporary files that nobody has written to for a day, whoever made them. */
export const clearOld = (repository: string): ReadonlyArray<string> => {
  const old = timed(temporariesOf(repository)).filter(({ changed }) => Date.now() - changed > day)
  return removeAll(repository, old)
}

const removeAll = (repository: string, leftovers: ReadonlyArray<Leftover>): ReadonlyArray<string> =>
  leftovers.map(({ file }) => {
    fs.rmSync(file, { recursive: true, force: true })
    return path.relative(repository, file)
  })

/** Locks that have been there for a minute, and that no engine knows. */
export const unknownLocks = (repository: string): ReadonlyArray<string> =>
  timed(locksOf(repository).filter((file) => file.endsWith(".lock"))).flatMap(({ changed, file }) =>
    Date.now() - changed > blindPatience ? [path.relative(repository, file)] : []
  )
