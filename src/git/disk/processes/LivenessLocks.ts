import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

/*
 * A process in another pid namespace cannot be looked up by its pid. So each process holds an advisory lock (`flock`) on
 * a file in its owner directories: the kernel releases it when the process ends, and processes in every namespace see
 * that. Node has no `flock`, so `flock(1)` locks a descriptor that it inherits; the lock belongs to the open file and
 * stays with Node. A second file is locked through a descriptor that Git children inherit as well: it is released when
 * the last of them has ended. All owner directories on one file system have hard links to the same two files.
 */

const overlay = 0x794c7630
/** Milliseconds for which a lock that was held counts as held: a look costs a child process. */
const remembered = 250

export type LockKind = "process" | "children"

/** Runs `flock` without waiting; whether it locked the open file. */
const flock = (fd: number, mode: "-x" | "-s"): boolean => {
  const done = spawnSync("flock", ["-n", mode, "3"], { stdio: ["ignore", "ignore", "ignore", fd] })
  return done.error === undefined && done.status === 0
}

/**
 * The file system of a directory as this kernel numbers it. Locks are seen through the same mount of a file system only:
 * a disk that is mounted a second time, or a layer below an overlay, has other inodes. An overlay gets another number
 * when its container starts again, and cannot be mounted twice at a time.
 */
const deviceOf = (directory: string): string =>
  fs.statfsSync(directory).type === overlay ? "overlay" : fs.statSync(directory).dev.toString(16)

/** The two open files whose locks this process has on one file system. */
interface Held {
  readonly device: string
  readonly process: number
  readonly children: number
}

const held = new Map<string, Held>()

const fileOf = (directory: string, holder: LockKind, device: string) =>
  path.join(directory, `${holder}-${device}`)

/** Links both files of one directory into another one; whether that was possible. */
const link = (from: string, to: string, device: string): boolean => {
  try {
    // Where the first is, the second has to be.
    for (const holder of ["children", "process"] as const) {
      fs.linkSync(fileOf(from, holder, device), fileOf(to, holder, device))
    }
    return true
  } catch {
    return false
  }
}

/** Makes a locked file in a directory; it gets its name when it is locked. */
const lock = (directory: string, holder: LockKind, device: string): number => {
  const file = fileOf(directory, holder, device)
  const fd = fs.openSync(`${file}.new`, "w", 0o600)
  if (flock(fd, "-x")) {
    fs.renameSync(`${file}.new`, file)
    return fd
  }
  fs.closeSync(fd)
  fs.unlinkSync(`${file}.new`)
  throw new Error("flock is not available")
}

const lockBoth = (directory: string, device: string): Held => {
  const children = lock(directory, "children", device)
  try {
    return { device, children, process: lock(directory, "process", device) }
  } catch (cause) {
    fs.closeSync(children)
    // A file that nobody has locked would say that the children have ended.
    fs.unlinkSync(fileOf(directory, "children", device))
    throw cause
  }
}

const isHeld = (searched: Held) => [...held.values()].includes(searched)

/** Makes an owner directory show that this process lives, where the system can. */
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
    // Without the locks, processes in other pid namespaces take this one for alive.
    return
  }
}

/** The owner directory is gone, and does not show anything any more. */
export const release = (directory: string): void => {
  const released = held.get(directory)
  held.delete(directory)
  if (released === undefined || isHeld(released)) return
  fs.closeSync(released.children)
  fs.closeSync(released.process)
}

/** The descriptor that Git children of a repository are to inherit. */
export const childrenDescriptor = (repository: string): number | undefined => {
  const home = path.join(repository, "chainstore")
  for (const [directory, { children }] of held) if (path.dirname(directory) === home) return children
  return undefined
}

/** Whether a file in an owner directory is one of the two. */
export const isLockFile = (name: string): boolean => /^(?:process|children)-/.test(name)

const lastHeld = new Map<string, number>()

/** Whether the holder in a directory has ended; undefined where that cannot be told. Only asked on the same kernel. */
export const isReleased = (directory: string, holder: LockKind): boolean | undefined => {
  let file: string
  let fd: number
  const now = performance.now()
  for (const [known, at] of lastHeld) if (now - at > remembered) lastHeld.delete(known)
  try {
    file = fileOf(directory, holder, deviceOf(directory))
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
