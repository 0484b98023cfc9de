import * as fs from "node:fs"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { LruCache } from "../../../domain/runtime/LruCache.js"
import { hash, type RawObject } from "../../GitObject.js"
import { EngineError, maxWholeBytes } from "../files/EngineError.js"
import type { ObjectType } from "../port/GitRepository.js"
import { checkSize, inflate, maxDeflatedSize } from "./Deflate.js"
import { applyDelta, readSize } from "./Delta.js"
import type { DeflatedObject } from "./ObjectStream.js"
import type { PackDescriptors } from "./PackDescriptors.js"
import type { PackIndex } from "./PackIndex.js"

const types: ReadonlyArray<ObjectType | undefined> = [undefined, "commit", "tree", "blob", "tag"]
const offsetDelta = 6
const referenceDelta = 7
const firstRead = 4096
/** The longest delta chain that is read. Git makes shorter ones. */
const maxChain = 10_000

/** An entry of a pack. */
interface Entry {
  readonly type: number
  readonly size: number
  readonly data: Buffer
  readonly start: number
  readonly base: number | Oid | undefined
}

/** The next free cache key. Each pack reserves as many keys as it has bytes, so that every offset has a unique key. */
let nextKey = 0

/** The shared buffer for the first bytes of an entry. Parts that are kept are copied. */
const scratch = Buffer.allocUnsafeSlow(firstRead)

/** Fills a buffer from a position of a file, as far as the file goes. Returns the number of bytes read. */
const readInto = (fd: number, bytes: Buffer, position: number): number => {
  let filled = 0
  while (filled < bytes.length) {
    const read = fs.readSync(fd, bytes, filled, bytes.length - filled, Math.max(0, position) + filled)
    if (read === 0) break
    filled += read
  }
  return filled
}

/** Reads the objects of a pack, including deltas. */
export class PackFile {
  private firstKey: number | undefined

  constructor(
    /** The path without extension. */
    readonly stem: string,
    readonly index: PackIndex,
    private readonly files: PackDescriptors,
    private readonly bases: LruCache<RawObject, number>
  ) {}

  private get path(): string {
    return `${this.stem}.pack`
  }

  close(): void {
    this.index.close()
    this.files.close(this.path)
  }

  /** The offset of an object, or -1. */
  find(oid: Buffer): number {
    return this.index.find(oid)
  }

  /**
   * Whether the open file is the one of the index. Some programs name packs after their objects, and replace them; or its end is
   * damaged.
   */
  private isOfIndex = true

  private readonly compareWithIndex = (fd: number): void => {
    const checksum = Buffer.allocUnsafe(20)
    const read = readInto(fd, checksum, fs.fstatSync(fd).size - 20)
    this.isOfIndex = read === 20 && checksum.equals(this.index.packChecksum())
  }

  private descriptor(): number {
    return this.files.descriptor(this.path, this.compareWithIndex)
  }

  /** Whether an object at an offset of the index need not be verified. */
  private get isTrusted(): boolean {
    return this.isOfIndex && this.index.isVerified
  }

  private readAt(offset: number, length: number): Buffer {
    const fd = this.descriptor()
    const bytes = length === firstRead ? scratch : Buffer.allocUnsafeSlow(length)
    return bytes.subarray(0, readInto(fd, bytes, offset))
  }

  private entryAt(offset: number, whole: boolean): Entry {
    let data = this.readAt(offset, firstRead)
    let at = 0
    const next = () => {
      const byte = data[at++]
      if (byte === undefined)
        throw new EngineError("Corrupt", `${this.stem}.pack is cut short`, "Run `git fsck`")
      return byte
    }
    let byte = next()
    const type = (byte >> 4) & 7
    let size = byte & 15
    for (let scale = 16; (byte & 0x80) !== 0; scale *= 128) {
      byte = next()
      size += (byte & 0x7f) * scale
    }
    let base: number | Oid | undefined
    if (type === offsetDelta) {
      byte = next()
      let distance = byte & 0x7f
      while ((byte & 0x80) !== 0) {
        byte = next()
        distance = (distance + 1) * 128 + (byte & 0x7f)
      }
      base = offset - distance
    } else if (type === referenceDelta) {
      base = data.toString("hex", at, at + 20) as Oid
      at += 20
    } else if (types[type] === undefined) {
      throw new EngineError("Corrupt", `${this.stem}.pack holds an unknown kind of object`, "Run `git fsck`")
    }
    if (whole && size > maxWholeBytes) checkSize(size, this.bytes - offset)
    if (whole && at + maxDeflatedSize(size) > data.length && data.length === firstRead) {
      data = this.readAt(offset, Math.min(at + maxDeflatedSize(size), this.bytes - offset))
    }
    return { type, size, data, start: at, base }
  }

  private baseOffset(base: number | Oid): number {
    const offset = typeof base === "number" ? base : this.find(Buffer.from(base, "hex"))
    if (offset < 12)
      throw new EngineError("Corrupt", `${this.stem}.pack lacks the base of a delta`, "Run `git fsck`")
    return offset
  }

  /** The object at `offset`. Its content may be shared with other readers and must not be changed. */
  read(offset: number): RawObject {
    const chain: Array<{ readonly offset: number; readonly delta: Uint8Array }> = []
    let at = offset
    let object = this.bases.get(this.key(at))
    while (object === undefined) {
      const entry = this.entryAt(at, true)
      const content = inflate(entry.data, entry.start, entry.size)
      if (entry.base === undefined) {
        object = { type: types[entry.type]!, content }
        if (chain.length > 0) this.cacheBase(at, object)
        break
      }
      chain.push({ offset: at, delta: content })
      if (chain.length > maxChain) throw this.deltaCycle()
      at = this.baseOffset(entry.base)
      object = this.bases.get(this.key(at))
    }
    for (let i = chain.length - 1; i >= 0; i--) {
      const { delta, offset: deltaOffset } = chain[i]!
      object = { type: object.type, content: applyDelta(object.content, delta) }
      this.cacheBase(deltaOffset, object)
    }
    return object
  }

  /** The object at `offset`. Its id is verified, unless the index is known to be intact and to belong to the file. */
  readNamed(oid: Oid, offset: number): RawObject {
    const object = this.read(offset)
    if (!this.isTrusted && hash(object.type, object.content) !== oid) {
      throw new EngineError(
        "Corrupt",
        `${this.stem}.pack does not hold ${oid} where its index says`,
        "Run `git fsck`"
      )
    }
    return object
  }

  /**
   * The deflated bytes of the object at `offset`, if it has at least `least` bytes; undefined for a smaller object and for a delta.
   */
  deflated(offset: number, least: number): DeflatedObject | undefined {
    this.index.verify()
    const { base, size, start, type } = this.entryAt(offset, false)
    // The caller opens the file by its name.
    const isSame = fs.statSync(this.path).ino === fs.fstatSync(this.descriptor()).ino
    if (!isSame) throw new EngineError("Corrupt", `${this.path} was replaced`, "Try again")
    return base === undefined && size >= least && this.isOfIndex
      ? {
          type: types[type]!,
          size,
          file: this.path,
          start: offset + start,
          // Reading ends with the object.
          end: this.bytes - 20,
          header: 0
        }
      : undefined
  }

  /** The size of the file. */
  private get bytes(): number {
    return fs.fstatSync(this.descriptor()).size
  }

  private deltaCycle(): EngineError {
    return new EngineError("Corrupt", `${this.stem}.pack has a cycle of deltas`, "Run `git fsck`")
  }

  private key(offset: number): number {
    if (this.firstKey === undefined) {
      this.firstKey = nextKey
      nextKey += this.bytes
    }
    return this.firstKey + offset
  }

  private cacheBase(offset: number, object: RawObject): void {
    this.bases.set(this.key(offset), object, object.content.length + 150)
  }

  info(oid: Oid, offset: number): { readonly type: ObjectType; readonly size: number } {
    let entry = this.entryAt(offset, false)
    if (!this.isTrusted) {
      if (entry.size <= firstRead || !this.isOfIndex) {
        const { content, type } = this.readNamed(oid, offset)
        return { type, size: content.length }
      }
      this.index.verify()
    }
    let size = entry.size
    if (entry.base !== undefined) {
      const whole = this.entryAt(offset, true)
      const delta = inflate(whole.data, whole.start, whole.size)
      size = readSize(delta, readSize(delta, 0)[1])[0]
    }
    for (let steps = 0; entry.base !== undefined; steps++) {
      if (steps > maxChain) throw this.deltaCycle()
      entry = this.entryAt(this.baseOffset(entry.base), false)
    }
    return { type: types[entry.type]!, size }
  }
}
