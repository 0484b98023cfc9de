import * as fs from "node:fs"
import * as path from "node:path"
import { filesBelow, pathExists } from "../files/Directories.js"
import { hasErrorCode, linkTarget } from "../files/FileOperations.js"
import { gitWritersIn } from "../processes/GitWriters.js"

/*
 * A lock of Git does not name its process, and Git does not remove the locks of killed processes. A file is regarded as left by a
 * killed Git child of an engine if it is younger than the beginning of the engine's child work, if no running Git process that may
 * have written it is older than the file, and if a lock is older than any lock without a process can be.
 */

/** The entries of a directory. Empty if it does not exist: Git removes empty directories at any time. */
export const entriesIn = (directory: string): ReadonlyArray<fs.Dirent> => {
  try {
    return fs.readdirSync(directory, { withFileTypes: true })
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return []
    throw cause
  }
}

/** All lock files and `.keep` files of a repository. */
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

/** The quarantine directories of pushes, which only Git creates. */
const quarantine = /^(tmp_objdir-.*|incoming-.*)$/

/** The names of Git's temporary files and directories, by their parent directory. */
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

/** The content of the `.keep` files of a maintenance. */
export const keepText = "chainstore\n"

const textOf = (file: string): string => {
  try {
    return fs.readFileSync(file, "latin1")
  } catch {
    return ""
  }
}

/** Whether a `.keep` file belongs to a push. Users create such files, too. */
const belongsToPush = (file: string): boolean => textOf(file).startsWith("receive-pack ")

/** Whether a `.keep` file belongs to an engine: to a maintenance, or to a commit, whose file contains the id of the commit. */
const belongsToEngine = (file: string): boolean => {
  const text = textOf(file)
  return text === keepText || /^[0-9a-f]{40}\n$/.test(text)
}

/** The least age of a stale file, in milliseconds, and the one that applies if processes cannot be listed. */
const staleAfter = 300
const staleAfterUnlisted = 60_000
/** The largest difference between the clocks of files and of processes, in milliseconds. */
const clockDifference = 50
const day = 86_400_000

interface StaleFile {
  readonly file: string
  /** The time of its creation or last change, in milliseconds since the epoch. */
  readonly changed: number
}

/** The files that are not hard links to another file, as the locks of living engines are. */
const withoutOtherLinks = (files: ReadonlyArray<string>): ReadonlyArray<StaleFile> =>
  files.flatMap((file) => {
    const stat = fs.lstatSync(file, { throwIfNoEntry: false })
    return stat === undefined || (stat.isFile() && stat.nlink > 1) ? [] : [{ file, changed: stat.ctimeMs }]
  })

const withTimes = (files: ReadonlyArray<string>): ReadonlyArray<StaleFile> =>
  withoutOtherLinks(files).filter(({ file }) => !file.endsWith(".keep") || belongsToPush(file))

export interface Cleared {
  /** The removed paths, relative to the repository. */
  readonly removed: ReadonlyArray<string>
  /** Whether files that may still be in use are left. */
  readonly pending: boolean
}

/** The beginning of the work of an engine's Git children. */
export interface WorkStart {
  /** In milliseconds since the epoch, by the clock at that time. */
  readonly at: number
  /** The milliseconds by which the clock has been set forward since then. */
  readonly clockShift: number
}

/**
 * Removes the files that dead Git processes left since the start of their work. `others` are the start times of processes that
 * cannot be listed here. If the clock has been set meanwhile, a time may be from before or after that, and the one counts by which
 * the file may still be in use.
 */
export const clearSince = (
  repository: string,
  { at, clockShift }: WorkStart,
  others: ReadonlyArray<number>
): Cleared => {
  const found = withTimes([...locksOf(repository), ...temporariesOf(repository)]).filter(
    ({ changed }) => changed >= Math.min(at, at + clockShift)
  )
  if (found.length === 0) return { removed: [], pending: false }
  const listed = gitWritersIn(repository)
  const writers = [
    ...(listed ?? []),
    ...others.map((start) => ({ start: Math.min(start, start + clockShift), waitsForHook: false }))
  ]
  const now = Date.now()
  const unused = found.filter(({ changed, file }) => {
    const changedAt = Math.max(
      ...[changed, changed + clockShift].filter((time) => time <= now + clockDifference)
    )
    const leastAge =
      listed === undefined ? staleAfterUnlisted : quarantine.test(path.basename(file)) ? 0 : staleAfter
    return (
      now - changedAt >= leastAge &&
      !writers.some(
        ({ start, waitsForHook }) =>
          start <= changedAt + clockDifference && !(waitsForHook && file.endsWith(".lock"))
      )
    )
  })
  return { removed: removeAll(repository, unused), pending: unused.length < found.length }
}

/** The `.keep` files of engines. */
const keptByEngines = (repository: string): ReadonlyArray<string> =>
  entriesIn(path.join(repository, "objects", "pack"))
    .filter(({ name }) => name.endsWith(".keep"))
    .map(({ name }) => path.join(repository, "objects", "pack", name))
    .filter(belongsToEngine)

/** Removes temporary files of any program, and `.keep` files of engines, that have not changed for a day. */
export const clearOld = (repository: string): ReadonlyArray<string> => {
  const found = [...withTimes(temporariesOf(repository)), ...withoutOtherLinks(keptByEngines(repository))]
  return removeAll(
    repository,
    found.filter(({ changed }) => isOld(changed))
  )
}

/** Whether a time in milliseconds since the epoch is more than a day ago. */
export const isOld = (changed: number): boolean => Date.now() - changed > day

/** Removes files, except those that cannot be removed, and returns their paths relative to the repository. */
const removeAll = (repository: string, files: ReadonlyArray<StaleFile>): ReadonlyArray<string> =>
  files.flatMap(({ file }) => {
    try {
      fs.rmSync(file, { recursive: true, force: true })
      return [path.relative(repository, file)]
    } catch {
      return []
    }
  })

/** The locks that are older than a minute and do not belong to an engine. */
export const unknownLocks = (repository: string): ReadonlyArray<string> =>
  withTimes(locksOf(repository).filter((file) => file.endsWith(".lock"))).flatMap(({ changed, file }) =>
    Date.now() - changed > staleAfterUnlisted ? [path.relative(repository, file)] : []
  )
