import * as fs from "node:fs"
import * as path from "node:path"
import { filesBelow, pathExists } from "../files/Directories.js"
import { damageIn, type EngineError } from "../files/EngineError.js"
import { fileIdOf, hasErrorCode, linkTarget } from "../files/FileOperations.js"
import { gitWritersIn } from "../processes/GitWriters.js"

/*
 * A lock of Git does not name its process, and Git does not remove the locks of killed processes. A file is regarded as left by a
 * killed Git child of an engine if it is younger than the beginning of the engine's child work, if no running Git process that may
 * have written it is older than the file, and if a lock is older than any lock without a process can be. A lock that another program
 * (JGit, libgit2) holds for longer than that meanwhile cannot be told from one that was left, and is removed.
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

/** The entries of the directory of an engine; undefined if another user hides it. */
export const leaseEntriesIn = (directory: string): ReadonlyArray<fs.Dirent> | undefined => {
  try {
    return entriesIn(directory)
  } catch (cause) {
    if (hasErrorCode(cause, "EACCES", "EPERM")) return undefined
    throw cause
  }
}

/** Whether the entries of a directory can be looked at. If not, the reason is added to `hidden`. */
const mayLookIn = (directory: string, hidden: Array<EngineError>): boolean => {
  const damage = damageIn(directory)
  if (damage !== undefined) hidden.push(damage)
  return damage === undefined
}

/** The entries of a directory. Empty if they cannot be looked at. */
const visibleIn = (directory: string, hidden: Array<EngineError> = []): ReadonlyArray<fs.Dirent> =>
  mayLookIn(directory, hidden) ? entriesIn(directory) : []

/** All lock files and `.keep` files of a repository, except those in directories that are `hidden`. */
export const locksOf = (repository: string, hidden: Array<EngineError> = []): ReadonlyArray<string> => {
  const locks: Array<string> = []
  const look = (directory: string, ending: string) => {
    for (const { name } of visibleIn(directory, hidden))
      if (name.endsWith(ending)) locks.push(path.join(directory, name))
  }
  for (const part of ["", "chainstore", "objects/pack", "objects/info", "objects/info/commit-graphs"]) {
    look(path.join(repository, part), ".lock")
  }
  look(path.join(repository, "objects", "pack"), ".keep")
  const mayContain = (directory: string) => mayLookIn(path.join(repository, directory), hidden)
  for (const name of mayContain("refs") ? filesBelow(repository, "refs", mayContain) : []) {
    if (name.endsWith(".lock")) locks.push(path.join(repository, name))
  }
  const packedRefs = path.join(repository, "packed-refs")
  const shared = linkTarget(packedRefs)
  if (shared !== packedRefs && pathExists(`${shared}.lock`)) locks.push(`${shared}.lock`)
  return locks
}

/** The quarantine directories of pushes, which only Git creates. */
const quarantine = /^(tmp_objdir-.*|incoming-.*)$/

/** The files, by their paths in the repository, that commands which only show something write: see `GitWriter.writes`. */
const cache = /^(index\.lock|refs\/notes\/textconv\/.*\.lock|objects\/tmp_objdir-remerge-diff-[^/]*)$/

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
    for (const { name } of visibleIn(path.join(repository, part))) {
      if (pattern.test(name)) found.push(path.join(repository, part, name))
    }
  }
  for (const [part, pattern] of Object.entries(temporaries)) look(part, pattern)
  for (const { name } of visibleIn(path.join(repository, "objects"))) {
    if (/^[0-9a-f]{2}$/.test(name)) look(`objects/${name}`, /^tmp_obj_.*$/)
  }
  return found
}

/** The content of the `.keep` files of engines. Users create such files, too, with any other content. */
export const keepText = "chainstore\n"

const textOf = (file: string): string => {
  try {
    return fs.readFileSync(file, "latin1")
  } catch {
    return ""
  }
}

/** The content of the `.keep` files with which a push or a fetch protects its pack until refs name the objects. */
const keepTextOfGit = /^(receive|fetch)-pack \d+ on .*\n?$/

/** The least age of a stale file, in milliseconds, and the one that applies if processes cannot be listed. */
const staleAfter = 300
const staleAfterUnlisted = 60_000
/** The precision of the times of files and of processes, in milliseconds. */
const precision = 50
const day = 86_400_000
/** The age at which Git deletes such files without a look at processes, in milliseconds. */
const fortnight = 14 * day

interface StaleFile {
  readonly file: string
  /** The time of its creation or last change, in milliseconds since the epoch. */
  readonly changed: number
}

const changeOf = ({ ctimeNs }: fs.BigIntStats): number => Number(ctimeNs) / 1_000_000

interface FoundFile extends StaleFile {
  readonly stat: fs.BigIntStats
}

const existing = (files: ReadonlyArray<string>): ReadonlyArray<FoundFile> =>
  files.flatMap((file) => {
    const stat = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? [] : [{ file, stat, changed: changeOf(stat) }]
  })

/** The files that are not hard links to a file elsewhere, as the locks of living engines are. */
const withoutOtherLinks = (files: ReadonlyArray<string>): ReadonlyArray<StaleFile> => {
  const found = existing(files)
  const links = new Map<string, bigint>()
  for (const { stat } of found) links.set(fileIdOf(stat), (links.get(fileIdOf(stat)) ?? 0n) + 1n)
  return found.filter(({ stat }) => !stat.isFile() || stat.nlink <= links.get(fileIdOf(stat))!)
}

/** The files that a Git process without a lease may have left. A `.keep` file of an engine or a user is none of them. */
const leftByGit = (files: ReadonlyArray<string>): ReadonlyArray<StaleFile> =>
  withoutOtherLinks(files).filter(({ file }) => !file.endsWith(".keep") || keepTextOfGit.test(textOf(file)))

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
 * The time by the clock of the disk, which may be that of a file server, and the milliseconds by which it is behind that of this
 * machine. A delay of this process only makes them larger.
 */
const diskClock = (leaseDirectory: string) => {
  const now = new Date()
  // The disk sets the ctime. This needs no space, unlike a new file.
  fs.utimesSync(leaseDirectory, now, now)
  const { ctimeMs } = fs.statSync(leaseDirectory)
  return { diskNow: ctimeMs, behind: Math.max(0, Date.now() - ctimeMs) }
}

/**
 * Removes the files that dead Git processes left since the start of their work. `others` are the start times of processes that
 * cannot be listed here. If the clock has been set meanwhile, a time may be from before or after that, and the one counts by which
 * the file may still be in use.
 */
export const clearSince = (
  repository: string,
  { at, clockShift }: WorkStart,
  others: ReadonlyArray<number>,
  leaseDirectory: string
): Cleared => {
  const found = leftByGit([...locksOf(repository), ...temporariesOf(repository)]).filter(
    ({ changed }) => changed >= Math.min(at, at + clockShift)
  )
  if (found.length === 0) return { removed: [], pending: false }
  const listed = gitWritersIn(repository)
  const writers = [
    ...(listed ?? []),
    ...others.map((start) => ({
      start: Math.min(start, start + clockShift),
      waitsForHook: false,
      writes: "anything"
    }))
  ]
  const { behind, diskNow } = diskClock(leaseDirectory)
  const unused = found.filter(({ changed, file }) => {
    const times = [changed, changed + clockShift].filter((time) => time <= diskNow + precision)
    // A file from the future counts as changed now: the clock was set back before the work began.
    const changedAt = times.length === 0 ? diskNow : Math.max(...times)
    const leastAge =
      listed === undefined ? staleAfterUnlisted : quarantine.test(path.basename(file)) ? 0 : staleAfter
    return (
      diskNow - changedAt >= leastAge &&
      !writers.some(
        ({ start, waitsForHook, writes }) =>
          start <= changedAt + behind + precision &&
          !(waitsForHook && file.endsWith(".lock")) &&
          !(writes === "caches" && !cache.test(path.relative(repository, file)))
      )
    )
  })
  const removed = removeAll(repository, unused)
  return { removed, pending: removed.length < found.length }
}

/** The `.keep` files of packs that engines, pushes and fetches have made. */
const keptForOthers = (repository: string): ReadonlyArray<string> =>
  visibleIn(path.join(repository, "objects", "pack"))
    .filter(({ name }) => name.endsWith(".keep"))
    .map(({ name }) => path.join(repository, "objects", "pack", name))
    .filter((file) => {
      const text = textOf(file)
      return text === keepText || keepTextOfGit.test(text)
    })

/**
 * Removes temporary files of any program, and `.keep` files of engines, pushes and fetches, that have not changed for a day. None is
 * removed while Git processes may write in the repository, of which `others` cannot be listed here: a push may take days, and if the
 * clock was set forward, the ages of files say nothing.
 */
export const clearOld = (repository: string, others: ReadonlyArray<number>): ReadonlyArray<string> => {
  const files = [...temporariesOf(repository), ...keptForOthers(repository)]
  const found = existing(files).filter(({ changed }) => isOld(changed))
  if (found.length === 0 || others.length > 0) return []
  // The number of links says nothing: Git makes links to all files of packs for a clone on the same disk.
  const leases = leasesOf(repository)
  const owned = new Set(leases.flatMap((lease) => lease.files ?? []))
  const isHidden = leases.some((lease) => lease.files === undefined)
  const old = found.filter(
    ({ file, stat }) => !(isHidden && file.endsWith(".keep")) && !owned.has(fileIdOf(stat))
  )
  const writers = gitWritersIn(repository)
  return removeAll(
    repository,
    old.filter(({ changed, file }) =>
      writers === undefined
        ? Date.now() - changed > fortnight
        : writers.every(({ writes }) => writes === "caches" && !cache.test(path.relative(repository, file)))
    )
  )
}

/** Whether a time in milliseconds since the epoch is more than a day ago. */
export const isOld = (changed: number): boolean => Date.now() - changed > day

/** Whether a file is as it was found. Another process may have removed it, and Git may have made it again. */
const isUnchanged = ({ changed, file }: StaleFile): boolean => {
  const stat = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false })
  return stat !== undefined && changeOf(stat) === changed
}

/** Removes files, except those that have changed or cannot be removed, and returns their paths relative to the repository. */
const removeAll = (repository: string, files: ReadonlyArray<StaleFile>): ReadonlyArray<string> =>
  // A removal changes the other links to the same file.
  files.filter(isUnchanged).flatMap(({ file }) => {
    try {
      fs.rmSync(file, { recursive: true, force: true })
      return [path.relative(repository, file)]
    } catch {
      return []
    }
  })

/** Those of the locks that are older than a minute and do not belong to an engine. Paths are relative to the repository. */
export const unknownLocks = (repository: string, locks: ReadonlyArray<string>): ReadonlyArray<string> =>
  leftByGit(locks.filter((file) => file.endsWith(".lock"))).flatMap(({ changed, file }) =>
    Date.now() - changed > staleAfterUnlisted ? [path.relative(repository, file)] : []
  )

/** The directories of engines, with the ids of their files; without them if another user hides it. */
const leasesOf = (repository: string) => {
  const home = path.join(repository, "chainstore")
  return entriesIn(home).flatMap((lease) => {
    if (!lease.isDirectory() || !lease.name.includes("~")) return []
    const files = leaseEntriesIn(path.join(home, lease.name))?.map(({ name }) =>
      path.join(home, lease.name, name)
    )
    return [{ name: lease.name, files: files && existing(files).map(({ stat }) => fileIdOf(stat)) }]
  })
}

/** Those of the locks that engines have held for more than a day, and the directories of their owners, relative to the repository. */
export const oldLocks = (
  repository: string,
  locks: ReadonlyArray<string>
): ReadonlyArray<{ readonly lock: string; readonly owner: string }> => {
  const old = locks.flatMap((file) => {
    const stat = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false })
    const isOldLock = stat !== undefined && file.endsWith(".lock") && stat.nlink > 1n && isOld(changeOf(stat))
    return isOldLock ? [{ id: fileIdOf(stat), lock: path.relative(repository, file) }] : []
  })
  if (old.length === 0) return []
  return leasesOf(repository).flatMap(({ files, name }) =>
    old.flatMap(({ id, lock }) => (files?.includes(id) ? [{ lock, owner: `chainstore/${name}` }] : []))
  )
}
