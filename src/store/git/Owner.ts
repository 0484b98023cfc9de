import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { hasCode, unlink } from "./Disk.js"
import { Fault } from "./Fault.js"

/*
 * Every engine has a directory of its own below `chainstore/` in the repository, named after its process. Locks are
 * hard links to files in it, so that a lock's inode tells whose it is. When its process is dead, another one claims
 * the directory by renaming it into its own (one winner), removes the locks that are links to its files, and then
 * the directory. Locks of anybody else are never touched.
 */

const readText = (file: string): string | undefined => {
  try {
    return fs.readFileSync(file, "utf8").trim()
  } catch {
    return undefined
  }
}

const linkText = (file: string): string => {
  try {
    return fs.readlinkSync(file)
  } catch {
    return ""
  }
}

const machine = `${os.hostname()}${linkText("/proc/self/ns/pid")}`.replace(/[^A-Za-z0-9-]+/g, "_")
const boot = (readText("/proc/sys/kernel/random/boot_id") ?? "unknown").replace(/[^A-Za-z0-9-]+/g, "_")

/** When a process started, in the kernel's own count; undefined where it is not told. */
const startOf = (pid: number): string | undefined => {
  const stat = readText(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
}

/** The name of this process among all that there were on its machine. */
export const processName = [machine, boot, process.pid, startOf(process.pid) ?? "unknown"].join("~")

/** Whether the process that owns a directory may still live. Unknown machines count as alive. */
export const mayLive = (name: string): boolean => {
  const [itsMachine, itsBoot, pidText, start] = name.split("~")
  if (itsMachine !== machine || itsBoot === undefined || pidText === undefined) return true
  if (itsBoot !== boot) return false
  const pid = Number(pidText)
  try {
    process.kill(pid, 0)
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ESRCH") return false
  }
  const now = startOf(pid)
  return start === "unknown" || now === undefined || now === start
}

const claim = "claimed-"

/** What is in a directory; nothing where there is none, as others remove empty ones at any time. */
const entriesIn = (directory: string): ReadonlyArray<fs.Dirent> => {
  try {
    return fs.readdirSync(directory, { withFileTypes: true })
  } catch (cause) {
    if (hasCode(cause, "ENOENT", "ENOTDIR")) return []
    throw cause
  }
}

const isDenied = (cause: unknown) => hasCode(cause, "EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT")

/** One engine's place in a repository: temporary files that become objects or locks, and the proof of who made them. */
export class Owner {
  readonly name = `${processName}~${randomUUID()}`
  readonly directory: string
  private files = 0
  private denied: unknown

  constructor(private readonly repository: string) {
    this.directory = path.join(repository, "chainstore", this.name)
  }

  /** Takes the place. On a disk that cannot be written, or is full, the repository can still be read. */
  open(): void {
    this.denied = undefined
    try {
      fs.mkdirSync(this.directory, { recursive: true })
      this.recover()
    } catch (cause) {
      if (!isDenied(cause)) throw cause
      this.denied = cause
    }
  }

  /** A fresh path for a temporary file. */
  temporary(kind: string): string {
    const present = () => fs.existsSync(path.join(this.repository, "HEAD"))
    // The disk may have been mended since.
    if (this.denied !== undefined && present()) this.open()
    if (this.denied !== undefined) throw this.denied
    if (!fs.existsSync(this.directory) && present()) {
      throw new Fault(
        "Unreachable",
        `The repository ${this.repository} was deleted and made again`,
        "Open it again: this process still holds the one that is gone"
      )
    }
    return path.join(this.directory, `${kind}-${(this.files++).toString(36)}`)
  }

  close(): void {
    // What was claimed and not cleared tells whose a lock is: then all of it stays, for whoever finds this process dead.
    this.clearAll()
    fs.rmSync(this.directory, { recursive: true, force: true })
  }

  /** Clears up after owners that are dead; answers how many locks were removed. */
  recover(): number {
    if (this.denied !== undefined) return 0
    const home = path.dirname(this.directory)
    for (const { name } of entriesIn(home)) {
      if (name === this.name || !name.includes("~") || mayLive(name)) continue
      try {
        fs.renameSync(path.join(home, name), path.join(this.directory, `${claim}${name}`))
      } catch {}
    }
    return this.clearAll()
  }

  private clearAll(): number {
    let removed = 0
    for (const { name } of entriesIn(this.directory)) {
      if (name.startsWith(claim)) removed += this.clear(path.join(this.directory, name))
    }
    return removed
  }

  private clear(claimed: string): number {
    const inodes = new Set<number>()
    for (const entry of fs.readdirSync(claimed, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const stat = fs.statSync(path.join(entry.parentPath, entry.name))
      if (stat.nlink > 1) inodes.add(stat.ino)
    }
    let removed = 0
    if (inodes.size > 0) {
      for (const lock of locksOf(this.repository)) {
        const stat = fs.lstatSync(lock, { throwIfNoEntry: false })
        if (stat !== undefined && inodes.has(stat.ino)) {
          unlink(lock)
          removed++
        }
      }
    }
    fs.rmSync(claimed, { recursive: true, force: true })
    return removed
  }
}

const locksOf = (repository: string): Array<string> => {
  const locks: Array<string> = []
  const look = (directory: string, ending: string, below: boolean) => {
    for (const entry of entriesIn(directory)) {
      const at = path.join(directory, entry.name)
      if (entry.isDirectory() && below) look(at, ending, below)
      else if (entry.name.endsWith(ending)) locks.push(at)
    }
  }
  look(repository, ".lock", false)
  look(path.join(repository, "chainstore"), ".lock", false)
  look(path.join(repository, "objects", "pack"), ".keep", false)
  look(path.join(repository, "refs"), ".lock", true)
  return locks
}
