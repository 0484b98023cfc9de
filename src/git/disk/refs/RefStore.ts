import * as fs from "node:fs"
import * as path from "node:path"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { isFullRefName } from "../../Names.js"
import { filesBelow } from "../files/Directories.js"
import { EngineError } from "../files/EngineError.js"
import {
  fsyncPath,
  hasErrorCode,
  linkTarget,
  readSmallFile,
  removeEmptyParents,
  removeEmptyTree,
  tryUnlink,
  unlink
} from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import type { Reference } from "../port/GitRepository.js"
import { PackedRefs } from "./PackedRefs.js"
import { finish, type Prepared, RefLocks, unsafeAssertPresent } from "./RefLocks.js"

const oidPattern = /^[0-9a-f]{40}$/
const symbolic = /^ref:\s*(.*?)\s*$/

/** What a test-and-set of a ref came to: `Moved` tells where it is instead. */
export type RefOutcome =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Moved"; readonly actual: Oid | undefined }

/** The ref has moved, but the disk does not say that it will stay. */
export interface Unsettled {
  readonly _tag: "Unsettled"
  readonly cause: unknown
}

const done: RefOutcome = { _tag: "Done" }

/** A ref as it was found: `target` is the ref that a symbolic one stands for, or the ref itself. */
export interface FoundRef {
  readonly name: string
  readonly target: string
  readonly oid: Oid | undefined
}

/** The refs of one repository, loose and packed, written by Git's own lock-file protocol. */
export class RefStore {
  private readonly packed: PackedRefs
  private readonly locks: RefLocks

  constructor(
    private readonly directory: string,
    owner: Lease,
    /** Milliseconds to wait for a lock. */
    readonly timeout: number
  ) {
    this.packed = new PackedRefs(this.file("packed-refs"))
    this.locks = new RefLocks(directory, owner, timeout)
  }

  private file(name: string): string {
    return `${this.directory}/${name}`
  }

  private loose(name: string): string | undefined {
    const file = this.file(name)
    try {
      return readSmallFile(file)
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "EISDIR", "ENOTDIR")) return undefined
      if (hasErrorCode(cause, "ELOOP")) return this.linked(file)
      throw cause
    }
  }

  /** What a symbolic link says: Git reads one to the name of a ref as a symbolic ref, and any other as the file that it leads to. */
  private linked(file: string): string | undefined {
    try {
      const to = fs.readlinkSync(file)
      return isFullRefName(to) ? `ref: ${to}\n` : readSmallFile(fs.realpathSync(file))
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "EISDIR", "ENOTDIR")) return undefined
      throw cause
    }
  }

  /** The name in a symbolic ref. Without the newline that ends it, it may be the beginning of another name. */
  private targetOf(name: string, text: string): string | undefined {
    const target = symbolic.exec(text)?.[1]
    if (target === undefined || text.endsWith("\n")) return target
    throw new EngineError(
      "Corrupt",
      `The symbolic ref ${name} does not end with a newline: it may have been cut short`,
      `Repair it, such as with \`git symbolic-ref ${name} refs/heads/main\``
    )
  }

  /** The ref that a symbolic ref stands for, with what its file says; another ref itself. */
  private follow(name: string): { readonly name: string; readonly text: string | undefined } {
    let at = name
    for (let steps = 0; steps < 6; steps++) {
      const text = this.loose(at)
      const target = text === undefined ? undefined : this.targetOf(at, text)
      if (target === undefined) return { name: at, text }
      at = target
      if (!isFullRefName(at)) break
    }
    throw new EngineError(
      "Corrupt",
      `The symbolic ref ${name} leads to no ref`,
      "Repair it with `git symbolic-ref`"
    )
  }

  /** Where a ref points, through symbolic refs. */
  read(name: string): Oid | undefined {
    return this.find(name).oid
  }

  find(name: string): FoundRef {
    const at = this.follow(name)
    return { name, target: at.name, oid: this.oidIn(name, at) }
  }

  private oidIn(name: string, at: { readonly name: string; readonly text: string | undefined }) {
    if (at.text === undefined) {
      const found = this.packed.get(at.name)
      if (found === undefined) unsafeAssertPresent(this.directory)
      return found
    }
    const oid = at.text.trim()
    if (oidPattern.test(oid)) return oid as Oid
    throw new EngineError(
      "Corrupt",
      `The ref ${name} holds no object id`,
      `Repair it with \`git update-ref ${name} COMMIT\``
    )
  }

  /** The branch that HEAD names. */
  head(): string {
    const text = this.loose("HEAD")
    if (text === undefined) unsafeAssertPresent(this.directory)
    const target = text === undefined ? undefined : this.targetOf("HEAD", text)
    if (target?.startsWith("refs/heads/")) return target.slice("refs/heads/".length)
    if (target?.startsWith("refs/") || oidPattern.test(text?.trim() ?? "")) return "main"
    throw new EngineError(
      "Corrupt",
      `The HEAD of ${this.directory} names no branch and no commit`,
      "Repair it: write a line such as `ref: refs/heads/main` into the file"
    )
  }

  /** Every ref whose whole name begins with `prefix`, ordered by name. */
  list(prefix: string): Array<Reference> {
    const names = new Set<string>()
    const mayHold = (name: string) => name.startsWith(prefix) || prefix.startsWith(`${name}/`)
    for (const name of filesBelow(this.directory, "refs", mayHold)) {
      if (name.startsWith(prefix) && isFullRefName(name)) names.add(name)
    }
    for (const name of this.packed.names()) if (name.startsWith(prefix)) names.add(name)
    const found: Array<Reference> = []
    for (const name of [...names].sort((a, b) => (a < b ? -1 : 1))) {
      const oid = this.read(name)
      if (oid !== undefined) found.push({ name, oid })
    }
    if (found.length === 0) unsafeAssertPresent(this.directory)
    return found
  }

  /** Whether somebody else, who may live, holds the lock of a ref right now. */
  isLocked(name: string): boolean {
    return this.locks.isHeld(this.follow(name).name)
  }

  /** A file that will become a ref, with its content in it. */
  prepare(content: string): Prepared {
    return this.locks.prepare(content)
  }

  private conflicting(name: string): string | undefined {
    for (const other of this.packed.names()) {
      if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) {
        if (this.read(other) !== undefined) return other
      }
    }
    return undefined
  }

  /**
   * Points a ref that was found at the id that `prepared` holds, if it still is as it was; through a symbolic ref, as
   * Git does. The new value is visible at once and durable once the ref's directory is synced (`settle`); that, and
   * removing the prepared file, is left to the caller.
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
      if (!moved) unlink(lock)
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

  /** Test-and-set of one ref, made durable when `durable`; `next` undefined deletes it. */
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
      tryUnlink(prepared.file)
    }
  }

  /** Makes moves of these refs durable. */
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
        // Packed before loose: the other way round, a crash in between would bring an old value back.
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
      for (const lock of locks.reverse()) tryUnlink(lock)
      if (locks.length === 2) removeEmptyParents(path.dirname(this.file(name)), this.file("refs/heads"))
    }
  }

  /** Removes the log of a deleted ref, as Git does: Git refuses a ref below that name as long as the log is there. */
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
