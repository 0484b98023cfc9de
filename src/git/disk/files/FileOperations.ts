import * as fs from "node:fs"
import * as path from "node:path"

export const fsyncFile = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => fs.fsync(fd, (cause) => (cause === null ? resolve() : reject(cause))))

/** Syncs a file or directory to the disk. */
export const fsyncPath = async (at: string): Promise<void> => {
  const fd = fs.openSync(at, "r")
  try {
    await fsyncFile(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Syncs a file or directory to the disk, synchronously. */
export const fsyncPathSync = (at: string): void => {
  const fd = fs.openSync(at, "r")
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Writes all bytes. A single call may write fewer, for instance if the disk is nearly full. */
export const writeAll = (fd: number, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at)
}

/** The number of symbolic links that Git follows. */
const maxLinks = 5

/** The target of a path through symbolic links. It may not exist. */
export const linkTarget = (file: string): string => {
  let at = file
  for (let steps = 0; steps < maxLinks; steps++) {
    if (fs.lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return at
    at = path.resolve(path.dirname(at), fs.readlinkSync(at))
  }
  return at
}

/** Removes a file if it exists. Makes one system call, while `rmSync` makes several. */
export const unlink = (file: string): void => {
  try {
    fs.unlinkSync(file)
  } catch (cause) {
    if (!hasErrorCode(cause, "ENOENT")) throw cause
  }
}

const scratch = Buffer.allocUnsafeSlow(4096)

/** Removes a file, and ignores errors. */
export const tryUnlink = (file: string): void => {
  try {
    fs.unlinkSync(file)
  } catch {
    return
  }
}

/** Reads a file of at most 4,096 bytes. Throws ELOOP for a symbolic link. */
export const readSmallFile = (file: string): string => {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0))
  try {
    return scratch.toString("utf8", 0, fs.readSync(fd, scratch, 0, scratch.length, 0))
  } finally {
    fs.closeSync(fd)
  }
}

export const hasErrorCode = (cause: unknown, ...codes: ReadonlyArray<string>): boolean =>
  cause instanceof Error && "code" in cause && codes.includes(String(cause.code))

/** Removes a directory that contains only empty directories, as Git does before it writes a ref of that name. */
export const removeEmptyTree = (directory: string): void => {
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) return
    removeEmptyTree(path.join(directory, entry.name))
  }
  try {
    fs.rmdirSync(directory)
  } catch {
    return
  }
}

/** Removes a directory and its parents below `root`, as long as they are empty. */
export const removeEmptyParents = (directory: string, root: string): void => {
  let at = directory
  while (at.startsWith(`${root}${path.sep}`)) {
    try {
      fs.rmdirSync(at)
    } catch {
      return
    }
    at = path.dirname(at)
  }
}

/** Identifies a file among those of all mounted disks. The links to a file have the same id. */
export const fileIdOf = ({ dev, ino }: fs.BigIntStats): string => `${dev}:${ino}`

/** A text that changes when a file is replaced or changed; undefined if there is none. */
export const stampOf = (file: string): string | undefined => {
  const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? undefined : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(":")
}
