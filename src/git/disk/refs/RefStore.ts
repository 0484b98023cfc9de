import * as fs from "node:fs"
import * as path from "node:path"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { EngineError } from "../files/EngineError.js"
import {
  fsyncPath,
  hasErrorCode,
  linkTarget,
  removeEmptyParents,
  removeEmptyTree,
  tryUnlink,
  unlink
} from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { finish, type PreparedFile, RefLocks } from "./RefLocks.js"
import { type FoundRef, RefReader } from "./RefReader.js"

/** The outcome of a test-and-set of a ref. `Moved`: the ref is at `actual` instead. */
export type RefOutcome =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Moved"; readonly actual: Oid | undefined }

/** The ref was moved, but syncing its directory failed, so that the move may not be durable. */
export interface Unsettled {
  readonly _tag: "Unsettled"
  readonly cause: unknown
}

const done: RefOutcome = { _tag: "Done" }

/** The loose and packed refs of a repository. Writes use Git's lock files. */
export class RefStore extends RefReader {
  private readonly locks: RefLocks

  constructor(
    directory: string,
    private readonly lease: Lease,
    /** Milliseconds to wait for a lock. */
    readonly timeout: number
  ) {
    super(directory)
    this.locks = new RefLocks(directory, lease, timeout)
  }

  /** Whether another process that may be alive holds the lock of a ref. */
  isLocked(name: string): boolean {
    return this.locks.isHeld(this.follow(name).name)
  }

  /** Creates a file that will become a ref. */
  prepare(content: string): PreparedFile {
    return this.locks.prepare(content)
  }

  /**
   * Moves a ref to the id in the file `prepared`, if the ref has not changed since it was read. A symbolic ref is followed, as by Git.
   * The new value is visible at once, and durable after `settle`. The caller calls `settle` and removes the prepared file.
   */
  async move(
    { name, oid: expected, target }: FoundRef,
    prepared: string,
    signal?: AbortSignal,
    timeout?: number
  ): Promise<RefOutcome> {
    const lock = await this.locks.take(target, prepared, signal, timeout)
    let moved = false
    try {
      const now = this.find(name)
      if (now.oid !== expected || now.target !== target) return { _tag: "Moved", actual: now.oid }
      if (expected === undefined) {
        const other = this.conflicting(target)
        if (other !== undefined) {
          throw new EngineError("Denied", `${target} cannot exist beside ${other}`, "Choose another name")
        }
      }
      this.renameOver(lock, target)
      moved = true
      return done
    } finally {
      if (!moved) this.lease.remove(lock, prepared)
    }
  }

  private renameOver(from: string, target: string): void {
    const to = this.file(target)
    try {
      fs.renameSync(from, to)
    } catch (cause) {
      if (!hasErrorCode(cause, "EISDIR", "ENOTEMPTY", "EEXIST")) throw cause
      removeEmptyTree(to)
      if (fs.existsSync(to)) {
        throw new EngineError("Denied", `${target} cannot exist beside refs below it`, "Choose another name")
      }
      fs.renameSync(from, to)
    }
  }

  /** Test-and-set of one ref, synced if `durable`. `next` undefined deletes the ref. */
  async update(
    name: string,
    expected: Oid | undefined,
    next: Oid | undefined,
    durable: boolean,
    signal?: AbortSignal
  ): Promise<RefOutcome | Unsettled> {
    const prepared = this.prepare(next === undefined ? "" : `${next}\n`)
    try {
      await finish(prepared, durable)
      if (next === undefined) return await this.remove(name, expected, prepared.file, durable, signal)
      const found = this.find(name)
      if (found.oid !== expected) return { _tag: "Moved", actual: found.oid }
      const outcome = await this.move(found, prepared.file, signal)
      if (outcome._tag !== "Done" || !durable) return outcome
      return await this.settle([found]).then(
        () => outcome,
        (cause): Unsettled => ({ _tag: "Unsettled", cause })
      )
    } finally {
      this.discard(prepared.file)
    }
  }

  /** Removes a prepared file. */
  discard(file: string): void {
    this.lease.discard(file)
  }

  /** Syncs the directories of moved refs. */
  async settle(refs: Iterable<FoundRef>): Promise<void> {
    const directories = new Set<string>()
    for (const { target } of refs) {
      let directory = path.dirname(this.file(target))
      directories.add(directory)
      while (directory !== this.file("refs/heads") && directory.startsWith(this.file("refs/"))) {
        directory = path.dirname(directory)
        directories.add(directory)
      }
    }
    await Promise.all(Array.from(directories, fsyncPath))
  }

  private async remove(
    name: string,
    expected: Oid | undefined,
    prepared: string,
    durable: boolean,
    signal: AbortSignal | undefined
  ): Promise<RefOutcome | Unsettled> {
    const locks: Array<string> = []
    try {
      locks.push(await this.locks.take(name, prepared, signal))
      locks.push(await this.locks.take("packed-refs", prepared, signal))
      const actual = this.read(name)
      if (actual !== expected) return { _tag: "Moved", actual }
      if (actual === undefined) return done
      try {
        // The packed ref is removed first: otherwise a crash in between would restore its old value.
        if (this.packed.get(name) !== undefined) await this.unpack(name, durable)
        if (this.loose(name) !== undefined) unlink(this.file(name))
        this.forgetLog(name)
        if (durable && fs.existsSync(path.dirname(this.file(name))))
          await fsyncPath(path.dirname(this.file(name)))
      } catch (cause) {
        if (this.read(name) === undefined) return { _tag: "Unsettled", cause }
        throw cause
      }
      return done
    } finally {
      for (const lock of locks.reverse()) this.lease.remove(lock, prepared)
      if (locks.length === 2) removeEmptyParents(path.dirname(this.file(name)), this.file("refs/heads"))
    }
  }

  /** Removes the reflog of a deleted ref, as Git does. Otherwise Git would refuse to create a ref below that name. */
  private forgetLog(name: string): void {
    const log = this.file(`logs/${name}`)
    tryUnlink(log)
    removeEmptyParents(path.dirname(log), this.file("logs/refs"))
  }

  private async unpack(name: string, durable: boolean): Promise<void> {
    const rewritten = this.prepare(this.packed.without(name))
    try {
      await finish(rewritten, durable)
      fs.renameSync(rewritten.file, linkTarget(this.file("packed-refs")))
    } finally {
      tryUnlink(rewritten.file)
    }
    if (durable) await fsyncPath(path.dirname(linkTarget(this.file("packed-refs"))))
  }
}
