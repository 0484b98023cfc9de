import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import type { Steps } from "../../../domain/concurrency/Steps.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import * as GitObject from "../../GitObject.js"
import { makeDirectorySync, pathExists } from "../files/Directories.js"
import {
  damageAt,
  damageIn,
  EngineError,
  isUnreadable,
  maxWholeBytes,
  TooLargeObject
} from "../files/EngineError.js"
import { fsyncFile, fsyncPath, hasErrorCode, tryUnlink, unlink, writeAll } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { maxRatio } from "../packs/Deflate.js"
import { type DeflatedObject, slices } from "../packs/ObjectStream.js"
import type { ObjectType } from "../port/GitRepository.js"
import { LooseWriter } from "./LooseWriter.js"

const objectTypes: Readonly<Record<string, ObjectType>> = {
  blob: "blob",
  tree: "tree",
  commit: "commit",
  tag: "tag"
}

/** The names of the directories of loose objects. */
const fans = Array.from({ length: 256 }, (_, fan) => fan.toString(16).padStart(2, "0"))

/** A larger object is deflated in pieces, in bytes. */
const maxDeflatedAtOnce = 65_536

/** Enough compressed bytes to inflate a header. */
const headBytes = 512

const emptyFile = (oid: Oid) => new EngineError("Corrupt", `Object ${oid} is an empty file`, "Run `git fsck`")
const invalidHeader = (oid: Oid) =>
  new EngineError("Corrupt", `Object ${oid} has an invalid header`, "Run `git fsck`")

/** Inflates the beginning of a file. */
const inflateHead = (bytes: Buffer): Buffer =>
  zlib.inflateSync(bytes.subarray(0, headBytes), { finishFlush: zlib.constants.Z_SYNC_FLUSH })

const headerOf = (oid: Oid, bytes: Buffer) => {
  const end = bytes.indexOf(0)
  const [typeText = "", sizeText = ""] = bytes.toString("latin1", 0, end).split(" ")
  const type = objectTypes[typeText]
  if (type === undefined || !/^\d+$/.test(sizeText)) throw invalidHeader(oid)
  return { type, size: Number(sizeText), header: end + 1 }
}

/** The loose objects of a repository. */
export class LooseObjects {
  /** The estimated number of objects. */
  count = 0
  /** The fan-out directories that have been synced to the disk. */
  private readonly synced = new Set<string>()

  constructor(
    /** The `objects` directory. */
    readonly directory: string,
    private readonly lease: Lease
  ) {}

  private path(oid: string): string {
    return path.join(this.directory, oid.slice(0, 2), oid.slice(2))
  }

  /** The file of an object; undefined if it is not loose. Reads only the header. */
  deflated(oid: Oid): DeflatedObject | undefined {
    const file = this.path(oid)
    let fd: number
    try {
      fd = fs.openSync(file, "r")
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return undefined
      throw cause
    }
    const first = Buffer.allocUnsafe(headBytes)
    let length: number
    try {
      length = fs.readSync(fd, first, 0, headBytes, 0)
    } finally {
      fs.closeSync(fd)
    }
    if (length === 0) throw emptyFile(oid)
    const { header, size, type } = headerOf(oid, inflateHead(first.subarray(0, length)))
    return { type, size, file, start: 0, end: undefined, header }
  }

  read(oid: Oid): GitObject.RawObject | undefined {
    let packed: Buffer
    try {
      packed = fs.readFileSync(this.path(oid))
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return undefined
      throw cause
    }
    if (packed.length === 0) throw emptyFile(oid)
    const mayBeTooLarge = packed.length * maxRatio > maxWholeBytes
    if (mayBeTooLarge) TooLargeObject.check(headerOf(oid, inflateHead(packed)).size)
    const bytes = zlib.inflateSync(packed, { maxOutputLength: maxWholeBytes + headBytes })
    const { header, size, type } = headerOf(oid, bytes)
    if (size !== bytes.length - header) throw invalidHeader(oid)
    return { type, content: new Uint8Array(bytes.buffer, bytes.byteOffset + header, size) }
  }

  /** The ids that begin with `prefix` (at least two digits). */
  startingWith(prefix: string): Array<Oid> {
    try {
      return fs
        .readdirSync(path.join(this.directory, prefix.slice(0, 2)))
        .map((name) => (prefix.slice(0, 2) + name) as Oid)
        .filter((oid) => oid.length === 40 && oid.startsWith(prefix))
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return []
      throw cause
    }
  }

  isEmpty(): boolean {
    return fans.every((fan) => this.startingWith(fan).length === 0)
  }

  /** The reason why one of the objects cannot be opened; undefined if all can be. */
  *damage(): Steps<EngineError | undefined> {
    for (const fan of fans) {
      const hidden = damageIn(path.join(this.directory, fan))
      if (hidden !== undefined) return hidden
      for (const oid of this.startingWith(fan)) {
        const damage = damageAt(this.path(oid))
        if (damage !== undefined) return damage
        yield
      }
      yield
    }
    return undefined
  }

  /**
   * Removes the objects that satisfy a predicate and were written before a time of the disk's clock, in milliseconds. Returns the
   * first error; the other objects are removed nevertheless.
   */
  *remove(isRedundant: (oid: Oid) => boolean, before: number): Steps<unknown> {
    let failure: unknown
    for (const fan of fans) {
      for (const oid of this.startingWith(fan)) {
        if (!isRedundant(oid)) continue
        try {
          const stat = fs.statSync(this.path(oid), { throwIfNoEntry: false })
          // The mtime of a file that was renamed may be older.
          if (stat !== undefined && Math.max(stat.mtimeMs, stat.ctimeMs) < before) unlink(this.path(oid))
        } catch (cause) {
          failure ??= cause
        }
        yield
      }
      yield
    }
    return failure
  }

  /** Writes an object, unless it exists. */
  async write(type: ObjectType, content: Uint8Array, durable: boolean): Promise<Oid> {
    if (content.length > maxDeflatedAtOnce) return this.writeLarge(type, content, durable)
    const oid = GitObject.hash(type, content)
    if (this.holds(oid, type, content) && (await this.freshen(oid, durable))) return oid
    const head = Buffer.from(`${type} ${content.length}\0`, "latin1")
    const temporary = this.lease.temporaryPath("object")
    try {
      const fd = fs.openSync(temporary, "wx", 0o444)
      try {
        writeAll(fd, zlib.deflateSync(Buffer.concat([head, content]), { level: 1 }))
        if (durable) await fsyncFile(fd)
      } finally {
        fs.closeSync(fd)
      }
      await this.rename(temporary, oid, durable)
    } catch (cause) {
      unlink(temporary)
      throw cause
    }
    return oid
  }

  /** Writes a large object. It is deflated on another thread, without a copy in memory. */
  private async writeLarge(type: ObjectType, content: Uint8Array, durable: boolean): Promise<Oid> {
    const writer = this.writer(type, content.length)
    try {
      for (const piece of slices(content)) await writer.write(piece)
      return await this.finish(writer, durable)
    } finally {
      await writer.close()
    }
  }

  /** Begins to write an object of `size` bytes. `finish` completes it; closing the writer discards it. */
  writer(type: ObjectType, size: number): LooseWriter {
    return new LooseWriter(type, size, this.lease.temporaryPath("object"))
  }

  async finish(writer: LooseWriter, durable: boolean): Promise<Oid> {
    const oid = await writer.finish(durable)
    await this.rename(writer.file, oid, durable)
    return oid
  }

  /** Renames a temporary file to the file of its object. */
  private async rename(file: string, oid: Oid, durable: boolean): Promise<void> {
    const target = this.path(oid)
    const isNew = !pathExists(target)
    const fan = path.dirname(target)
    for (;;) {
      if (!fs.existsSync(fan)) {
        makeDirectorySync(fan, false)
        this.synced.delete(fan)
      }
      try {
        fs.renameSync(file, target)
        break
      } catch (cause) {
        // Git removes empty directories.
        if (!hasErrorCode(cause, "ENOENT") || !fs.existsSync(file)) throw cause
      }
    }
    if (durable) await this.sync(fan)
    if (isNew) this.count++
  }

  /** Whether an intact copy of an object exists. A power cut may leave a damaged file. */
  private holds(oid: Oid, type: ObjectType, content: Uint8Array): boolean {
    try {
      const found = this.read(oid)
      return found?.type === type && Buffer.compare(found.content, content) === 0
    } catch (cause) {
      if (isUnreadable(cause)) return false
      throw cause
    }
  }

  /** Updates the mtime of an existing object, so that `git prune` keeps it, and syncs it if `durable`. */
  private async freshen(oid: Oid, durable: boolean): Promise<boolean> {
    const file = this.path(oid)
    try {
      const now = new Date()
      fs.utimesSync(file, now, now)
      if (durable) await fsyncPath(file)
    } catch (cause) {
      // The object was packed or pruned meanwhile, or belongs to another user. It is written again.
      if (hasErrorCode(cause, "ENOENT", "ENOTDIR", "EPERM", "EACCES")) return false
      throw cause
    }
    if (durable) await this.sync(path.dirname(file))
    return true
  }

  /** Syncs a fan-out directory, and the parent directory if it is new. */
  private async sync(fan: string): Promise<void> {
    try {
      await fsyncPath(fan)
    } catch (cause) {
      // Its objects have been packed.
      if (!hasErrorCode(cause, "ENOENT")) throw cause
    }
    if (this.synced.has(fan)) return
    await fsyncPath(this.directory)
    this.synced.add(fan)
  }

  /** The number of objects in one of the 256 directories. */
  private sample(): number {
    try {
      return fs.readdirSync(path.join(this.directory, "17")).length
    } catch {
      return 0
    }
  }

  /** Has the sample that the last search of any process left. Without it, the next search only comes earlier. */
  private get leftFile(): string {
    return path.join(path.dirname(this.directory), "chainstore", "loose-objects-left")
  }

  /** Estimates the number of objects that were written since the last search for those that refs reach. */
  estimate(): void {
    const sample = this.sample()
    let left = 0
    try {
      left = Number(fs.readFileSync(this.leftFile, "utf8")) || 0
    } catch {
      // There was no search.
    }
    // Git has pruned some of them, and others would be taken for them.
    if (sample < left) tryUnlink(this.leftFile)
    // The sample may have none of the objects that were counted when they were written.
    this.count = Math.max(this.count, (sample - left) * 256)
  }

  /** Notes that no ref reaches the objects that are left after a search, except those that were counted since its beginning. */
  searched(before: number): void {
    this.count = Math.max(0, this.count - before)
    const file = this.lease.temporaryPath("loose-objects-left")
    try {
      fs.writeFileSync(file, `${this.sample()}\n`)
      fs.renameSync(file, this.leftFile)
    } catch {
      tryUnlink(file)
    }
  }
}
