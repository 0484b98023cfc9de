import * as fs from "node:fs"
import * as path from "node:path"

export const fsyncFile = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => fs.fsync(fd, (cause) => (cause === null ? resolve() : reject(cause))))

/** Makes a file, or the names in a directory, durable. */
export const fsyncPath = async (at: string): Promise<void> => {
  const fd = fs.openSync(at, "r")
  try {
    await fsyncFile(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** The same before anything else happens. */
export const fsyncPathSync = (at: string): void => {
  const fd = fs.openSync(at, "r")
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Writes all of it: where the disk is nearly full, one call writes what there is room for and says no more. */
export const writeAll = (fd: number, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at)
}

/** As many symbolic links as Git follows. */
const mostLinks = 5

/** The file that a path leads to through symbolic links, which need not be there yet. */
export const linkTarget = (file: string): string => {
  let at = file
  for (let steps = 0; steps < mostLinks; steps++) {
    if (fs.lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return at
    at = path.resolve(path.dirname(at), fs.readlinkSync(at))
  }
  return at
}

/** Removes a file that may be gone. One system call, where `rmSync` makes several. */
export const unlink = (file: string): void => {
  try {
    fs.unlinkSync(file)
  } catch (cause) {
    if (!hasErrorCode(cause, "ENOENT")) throw cause
  }
}

const scratch = Buffer.allocUnsafeSlow(4096)

/** Removes a file if that can be done: what was achieved with it is not undone if it cannot. */
export const tryUnlink = (file: string): void => {
  try {
    fs.unlinkSync(file)
  } catch {
    return
  }
}

/** The text of a small file; ELOOP where it is a symbolic link. */
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

/** Removes a directory that holds nothing but empty directories, as Git does where a ref is to go. */
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
