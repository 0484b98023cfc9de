import { createHash } from "node:crypto"
import * as fs from "node:fs"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { EngineError } from "../files/EngineError.js"
import type { PackDescriptors } from "./PackDescriptors.js"

const headerSize = 8 + 1024
/** Names that are read together around the place where a name is expected, of which it is hardly ever further away. */
const window = 128
/** What one look at an index file costs, in bytes that are read and hashed in the same time. */
const lookCost = 8192

/** Whether a file that Git ends with the SHA-1 of what comes before is whole. */
const endsInItsSum = (bytes: Buffer): boolean => {
  const end = bytes.length - 20
  return end > 0 && createHash("sha1").update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end))
}

const compareAt = (bytes: Buffer, at: number, oid: Buffer): number => {
  for (let i = 0; i < oid.length; i++) {
    const difference = bytes[at + i]! - oid[i]!
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * Where the objects of one pack lie, by either version of Git's index files. The index of a large pack is read in parts: at
 * first only the table of first bytes, and for each name the few names where it is expected. It is read whole when that has
 * cost as much as reading it whole would have, when a name is missing, or when something is wrong: until then nothing says
 * that it has the bytes that Git wrote.
 */
export class PackIndex {
  readonly count: number
  private readonly fanOut: number
  private readonly names: number
  private readonly stride: number
  private readonly offsets: number
  private looks = 0

  private constructor(
    private readonly path: string,
    /** The first bytes of the file, or the whole file. */
    private bytes: Buffer,
    private readonly size: number,
    private readonly files: PackDescriptors | undefined
  ) {
    if (size < headerSize + 40) throw this.unusable("is cut short")
    // The first version has no header, and offsets before the names instead of sums and offsets after all of them.
    const isFirst = bytes.readUInt32BE(0) !== 0xff744f63
    if (!isFirst && bytes.readUInt32BE(4) !== 2) throw this.unusable("has a version that is not known")
    this.fanOut = isFirst ? 0 : 8
    this.count = bytes.readUInt32BE(this.fanOut + 255 * 4)
    this.names = this.fanOut + 1024 + (isFirst ? 4 : 0)
    this.stride = isFirst ? 24 : 20
    this.offsets = isFirst ? 1024 : headerSize + this.count * 24
    const end = isFirst ? 1024 + this.count * 24 : this.offsets + this.count * 4
    if (size < end + 40) throw this.unusable("is cut short")
    if (this.isVerified) return
    for (let first = 0; first < 255; first++) {
      if (this.boundAt(first) > this.boundAt(first + 1)) throw this.unusable("is not in order")
    }
  }

  /** The index of a pack that this process has written. */
  static written(stem: string, bytes: Buffer): PackIndex {
    return new PackIndex(`${stem}.idx`, bytes, bytes.length, undefined)
  }

  /** The index beside a pack: whole below `partsFrom` bytes. */
  static open(stem: string, size: number, partsFrom: number, files: PackDescriptors): PackIndex {
    const path = `${stem}.idx`
    if (size >= partsFrom && size >= headerSize + 40) {
      const first = Buffer.allocUnsafeSlow(headerSize)
      try {
        readInto(files.descriptor(path), first, 0, path)
        return new PackIndex(path, first, size, files)
      } catch (cause) {
        // The file may be replaced by a sound one, which has the same path.
        files.close(path)
        throw cause
      }
    }
    const bytes = wholeFile(path)
    return new PackIndex(path, bytes, bytes.length, undefined)
  }

  /** Whether its bytes are known to be what Git wrote. */
  get isVerified(): boolean {
    return this.bytes.length === this.size
  }

  /** Reads the whole file, and throws where it is damaged. */
  verify(): void {
    if (this.isVerified) return
    const bytes = wholeFile(this.path)
    if (bytes.length !== this.size) throw this.unusable("has changed")
    this.bytes = bytes
    this.close()
  }

  close(): void {
    this.files?.close(this.path)
  }

  private unusable(problem: string): EngineError {
    return new EngineError(
      "Corrupt",
      `${this.path} ${problem}`,
      "Run the maintenance, or `git index-pack` on the pack"
    )
  }

  private boundAt(first: number): number {
    return this.bytes.readUInt32BE(this.fanOut + first * 4)
  }

  /** Bytes of the file. */
  private at(from: number, length: number): Buffer {
    if (this.isVerified) return this.bytes.subarray(from, from + length)
    const bytes = Buffer.allocUnsafe(length)
    readInto(this.files!.descriptor(this.path), bytes, from, this.path)
    return bytes
  }

  /** The first place whose name is not below `oid`, which may be a prefix; in the whole file. */
  private lowerBound(oid: Buffer): number {
    const first = oid[0]!
    let low = first === 0 ? 0 : this.boundAt(first - 1)
    let high = this.boundAt(first)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareAt(this.bytes, this.names + middle * this.stride, oid) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The place of a name, or -1: read where names that are spread evenly would have it, and from there on by halves. */
  private placeInParts(oid: Buffer): number {
    const first = oid[0]!
    let low = first === 0 ? 0 : this.boundAt(first - 1)
    let high = this.boundAt(first)
    let expected = low + Math.floor(((high - low) * oid.readUIntBE(1, 3)) / 0x1000000)
    while (low < high) {
      const from = Math.max(low, Math.min(expected - window / 2, high - window))
      const count = Math.min(window, high - from)
      const names = this.at(this.names + from * this.stride, count * this.stride)
      if (compareAt(names, 0, oid) > 0) high = from
      else if (compareAt(names, (count - 1) * this.stride, oid) < 0) low = from + count
      else {
        for (let place = 0; place < count; place++) {
          if (compareAt(names, place * this.stride, oid) === 0) return from + place
        }
        return -1
      }
      expected = (low + high) >>> 1
    }
    return -1
  }

  /** The offset of an object, or -1: without more than a guess while the index is not verified. */
  find(oid: Buffer): number {
    if (!this.isVerified && ++this.looks * lookCost > this.size) this.verify()
    if (!this.isVerified) {
      const place = this.placeInParts(oid)
      return place < 0 ? -1 : this.offsetAt(place)
    }
    const place = this.lowerBound(oid)
    if (place >= this.count || compareAt(this.bytes, this.names + place * this.stride, oid) !== 0) return -1
    return this.offsetAt(place)
  }

  offsetAt(place: number): number {
    if (this.fanOut === 0) return this.at(this.offsets + place * this.stride, 4).readUInt32BE(0)
    const offset = this.at(this.offsets + place * 4, 4).readUInt32BE(0)
    if (offset < 0x80000000) return offset
    const large = this.offsets + this.count * 4 + (offset - 0x80000000) * 8
    if (large + 8 > this.size - 40) throw this.unusable("names an offset that it does not have")
    return Number(this.at(large, 8).readBigUInt64BE(0))
  }

  /** The ids of all objects. */
  *all(): Generator<Oid> {
    this.verify()
    for (let place = 0; place < this.count; place++) yield this.nameAt(place)
  }

  private nameAt(place: number): Oid {
    const at = this.names + place * this.stride
    return this.bytes.toString("hex", at, at + 20) as Oid
  }

  /** Ids that begin with a prefix of at least two digits. */
  startingWith(prefix: string): Array<Oid> {
    this.verify()
    const found: Array<Oid> = []
    const low = this.lowerBound(Buffer.from(prefix.slice(0, prefix.length & ~1), "hex"))
    for (let place = low; place < this.count; place++) {
      const name = this.nameAt(place)
      if (name.startsWith(prefix)) found.push(name)
      else if (name.slice(0, prefix.length) > prefix) break
    }
    return found
  }
}

const readInto = (fd: number, bytes: Buffer, position: number, path: string): void => {
  let filled = 0
  while (filled < bytes.length) {
    const read = fs.readSync(fd, bytes, filled, bytes.length - filled, position + filled)
    if (read === 0) throw new EngineError("Corrupt", `${path} is cut short`, "Run the maintenance")
    filled += read
  }
}

const wholeFile = (path: string): Buffer => {
  const bytes = fs.readFileSync(path)
  if (!endsInItsSum(bytes)) {
    throw new EngineError("Corrupt", `${path} does not match its checksum`, "Run the maintenance")
  }
  return bytes
}
