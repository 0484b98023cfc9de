import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import type { Oid } from "../../domain/Oid.js"
import { fsyncDirectory, fsyncFile, hasCode, unlink } from "./Disk.js"
import { Fault } from "./Fault.js"
import { hashObject, type RawObject } from "./GitObjects.js"
import type { ObjectType } from "./GitRepository.js"
import type { Owner } from "./Owner.js"

const objectTypes: Readonly<Record<string, ObjectType>> = {
  blob: "blob",
  tree: "tree",
  commit: "commit",
  tag: "tag"
}

/** The objects of a repository that have a file each. */
export class LooseObjects {
  /** About how many there are. */
  count: number

  constructor(
    private readonly directory: string,
    private readonly owner: Owner
  ) {
    this.count = this.estimate()
  }

  private path(oid: string): string {
    return path.join(this.directory, oid.slice(0, 2), oid.slice(2))
  }

  read(oid: Oid): RawObject | undefined {
    let packed: Buffer
    try {
      packed = fs.readFileSync(this.path(oid))
    } catch (cause) {
      if (hasCode(cause, "ENOENT", "ENOTDIR")) return undefined
      throw cause
    }
    if (packed.length === 0) throw new Fault("Corrupt", `Object ${oid} is an empty file`, "Run `git fsck`")
    const bytes = zlib.inflateSync(packed)
    const end = bytes.indexOf(0)
    const [typeText = "", sizeText = ""] = bytes.toString("latin1", 0, end).split(" ")
    const type = objectTypes[typeText]
    if (type === undefined || Number(sizeText) !== bytes.length - end - 1) {
      throw new Fault("Corrupt", `Object ${oid} has a broken header`, "Run `git fsck`")
    }
    return { type, content: new Uint8Array(bytes.buffer, bytes.byteOffset + end + 1, bytes.length - end - 1) }
  }

  /** Ids that begin with `prefix` (at least two digits). */
  startingWith(prefix: string): Array<Oid> {
    try {
      return fs
        .readdirSync(path.join(this.directory, prefix.slice(0, 2)))
        .map((name) => (prefix.slice(0, 2) + name) as Oid)
        .filter((oid) => oid.length === 40 && oid.startsWith(prefix))
    } catch (cause) {
      if (hasCode(cause, "ENOENT", "ENOTDIR")) return []
      throw cause
    }
  }

  /** Writes one object, unless it is there. */
  async write(type: ObjectType, content: Uint8Array, durable: boolean): Promise<Oid> {
    const oid = hashObject(type, content)
    const target = this.path(oid)
    if (fs.existsSync(target)) {
      const now = new Date()
      fs.utimesSync(target, now, now)
      return oid
    }
    const head = Buffer.from(`${type} ${content.length}\0`, "latin1")
    const whole = Buffer.concat([head, content])
    const packed =
      whole.length > 65_536
        ? await new Promise<Buffer>((resolve, reject) =>
            zlib.deflate(whole, { level: 1 }, (cause, bytes) =>
              cause === null ? resolve(bytes) : reject(cause)
            )
          )
        : zlib.deflateSync(whole, { level: 1 })
    const fan = path.dirname(target)
    const made = !fs.existsSync(fan)
    const temporary = this.owner.temporary("object")
    try {
      const fd = fs.openSync(temporary, "wx", 0o444)
      try {
        fs.writeSync(fd, packed)
        if (durable) await fsyncFile(fd)
      } finally {
        fs.closeSync(fd)
      }
      if (made) fs.mkdirSync(fan, { recursive: true })
      fs.renameSync(temporary, target)
    } catch (cause) {
      unlink(temporary)
      throw cause
    }
    if (durable) {
      await fsyncDirectory(fan)
      if (made) await fsyncDirectory(this.directory)
    }
    this.count++
    return oid
  }

  /** About how many loose objects there are, from one of 256 directories. */
  private estimate(): number {
    try {
      return fs.readdirSync(path.join(this.directory, "17")).length * 256
    } catch {
      return 0
    }
  }
}
