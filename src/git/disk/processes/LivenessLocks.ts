import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

/*
 * A process in another pid namespace cannot be looked up by its pid. So each process holds an advisory lock (`flock`) on a file in
 * its lease directories. The kernel releases it when the process ends, which processes in every namespace can observe. Node has no
 * `flock`, so `flock(1)` locks a descriptor that it inherits; the lock belongs to the open file and stays with Node. A second file is
 * locked through a descriptor that Git children inherit, too: it is released when the last of them has ended. All lease
 * directories on one file system have hard links to the same two files.
 */

const overlay = 0x794c7630
/** Milliseconds for which a lock that was found held counts as held. Each check starts a child process. */
const cachedMillis = 250

export type LockKind = "process" | "children"

/** Tries to lock an open file without waiting, and returns whether it succeeded. */
const flock = (fd: number, mode: "-x" | "-s"): boolean => {
  const done = spawnSync("flock", ["-n", mode, "3"], { stdio: ["ignore", "ignore", "ignore", fd] })
  return done.error === undefined && done.status === 0
}

/**
 * Identifies the file system of a directory. A lock is visible only through the same mount: a disk that is mounted twice, or a layer
 * below an overlay, has other inodes. The number of an overlay changes when its container restarts, so it is not used; an overlay
 * cannot be mounted twice at a time.
 */
const deviceOf = (directory: string): string =>
  fs.statfsSync(directory).type === overlay ? "overlay" : fs.statSync(directory).dev.toString(16)

/** The two locked files of this process on one file system. */
interface HeldLocks {
  readonly device: string
  readonly process: number
  readonly children: number
}

const held = new Map<string, HeldLocks>()

const fileOf = (directory: string, kind: LockKind, device: string) =>
  path.join(directory, `${kind}-${device}`)

/** Links both files of one directory into another one, and returns whether it succeeded. */
const link = (from: string, to: string, device: string): boolean => {
  try {
    // The order matters: if the file `process` exists, `children` exists.
    for (const kind of ["children", "process"] as const) {
      fs.linkSync(fileOf(from, kind, device), fileOf(to, kind, device))
    }
    return true
  } catch {
    return false
  }
}

/** Creates a locked file. It gets its name after it is locked. */
const lock = (directory: string, kind: LockKind, device: string): number => {
  const file = fileOf(directory, kind, device)
  const fd = fs.openSync(`${file}.new`, "w", 0o600)
  if (flock(fd, "-x")) {
    fs.renameSync(`${file}.new`, file)
    return fd
  }
  fs.closeSync(fd)
  fs.unlinkSync(`${file}.new`)
  throw new Error("flock is not available")
}

const lockBoth = (directory: string, device: string): HeldLocks => {
  const children = lock(directory, "children", device)
  try {
    return { device, children, process: lock(directory, "process", device) }
  } catch (cause) {
    fs.closeSync(children)
    // An unlocked file would mean that the children have ended.
    fs.unlinkSync(fileOf(directory, "children", device))
    throw cause
  }
}

const isHeld = (searched: HeldLocks) => [...held.values()].includes(searched)

/** Locks the files of a lease directory, if the system supports it. */
export const acquire = (directory: string): void => {
  if (process.platform !== "linux" || held.has(directory)) return
  try {
    const device = deviceOf(directory)
    for (const [from, present] of held) {
      if (present.device === device && link(from, directory, device)) {
        held.set(directory, present)
        return
      }
    }
    held.set(directory, lockBoth(directory, device))
  } catch {
    // Without the locks, processes in other pid namespaces consider this one alive.
    return
  }
}

/** Whether this thread holds the locks of a lease directory. */
export const isHeldHere = (directory: string): boolean => held.has(directory)

/** Releases the locks of a removed lease directory. */
export const release = (directory: string): void => {
  const released = held.get(directory)
  held.delete(directory)
  if (released === undefined || isHeld(released)) return
  fs.closeSync(released.children)
  fs.closeSync(released.process)
}

/** The descriptor that the Git children of a repository inherit. */
export const childrenDescriptor = (repository: string): number | undefined => {
  const home = path.join(repository, "chainstore")
  for (const [directory, { children }] of held) if (path.dirname(directory) === home) return children
  return undefined
}

/** Whether a file in a lease directory is a lock file. */
export const isLockFile = (name: string): boolean => /^(?:process|children)-/.test(name)

const lastHeld = new Map<string, number>()

/** Whether a lock of a lease directory is released; undefined if unknown. Valid only on the same kernel. */
export const isReleased = (directory: string, kind: LockKind): boolean | undefined => {
  let file: string
  let fd: number
  const now = performance.now()
  for (const [known, at] of lastHeld) if (now - at > cachedMillis) lastHeld.delete(known)
  try {
    file = fileOf(directory, kind, deviceOf(directory))
    if (lastHeld.has(file)) return false
    fd = fs.openSync(file, "r")
  } catch {
    return undefined
  }
  try {
    if (flock(fd, "-s")) return true
    lastHeld.set(file, now)
    return false
  } finally {
    fs.closeSync(fd)
  }
}
