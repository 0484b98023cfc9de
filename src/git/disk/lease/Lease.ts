import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { hasHead, makeDirectorySync } from "../files/Directories.js"
import { EngineError } from "../files/EngineError.js"
import { hasErrorCode, unlink } from "../files/FileOperations.js"
import * as Liveness from "../processes/LivenessLocks.js"
import { asDead, bootTime, identity, isElsewhere, isOfThisBoot, mayLive } from "../processes/Processes.js"
import * as Repairs from "./RepairLog.js"
import { type Cleared, clearSince, entriesIn, locksOf, type WorkStart } from "./StaleFiles.js"

/*
 * Every engine has a directory of its own below `chainstore/` in the repository, named after its process. Locks are
 * hard links to files in it, so that a lock's inode tells whose it is. While Git children work for an engine, a file
 * in its directory says so. When its process is dead, another one claims the directory by renaming it into its own
 * (one winner), removes the locks that are links to its files and what its children left, and then the directory.
 * Locks of anybody else are never touched.
 */

const claim = "claimed-"
const work = "work-"
/** Work that ended when a child was killed. */
const broken = "broken-"

/** Milliseconds until the first look for what could not be removed yet, and between two looks at most. */
const [firstLook, lastLook] = [20, 30_000]

const isDenied = (cause: unknown) => hasErrorCode(cause, "EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT")

/** One engine's place in a repository: temporary files that become objects or locks, and the proof of who made them. */
export class Lease {
  readonly name = [...identity, randomUUID()].join("~")
  readonly directory: string
  private files = 0
  private denied: unknown
  private look: NodeJS.Timeout | undefined
  private untilLook = firstLook
  /** Told when nothing is left that is still to be removed. */
  private readonly cleared = new Set<() => void>()

  constructor(private readonly repository: string) {
    this.directory = path.join(repository, "chainstore", this.name)
  }

  /** Takes the place. On a disk that cannot be written, or is full, the repository can still be read. */
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

  /** Whether the repository can be written, as far as is known. */
  get isWritable(): boolean {
    return this.denied === undefined
  }

  /** A fresh path for a temporary file. */
  temporaryPath(kind: string): string {
    const present = () => hasHead(this.repository)
    // The disk may have been mended since.
    if (this.denied !== undefined && present()) this.open()
    if (this.denied !== undefined) throw this.denied
    if (!fs.existsSync(this.directory) && present()) {
      throw new EngineError(
        "Unreachable",
        `The repository ${this.repository} was deleted and made again`,
        "Open it again: this process still holds the one that is gone"
      )
    }
    return path.join(this.directory, `${kind}-${(this.files++).toString(36)}`)
  }

  /** Says that Git children work here from now on. They are over when the answer is called: `sound` if none was killed. */
  beginChildWork(): (sound: boolean) => void {
    const file = this.temporaryPath(`${work}${bootTime() ?? ""}`)
    fs.writeFileSync(file, "")
    return (sound) => {
      if (sound) return unlink(file)
      fs.renameSync(file, path.join(this.directory, path.basename(file).replace(work, broken)))
      clearTimeout(this.look)
      this.look = undefined
      this.untilLook = firstLook
      this.clearAll()
    }
  }

  /** Waits until nothing of dead processes is left, at most so many milliseconds. */
  waitUntilCleared(millis: number): Promise<void> {
    if (this.look === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.cleared.delete(done)
        resolve()
      }
      const timer = setTimeout(done, millis)
      this.cleared.add(done)
    })
  }

  /** Gives the place up. What is not cleared yet of dead processes is left to the next owner. */
  close(): void {
    this.clearAll()
    this.rest()
    const home = path.dirname(this.directory)
    const own = path.join(home, deadName(this.name))
    for (const { name } of entriesIn(this.directory)) {
      const file = path.join(this.directory, name)
      if (name.startsWith(claim)) fs.renameSync(file, path.join(home, deadName(name.slice(claim.length))))
      if (!name.startsWith(broken)) continue
      makeDirectorySync(own, false)
      fs.renameSync(file, path.join(own, name))
    }
    fs.rmSync(this.directory, { recursive: true, force: true })
    Liveness.release(this.directory)
  }

  /** Clears up after owners and children that are dead; answers how many files were removed. */
  recoverDead(): number {
    if (this.denied !== undefined) return 0
    const home = path.dirname(this.directory)
    for (const { name } of entriesIn(home)) {
      if (name === this.name || !name.includes("~") || mayOwn(path.join(home, name))) continue
      try {
        fs.renameSync(path.join(home, name), path.join(this.directory, `${claim}${name}`))
      } catch {}
    }
    return this.clearAll()
  }

  private clearAll(): number {
    let removed = 0
    for (const { name } of entriesIn(this.directory)) {
      const file = path.join(this.directory, name)
      if (name.startsWith(claim)) removed += this.clear(file)
      else if (name.startsWith(broken)) {
        const cleared = this.clearWork([startOf(file, this.name)])
        removed += cleared.removed.length
        if (!cleared.pending) unlink(file)
      }
    }
    this.lookAgain()
    return removed
  }

  /** Looks again by itself as long as something is left that may still be in use. */
  private lookAgain(): void {
    const pending = entriesIn(this.directory).some(
      ({ name }) => name.startsWith(claim) || name.startsWith(broken)
    )
    if (!pending) {
      this.rest()
      return
    }
    this.look ??= setTimeout(() => {
      this.look = undefined
      this.untilLook = Math.min(this.untilLook * 2, lastLook)
      try {
        this.clearAll()
      } catch {
        // A disk that is full or gone; whoever writes next is told.
        this.rest()
      }
    }, this.untilLook).unref()
  }

  private rest(): void {
    clearTimeout(this.look)
    this.look = undefined
    this.untilLook = firstLook
    for (const done of this.cleared) done()
  }

  private clearWork(starts: ReadonlyArray<WorkStart>): Cleared {
    const [first] = [...starts].sort((a, b) => a.at - b.at)
    if (first === undefined) return { removed: [], pending: false }
    const cleared = clearSince(this.repository, first, worksElsewhere(path.dirname(this.directory)))
    for (const file of cleared.removed) this.note(file, "a Git child")
    return cleared
  }

  private clear(claimed: string): number {
    const inodes = new Set<bigint>()
    const starts: Array<WorkStart> = []
    for (const entry of fs.readdirSync(claimed, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || Liveness.isLockFile(entry.name)) continue
      const file = path.join(entry.parentPath, entry.name)
      const stat = fs.statSync(file, { bigint: true })
      if (stat.nlink > 1n) inodes.add(stat.ino)
      if (isWork(entry.name)) starts.push(startOf(file, path.basename(entry.parentPath).replace(claim, "")))
    }
    let removed = 0
    if (inodes.size > 0) {
      for (const lock of locksOf(this.repository)) {
        const stat = fs.lstatSync(lock, { bigint: true, throwIfNoEntry: false })
        if (stat !== undefined && inodes.has(stat.ino)) {
          unlink(lock)
          removed++
          this.note(path.relative(this.repository, lock), "an engine")
        }
      }
    }
    const cleared = this.clearWork(starts)
    removed += cleared.removed.length
    if (cleared.pending) return removed
    fs.rmSync(claimed, { recursive: true, force: true })
    return removed
  }

  private note(file: string, whose: string): void {
    Repairs.record(this.repository, `removed ${file}, which ${whose} that is dead had left`)
  }
}

const isWork = (name: string): boolean => name.startsWith(work) || name.startsWith(broken)

/** When the work began that a file tells of, in a directory that is named after its owner. */
const startOf = (file: string, owner: string): WorkStart => {
  const then = Number(/-(\d+)-/.exec(path.basename(file))?.[1] ?? Number.NaN)
  const now = isOfThisBoot(owner.split("~")) ? bootTime() : undefined
  return {
    // A rename changes the time of a file's status, but not that of its content.
    at: fs.statSync(file).mtimeMs,
    step: now === undefined || Number.isNaN(then) ? 0 : now - then
  }
}

/** A name of a directory whose owner nobody takes for alive. */
const deadName = (name: string): string => asDead(name.split("~")).join("~")

/** Whether the owner that a directory is named after may still live. */
const mayOwn = (directory: string): boolean => {
  const its = path.basename(directory).split("~")
  return mayLive(its) && !(isElsewhere(its) && Liveness.isReleased(directory, "process") === true)
}

/**
 * When the work began, in milliseconds since the epoch, for which Git children may still run in other pid namespaces of
 * this machine. They are not listed here.
 */
const worksElsewhere = (home: string): ReadonlyArray<number> =>
  entriesIn(home).flatMap((entry) => {
    if (!entry.isDirectory()) return []
    const directory = path.join(home, entry.name)
    const nested = worksElsewhere(directory)
    const its = entry.name.replace(claim, "").split("~")
    if (!isElsewhere(its)) return nested
    const works = entriesIn(directory).flatMap(({ name }) => {
      const stat = fs.lstatSync(path.join(directory, name), { throwIfNoEntry: false })
      return name.startsWith(work) && stat !== undefined ? [stat.mtimeMs] : []
    })
    return works.length > 0 && Liveness.isReleased(directory, "children") === false
      ? [...nested, ...works]
      : nested
  })
