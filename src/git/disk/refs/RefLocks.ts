import * as fs from "node:fs"
import * as path from "node:path"
import { hasHead, makeDirectorySync } from "../files/Directories.js"
import { EngineError, waitMillis } from "../files/EngineError.js"
import { fsyncFile, hasErrorCode, linkTarget, unlink, writeAll } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"

/** An open file of ours with what a ref is to say. */
export interface Prepared {
  readonly file: string
  readonly fd: number
}

/** Closes a prepared file, made durable when `durable`. */
export const finish = async ({ fd }: Prepared, durable: boolean): Promise<void> => {
  try {
    if (durable) await fsyncFile(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Throws what is wrong with a repository whose refs cannot be said to be absent, if anything is. */
export const unsafeAssertPresent = (directory: string): void => {
  if (!hasHead(directory)) {
    if (!fs.existsSync(directory)) {
      throw new EngineError("Unreachable", `The repository ${directory} is gone`, "Restore the directory")
    }
    throw new EngineError(
      "Corrupt",
      `${directory} has no HEAD`,
      "Restore the file, such as `ref: refs/heads/main`"
    )
  }
  for (const name of ["refs", "refs/heads"]) {
    const stat = fs.statSync(path.join(directory, name), { throwIfNoEntry: false })
    if (stat?.isDirectory() === true || (stat === undefined && name !== "refs")) continue
    throw new EngineError(
      "Corrupt",
      `${directory} has no directory ${name}`,
      "Restore it from a clone or a backup"
    )
  }
}

/** Git's lock files, taken so that it can be told whose they are. */
export class RefLocks {
  private recovered = -Infinity

  constructor(
    private readonly directory: string,
    private readonly owner: Lease,
    private readonly timeout: number
  ) {}

  private lockOf(target: string): string {
    const file = path.join(this.directory, target)
    // Git locks the packed refs where they are, and a ref by its name, also where either is a symbolic link.
    return `${target === "packed-refs" ? linkTarget(file) : file}.lock`
  }

  /** Whether somebody else, who may live, holds the lock of a file right now. */
  isHeld(target: string): boolean {
    const lock = this.lockOf(target)
    if (!fs.existsSync(lock)) return false
    return this.recover() === 0 || fs.existsSync(lock)
  }

  /** Removes locks of dead processes, if nobody has just looked for them. */
  private recover(): number {
    const now = performance.now()
    if (now - this.recovered <= 100) return 0
    this.recovered = now
    return this.owner.recoverDead()
  }

  /** Takes `target.lock` as a hard link to a file of ours, waiting for whoever holds it. */
  async take(
    target: string,
    temporary: string,
    signal?: AbortSignal,
    timeout = this.timeout
  ): Promise<string> {
    const lock = this.lockOf(target)
    const deadline = performance.now() + timeout
    for (let wait = 1; ; wait = Math.min(wait * 1.5, 20)) {
      try {
        fs.linkSync(temporary, lock)
        return lock
      } catch (cause) {
        if (hasErrorCode(cause, "ENOENT")) {
          unsafeAssertPresent(this.directory)
          makeDirectorySync(path.dirname(lock), false)
        } else if (hasErrorCode(cause, "ENOTDIR")) {
          throw new EngineError(
            "Denied",
            `${target} cannot exist beside a ref that is its prefix`,
            "Choose another name"
          )
        } else if (!hasErrorCode(cause, "EEXIST")) throw cause
      }
      if (this.recover() > 0) continue
      if (signal?.aborted === true) throw new EngineError("Locked", `Gave up waiting for ${lock}`)
      if (performance.now() >= deadline) {
        throw new EngineError(
          "Locked",
          `${lock} is held by another process`,
          "Try again; if no process uses the repository any more, remove the file"
        )
      }
      await waitMillis(wait * (0.5 + Math.random() / 2))
    }
  }

  /** A file that will become a ref or a lock, with its content in it, a byte for each character. */
  prepare(content: string): Prepared {
    const file = this.owner.temporaryPath("ref")
    const fd = fs.openSync(file, "wx")
    try {
      writeAll(fd, Buffer.from(content, "latin1"))
      return { file, fd }
    } catch (cause) {
      fs.closeSync(fd)
      unlink(file)
      throw cause
    }
  }
}
