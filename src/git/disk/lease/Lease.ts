import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { hasHead, makeDirectorySync } from "../files/Directories.js"
import { EngineError } from "../files/EngineError.js"
import { fileIdOf, hasErrorCode, tryUnlink, unlink } from "../files/FileOperations.js"
import * as Liveness from "../processes/LivenessLocks.js"
import {
  asDead,
  bootTime,
  identity,
  isElsewhere,
  isKnownToLive,
  isOfThisBoot,
  isOwn,
  mayLive
} from "../processes/ProcessIdentity.js"
import * as RepairLog from "./RepairLog.js"
import {
  type Cleared,
  clearOld,
  clearSince,
  entriesIn,
  isOld,
  keepText,
  leaseEntriesIn,
  locksOf,
  type WorkStart
} from "./StaleFiles.js"

/*
 * Every engine has a lease: a directory below `chainstore/` in the repository, named after its process. Locks are hard links to
 * files in it, so that the inode of a lock identifies its owner. While Git children work for an engine, its directory contains a
 * file `work-*`. When the process of a lease is dead, another engine claims the directory by renaming it into its own, which only one
 * engine can do. It removes the locks that are links to files of the directory, the files that the children left, and then the
 * directory. What the children left is not marked: StaleFiles says how it is told from the locks of running Git processes. Programs
 * that are not called `git` are not recognised there.
 */

const claimedPrefix = "claimed-"
const workPrefix = "work-"
/** The prefix of the file of work whose child was killed. */
const killedPrefix = "broken-"

/** The delay before the first retry of a removal, and the longest delay between two retries, in milliseconds. */
const [firstDelay, longestDelay] = [20, 30_000]

const isDenied = (cause: unknown) => hasErrorCode(cause, "EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT")

const isSameFile = (a: string, b: string): boolean => {
  const [one, other] = [a, b].map((file) => fs.lstatSync(file, { bigint: true, throwIfNoEntry: false }))
  return one !== undefined && other !== undefined && fileIdOf(one) === fileIdOf(other)
}

/** The lease of one engine: its temporary files, which become objects or locks and identify their owner. */
export class Lease {
  readonly name = [...identity, randomUUID()].join("~")
  readonly directory: string
  private files = 0
  private denied: unknown
  private retryTimer: NodeJS.Timeout | undefined
  private retryDelay = firstDelay
  /** Files that could not be removed, each with the file of this lease to which it is linked, if it is a lock. */
  private readonly left = new Map<string, string | undefined>()
  /** The files `work-*` of killed children that are not yet marked. */
  private readonly killed = new Set<string>()
  /** Called when all files of dead processes have been removed. */
  private readonly whenCleared = new Set<() => void>()

  constructor(private readonly repository: string) {
    this.directory = path.join(repository, "chainstore", this.name)
  }

  /** Acquires the lease. On a full or read-only disk the repository can still be read. */
  open(): void {
    this.denied = undefined
    try {
      makeDirectorySync(this.directory, false)
      Liveness.acquire(this.directory)
      this.recoverDead()
    } catch (cause) {
      if (!isDenied(cause)) throw cause
      this.denied = cause
    }
  }

  /** Whether the repository is writable, as far as is known. */
  get isWritable(): boolean {
    return this.denied === undefined
  }

  /** A new path for a temporary file. */
  temporaryPath(kind: string): string {
    const present = () => hasHead(this.repository)
    // The disk may be writable again.
    if (this.denied !== undefined && present()) this.open()
    if (this.denied !== undefined) throw this.denied
    if (!fs.existsSync(this.directory) && present()) {
      throw new EngineError(
        "Unreachable",
        `The repository ${this.repository} was deleted and created again`,
        "Open it again: this process has opened the deleted one"
      )
    }
    return path.join(this.directory, `${kind}-${(this.files++).toString(36)}`)
  }

  /** Records that Git children begin to work. The returned function records their end; `sound` means that none was killed. */
  beginChildWork(): (sound: boolean) => void {
    const file = this.temporaryPath(`${workPrefix}${bootTime() ?? ""}`)
    fs.writeFileSync(file, "")
    return (sound) => {
      if (sound) return unlink(file)
      this.killed.add(file)
      this.resetRetry()
      this.tryClearAll()
    }
  }

  /** The file to which the `.keep` files of this engine are linked, so that their inode identifies their owner. */
  keepSource(): string {
    const file = path.join(this.directory, "keep")
    try {
      if (!fs.existsSync(file)) fs.writeFileSync(file, keepText)
      return file
    } catch (cause) {
      tryUnlink(file)
      throw cause
    }
  }

  /** Removes the files of dead processes that have not changed for a day, and returns their paths in the repository. */
  clearOld(): ReadonlyArray<string> {
    return clearOld(this.repository, worksElsewhere(path.dirname(this.directory)))
  }

  /**
   * Removes a file. If that fails, it is tried again with the files of dead processes. Returns whether the file is removed. `source` is
   * the file of this lease to which a lock is linked.
   */
  remove(file: string, source = this.left.get(file)): boolean {
    try {
      unlink(file)
      this.forgetLeft(file)
      return true
    } catch {
      this.left.set(file, source)
      this.scheduleRetry()
      return false
    }
  }

  private forgetLeft(file: string): void {
    const source = this.left.get(file)
    this.left.delete(file)
    if (source !== undefined) this.discard(source)
  }

  /** Removes a temporary file, unless it shows whose a lock is that could not be removed. */
  discard(file: string): void {
    if (![...this.left.values()].includes(file)) tryUnlink(file)
  }

  /**
   * Removes a lock of an engine that belongs to no lease, because it was copied with the repository: its file has no other link, and
   * is more than a day old. Returns whether it is removed.
   */
  removeCopied(lock: string): boolean {
    const found = fs.lstatSync(lock, { throwIfNoEntry: false })
    if (found === undefined || found.nlink > 1 || !isOld(found.mtimeMs)) return false
    const [link, taken] = [this.temporaryPath("copied"), this.temporaryPath("copied")]
    try {
      fs.linkSync(lock, link)
      const copied = fs.statSync(link, { bigint: true })
      // Some file systems do not count links. Every lock would look like a copied one there.
      if (copied.nlink !== 2n || !isOld(Number(copied.mtimeMs))) return false
      fs.renameSync(lock, taken)
      if (fs.statSync(taken, { bigint: true }).ino === copied.ino) return true
      // Another engine has removed the copied one and has taken its place.
      fs.linkSync(taken, lock)
      return false
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "EEXIST")) return false
      throw cause
    } finally {
      for (const file of [link, taken]) this.remove(file)
    }
  }

  /** Waits until all files of dead processes have been removed, at most `millis` milliseconds. */
  waitUntilCleared(millis: number): Promise<void> {
    if (this.retryTimer === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.whenCleared.delete(done)
        resolve()
      }
      const timer = setTimeout(done, millis)
      this.whenCleared.add(done)
    })
  }

  /** Releases the lease, as soon as the disk allows it. */
  close(delay = firstDelay): void {
    try {
      this.release()
    } catch {
      setTimeout(() => this.close(Math.min(delay * 2, longestDelay)), delay).unref()
    }
  }

  /** Files of dead processes that could not be removed are left to the next lease. */
  private release(): void {
    this.clearAll()
    this.finishClearing()
    const home = path.dirname(this.directory)
    const names = entriesIn(this.directory).map(({ name }) => name)
    for (const name of names.filter((name) => name.startsWith(claimedPrefix)))
      fs.renameSync(
        path.join(this.directory, name),
        path.join(home, deadName(name.slice(claimedPrefix.length)))
      )
    if (this.left.size > 0 || names.some((name) => name.startsWith(killedPrefix)))
      fs.renameSync(this.directory, path.join(home, deadName(this.name)))
    else fs.rmSync(this.directory, { recursive: true, force: true })
    Liveness.release(this.directory)
  }

  /** Removes the files of dead engines and children, and returns their number. */
  recoverDead(): number {
    if (this.denied !== undefined) return 0
    const home = path.dirname(this.directory)
    for (const { name } of entriesIn(home)) {
      if (name === this.name || !name.includes("~") || mayBeAlive(path.join(home, name))) continue
      try {
        fs.renameSync(path.join(home, name), path.join(this.directory, `${claimedPrefix}${name}`))
      } catch {}
    }
    return this.tryClearAll()
  }

  /** Like `clearAll`. If that fails, it is tried again later: the disk may be full or read-only, or there are no descriptors. */
  private tryClearAll(): number {
    try {
      return this.clearAll()
    } catch {
      for (const done of this.whenCleared) done()
      this.retryLater()
      return 0
    }
  }

  private clearAll(): number {
    let removed = 0
    for (const [file, source] of [...this.left]) {
      // Somebody may have removed the lock, and Git have taken it.
      if (source !== undefined && !isSameFile(file, source)) this.forgetLeft(file)
      else if (this.remove(file)) removed++
    }
    for (const file of this.killed) {
      if (fs.existsSync(file)) fs.renameSync(file, killedName(file))
      this.killed.delete(file)
    }
    const names = entriesIn(this.directory).map(({ name }) => name)
    const clearings = [
      () => this.clearKilled(names.filter((name) => name.startsWith(killedPrefix))),
      ...names
        .filter((name) => name.startsWith(claimedPrefix))
        .map((name) => () => this.clearClaimed(path.join(this.directory, name)))
    ]
    const failures: Array<unknown> = []
    for (const clear of clearings) {
      try {
        removed += clear()
      } catch (cause) {
        failures.push(cause)
      }
    }
    if (failures.length > 0) throw failures[0]
    this.scheduleRetry()
    return removed
  }

  /** Removes what killed children have left, with one look for all of them, and returns the number of removed files. */
  private clearKilled(names: ReadonlyArray<string>): number {
    const files = names.map((name) => path.join(this.directory, name))
    const { pending, removed } = this.clearWork(files.map((file) => startOf(file, this.name)))
    if (!pending) for (const file of files) unlink(file)
    return removed.length
  }

  /** Schedules a retry while files are left that may still be in use, or could not be removed. */
  private scheduleRetry(): void {
    const isPending =
      this.left.size > 0 ||
      this.killed.size > 0 ||
      entriesIn(this.directory).some(
        ({ name }) => name.startsWith(claimedPrefix) || name.startsWith(killedPrefix)
      )
    if (isPending) this.retryLater()
    else this.finishClearing()
  }

  private retryLater(): void {
    this.retryTimer ??= setTimeout(() => {
      this.retryTimer = undefined
      this.retryDelay = Math.min(this.retryDelay * 2, longestDelay)
      this.tryClearAll()
    }, this.retryDelay).unref()
  }

  private resetRetry(): void {
    clearTimeout(this.retryTimer)
    this.retryTimer = undefined
    this.retryDelay = firstDelay
  }

  private finishClearing(): void {
    this.resetRetry()
    for (const done of this.whenCleared) done()
  }

  private clearWork(starts: ReadonlyArray<WorkStart>): Cleared {
    const [first] = [...starts].sort((a, b) => a.at - b.at)
    if (first === undefined) return { removed: [], pending: false }
    const others = worksElsewhere(path.dirname(this.directory))
    const cleared = clearSince(this.repository, first, others, this.directory)
    for (const file of cleared.removed) this.recordRemoval(file, "a Git child")
    return cleared
  }

  private clearClaimed(claimed: string): number {
    const linked = new Set<string>()
    const starts: Array<WorkStart> = []
    for (const entry of fs.readdirSync(claimed, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || Liveness.isLockFile(entry.name)) continue
      const file = path.join(entry.parentPath, entry.name)
      const stat = fs.statSync(file, { bigint: true })
      if (stat.nlink > 1n) linked.add(fileIdOf(stat))
      if (isWork(entry.name))
        starts.push(startOf(file, path.basename(entry.parentPath).replace(claimedPrefix, "")))
    }
    let removed = 0
    let isLeft = false
    if (linked.size > 0) {
      const hidden: Array<EngineError> = []
      const locks = locksOf(this.repository, hidden)
      isLeft = hidden.length > 0
      for (const lock of locks) {
        const stat = fs.lstatSync(lock, { bigint: true, throwIfNoEntry: false })
        if (stat === undefined || !linked.has(fileIdOf(stat))) continue
        try {
          unlink(lock)
        } catch {
          isLeft = true
          continue
        }
        removed++
        this.recordRemoval(path.relative(this.repository, lock), "an engine")
      }
    }
    const cleared = this.clearWork(starts)
    removed += cleared.removed.length
    if (cleared.pending || isLeft) return removed
    fs.rmSync(claimed, { recursive: true, force: true })
    return removed
  }

  private recordRemoval(file: string, owner: string): void {
    RepairLog.record(this.repository, `removed ${file}, which ${owner} left when it was killed`)
  }
}

const isWork = (name: string): boolean => name.startsWith(workPrefix) || name.startsWith(killedPrefix)

/** The name of a file `work-*` after its child was killed. */
const killedName = (file: string): string =>
  path.join(path.dirname(file), path.basename(file).replace(workPrefix, killedPrefix))

/** The start of the work that a file `work-*` records. `owner` is the name of its directory. */
const startOf = (file: string, owner: string): WorkStart => {
  const then = Number(/-(\d+)-/.exec(path.basename(file))?.[1] ?? Number.NaN)
  const now = isOfThisBoot(owner.split("~")) ? bootTime() : undefined
  return {
    // A rename changes the ctime of a file, but not its mtime.
    at: fs.statSync(file).mtimeMs,
    clockShift: now === undefined || Number.isNaN(then) ? 0 : now - then
  }
}

/** The name of a lease directory whose owner counts as dead. */
const deadName = (name: string): string => asDead(name.split("~")).join("~")

/** Whether a process that is known to be alive has a repository open. */
export const hasLivingEngine = (repository: string): boolean => {
  const home = path.join(repository, "chainstore")
  return (leaseEntriesIn(home) ?? []).some(({ name }) => {
    const owner = name.split("~")
    if (isKnownToLive(owner)) return true
    return isElsewhere(owner) && Liveness.isReleased(path.join(home, name), "process") === false
  })
}

/** Whether the owner of a lease directory may be alive. */
const mayBeAlive = (directory: string): boolean => {
  const owner = path.basename(directory).split("~")
  // Another thread of this process may have been terminated.
  const isAsked = isElsewhere(owner) || (isOwn(owner) && !Liveness.isHeldHere(directory))
  return mayLive(owner) && !(isAsked && Liveness.isReleased(directory, "process") === true)
}

/**
 * The start times, in milliseconds since the epoch, of work whose Git children may still run in other pid namespaces of this
 * machine. Those processes cannot be listed here.
 */
const worksElsewhere = (home: string): ReadonlyArray<number> =>
  entriesIn(home).flatMap((entry) => {
    if (!entry.isDirectory()) return []
    const directory = path.join(home, entry.name)
    const owner = entry.name.replace(claimedPrefix, "").split("~")
    const entries = leaseEntriesIn(directory)
    // Whatever another user hides may still work.
    if (entries === undefined) return isElsewhere(owner) ? [0] : []
    const nested = worksElsewhere(directory)
    if (!isElsewhere(owner)) return nested
    const works = entries.flatMap(({ name }) => {
      const stat = fs.lstatSync(path.join(directory, name), { throwIfNoEntry: false })
      return name.startsWith(workPrefix) && stat !== undefined ? [stat.mtimeMs] : []
    })
    if (works.length === 0) return nested
    const isReleased = Liveness.isReleased(directory, "children")
    // Unknown where files cannot be locked. The children of a process that may be alive may run, too.
    const mayRun = isReleased === undefined ? mayLive(owner) : !isReleased
    return mayRun ? [...nested, ...works] : nested
  })
