import * as fs from "node:fs"
import * as path from "node:path"
import { hasHead, makeDirectorySync } from "../files/Directories.js"
import { EngineError, waitMillis } from "../files/EngineError.js"
import { fsyncFile, hasErrorCode, linkTarget, unlink, writeAll } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"

/** An open temporary file with the new content of a ref. */
export interface PreparedFile {
  readonly file: string
  readonly fd: number
}

/** Closes a prepared file, and syncs it if `durable`. */
export const finish = async ({ fd }: PreparedFile, durable: boolean): Promise<void> => {
  try {
    if (durable) await fsyncFile(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Throws if the repository is damaged, so that a missing ref file does not prove that the ref does not exist. */
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

/** Git's lock files. Each is a hard link to a file of the lease, which identifies its owner. */
export class RefLocks {
  private lastRecovery = -Infinity

  constructor(
    private readonly directory: string,
    private readonly lease: Lease,
    private readonly timeout: number
  ) {}

  private lockOf(target: string): string {
    const file = path.join(this.directory, target)
    // If the file is a symbolic link, Git locks the target of `packed-refs`, but the link of a ref.
    return `${target === "packed-refs" ? linkTarget(file) : file}.lock`
  }

  /** Whether another process that may be alive holds the lock of a file. */
  isHeld(target: string): boolean {
    const lock = this.lockOf(target)
    if (!fs.existsSync(lock)) return false
    return this.recoverDead() === 0 || fs.existsSync(lock)
  }

  /** Removes the locks of dead processes, at most every 100 ms. */
  private recoverDead(): number {
    const now = performance.now()
    if (now - this.lastRecovery <= 100) return 0
    this.lastRecovery = now
    return this.lease.recoverDead()
  }

  /** Acquires `target.lock` as a hard link to the file `temporary`. Waits while another process holds it. */
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
      if (this.recoverDead() > 0) continue
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

  /** Creates a file that will become a ref or a lock. Each character of `content` is one byte. */
  prepare(content: string): PreparedFile {
    const file = this.lease.temporaryPath("ref")
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
