import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import * as GitObject from "../../GitObject.js"
import { makeDirectorySync, pathExists } from "../files/Directories.js"
import { EngineError, isCorruption } from "../files/EngineError.js"
import { fsyncFile, fsyncPath, hasErrorCode, unlink, writeAll } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { type Deflated, slices } from "../packs/ObjectStream.js"
import type { ObjectType } from "../port/GitRepository.js"
import { LooseWriter } from "./LooseWriter.js"

const objectTypes: Readonly<Record<string, ObjectType>> = {
  blob: "blob",
  tree: "tree",
  commit: "commit",
  tag: "tag"
}

/** What is larger is never deflated at once. */
const wholeBytes = 65_536

/** Enough for a header and the tables that it is deflated by. */
const headBytes = 512

const emptyFile = (oid: Oid) => new EngineError("Corrupt", `Object ${oid} is an empty file`, "Run `git fsck`")
const brokenHeader = (oid: Oid) =>
  new EngineError("Corrupt", `Object ${oid} has a broken header`, "Run `git fsck`")

const headerOf = (oid: Oid, bytes: Buffer) => {
  const end = bytes.indexOf(0)
  const [typeText = "", sizeText = ""] = bytes.toString("latin1", 0, end).split(" ")
  const type = objectTypes[typeText]
  if (type === undefined || !/^\d+$/.test(sizeText)) throw brokenHeader(oid)
  return { type, size: Number(sizeText), header: end + 1 }
}

/** The objects of a repository that have a file each. */
export class LooseObjects {
  /** About how many there are. */
  count = 0
  /** The directories whose names are known to be durable. */
  private readonly settled = new Set<string>()

  constructor(
    private readonly directory: string,
    private readonly owner: Lease
  ) {}

  private path(oid: string): string {
    return path.join(this.directory, oid.slice(0, 2), oid.slice(2))
  }

  /** Where an object lies deflated; undefined when it is not loose. Reads no more than its header. */
  deflated(oid: Oid): Deflated | undefined {
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
    const bytes = zlib.inflateSync(first.subarray(0, length), { finishFlush: zlib.constants.Z_SYNC_FLUSH })
    const { header, size, type } = headerOf(oid, bytes)
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
    const bytes = zlib.inflateSync(packed)
    const { header, size, type } = headerOf(oid, bytes)
    if (size !== bytes.length - header) throw brokenHeader(oid)
    return { type, content: new Uint8Array(bytes.buffer, bytes.byteOffset + header, size) }
  }

  /** Ids that begin with `prefix` (at least two digits). */
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

  /** Writes one object, unless it is there. */
  async write(type: ObjectType, content: Uint8Array, durable: boolean): Promise<Oid> {
    if (content.length > wholeBytes) return this.writeAll(type, content, durable)
    const oid = GitObject.hash(type, content)
    if (this.holds(oid, type, content) && (await this.freshen(oid, durable))) return oid
    const head = Buffer.from(`${type} ${content.length}\0`, "latin1")
    const temporary = this.owner.temporaryPath("object")
    try {
      const fd = fs.openSync(temporary, "wx", 0o444)
      try {
        writeAll(fd, zlib.deflateSync(Buffer.concat([head, content]), { level: 1 }))
        if (durable) await fsyncFile(fd)
      } finally {
        fs.closeSync(fd)
      }
      await this.place(temporary, oid, durable)
    } catch (cause) {
      unlink(temporary)
      throw cause
    }
    return oid
  }

  /** A large one is deflated on another thread and with no copy of it in memory. */
  private async writeAll(type: ObjectType, content: Uint8Array, durable: boolean): Promise<Oid> {
    const writer = this.writer(type, content.length)
    try {
      for (const piece of slices(content)) await writer.write(piece)
      return await this.finish(writer, durable)
    } finally {
      await writer.close()
    }
  }

  /** Begins an object of `size` bytes that are yet to come; `finish` ends it, and closing the writer gives it up. */
  writer(type: ObjectType, size: number): LooseWriter {
    return new LooseWriter(type, size, this.owner.temporaryPath("object"))
  }

  async finish(writer: LooseWriter, durable: boolean): Promise<Oid> {
    const oid = await writer.finish(durable)
    await this.place(writer.file, oid, durable)
    return oid
  }

  /** Gives the file that holds an object its name. */
  private async place(file: string, oid: Oid, durable: boolean): Promise<void> {
    const target = this.path(oid)
    const isNew = !pathExists(target)
    const fan = path.dirname(target)
    for (;;) {
      if (!fs.existsSync(fan)) {
        makeDirectorySync(fan, false)
        this.settled.delete(fan)
      }
      try {
        fs.renameSync(file, target)
        break
      } catch (cause) {
        // Git removes directories that it has emptied.
        if (!hasErrorCode(cause, "ENOENT") || !fs.existsSync(file)) throw cause
      }
    }
    if (durable) await this.settle(fan)
    if (isNew) this.count++
  }

  /** Whether an object is there, and not as the damaged file that a power cut may leave. */
  private holds(oid: Oid, type: ObjectType, content: Uint8Array): boolean {
    try {
      const found = this.read(oid)
      return found?.type === type && Buffer.compare(found.content, content) === 0
    } catch (cause) {
      if (isCorruption(cause)) return false
      throw cause
    }
  }

  /** Makes an object that is there as young as a new one, for whoever prunes, and as durable. */
  private async freshen(oid: Oid, durable: boolean): Promise<boolean> {
    const file = this.path(oid)
    try {
      const now = new Date()
      fs.utimesSync(file, now, now)
      if (durable) await fsyncPath(file)
    } catch (cause) {
      // Packed or pruned meanwhile, or somebody else's: it is written anew.
      if (hasErrorCode(cause, "ENOENT", "ENOTDIR", "EPERM", "EACCES")) return false
      throw cause
    }
    if (durable) await this.settle(path.dirname(file))
    return true
  }

  /** Makes the names in one of the 256 directories durable, and its own. */
  private async settle(fan: string): Promise<void> {
    try {
      await fsyncPath(fan)
    } catch (cause) {
      // Whatever was in it has been packed.
      if (!hasErrorCode(cause, "ENOENT")) throw cause
    }
    if (this.settled.has(fan)) return
    await fsyncPath(this.directory)
    this.settled.add(fan)
  }

  /** Counts them, by one of 256 directories. */
  estimate(): void {
    try {
      this.count = fs.readdirSync(path.join(this.directory, "17")).length * 256
    } catch {
      this.count = 0
    }
  }
}
