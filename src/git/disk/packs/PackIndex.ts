import { createHash } from "node:crypto"
import * as fs from "node:fs"
import type { Steps } from "../../../domain/concurrency/Steps.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { EngineError } from "../files/EngineError.js"
import type { PackDescriptors } from "./PackDescriptors.js"

/** The bytes of an index that one step verifies. */
const pieceSize = 1024 * 1024
const headerSize = 8 + 1024
/** The number of ids that are read around the expected position of an id. The id is almost always among them. */
const window = 128
/** The cost of a partial lookup, in bytes that could be read and hashed in the same time. */
const lookupCost = 8192

/** Whether the last 20 bytes of a file are the SHA-1 of the bytes before. */
const hasValidChecksum = (bytes: Buffer): boolean => {
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
 * The index of a pack, in either version of Git's format. A large index is read in parts: first only the fan-out table, and for each
 * lookup the few ids around the expected position. The whole file is read, and its checksum verified, when the partial lookups have
 * cost as much as that, when an id is missing, or when something is wrong. Until then the bytes are not known to be intact.
 */
export class PackIndex {
  readonly count: number
  private readonly fanOut: number
  private readonly names: number
  private readonly stride: number
  private readonly offsets: number
  private lookups = 0
  /** The checksum of the pack, in the file that was opened. Only of an index that is read in parts. */
  private openedFor: Buffer | undefined

  private constructor(
    private readonly path: string,
    /** The header and the fan-out table, or the whole file. */
    private bytes: Buffer,
    private readonly size: number,
    private readonly files: PackDescriptors | undefined
  ) {
    if (size < headerSize + 40) throw this.unusable("is cut short")
    // Version 1 has no header, and each id follows its offset. In version 2, checksums and offsets follow all ids.
    const isVersionOne = bytes.readUInt32BE(0) !== 0xff744f63
    if (!isVersionOne && bytes.readUInt32BE(4) !== 2) throw this.unusable("has an unknown version")
    this.fanOut = isVersionOne ? 0 : 8
    this.count = bytes.readUInt32BE(this.fanOut + 255 * 4)
    this.names = this.fanOut + 1024 + (isVersionOne ? 4 : 0)
    this.stride = isVersionOne ? 24 : 20
    this.offsets = isVersionOne ? 1024 : headerSize + this.count * 24
    const end = isVersionOne ? 1024 + this.count * 24 : this.offsets + this.count * 4
    if (size < end + 40) throw this.unusable("is cut short")
    if (this.isVerified) return
    for (let first = 0; first < 255; first++) {
      if (this.boundAt(first) > this.boundAt(first + 1)) throw this.unusable("is not in order")
    }
  }

  /** The index of a pack that this process wrote. */
  static written(stem: string, bytes: Buffer): PackIndex {
    return new PackIndex(`${stem}.idx`, bytes, bytes.length, undefined)
  }

  /** Opens the index of a pack. It is read in parts if it has at least `partsFrom` bytes. */
  static open(stem: string, size: number, partsFrom: number, files: PackDescriptors): PackIndex {
    const path = `${stem}.idx`
    if (size >= partsFrom && size >= headerSize + 40) {
      const first = Buffer.allocUnsafeSlow(headerSize)
      try {
        readInto(files.descriptor(path), first, 0, path)
        const index = new PackIndex(path, first, size, files)
        index.openedFor = index.packChecksum()
        return index
      } catch (cause) {
        // An intact file may replace it under the same path.
        files.close(path)
        throw cause
      }
    }
    return PackIndex.whole(stem)
  }

  /** Reads the whole index of a pack. */
  private static whole(stem: string): PackIndex {
    const path = `${stem}.idx`
    const bytes = wholeFile(path)
    return new PackIndex(path, bytes, bytes.length, undefined)
  }

  /** Reads the whole index of a pack, one piece with each step. */
  static *load(stem: string): Steps<PackIndex> {
    const path = `${stem}.idx`
    const index = new PackIndex(path, headerOf(path), fs.statSync(path).size, undefined)
    const bytes = Buffer.allocUnsafeSlow(index.size)
    yield* index.readPieces((piece, at) => piece.copy(bytes, at))
    index.bytes = bytes
    return index
  }

  /** Whether the whole file is in memory: it was read and its checksum verified, or this process wrote it. */
  get isVerified(): boolean {
    return this.bytes.length === this.size
  }

  /** Reads the whole file. Throws if it is damaged. */
  verify(): void {
    if (this.isVerified) return
    const bytes = wholeFile(this.path)
    const isSame = bytes.length === this.size && this.openedFor?.equals(bytes.subarray(-40, -20)) !== false
    // Another one was put in its place, with a pack of its own.
    if (!isSame) throw this.unusable("has changed")
    this.bytes = bytes
    this.close()
  }

  /** Verifies the checksum of the file as it is now, one piece with each step. Throws if it is damaged. */
  *verifyFile(): Steps<void> {
    yield* this.readPieces(() => {})
  }

  /** Reads the file as it is now, one piece with each step. Throws if it does not match its checksum. */
  private *readPieces(onPiece: (piece: Buffer, at: number) => void): Steps<void> {
    const hash = createHash("sha1")
    const end = this.size - 20
    for (let at = 0; at < end; at += pieceSize) {
      const piece = this.fromFile(at, Math.min(pieceSize, end - at))
      hash.update(piece)
      onPiece(piece, at)
      yield
    }
    const checksum = this.fromFile(end, 20)
    if (!hash.digest().equals(checksum)) throw this.unusable("does not match its checksum")
    onPiece(checksum, end)
  }

  private fromFile(from: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    const fd = fs.openSync(this.path, "r")
    try {
      if (fs.fstatSync(fd).size !== this.size) throw this.unusable("has changed")
      readInto(fd, bytes, from, this.path)
    } finally {
      fs.closeSync(fd)
    }
    return bytes
  }

  /** The checksum of the pack to which the index belongs. */
  packChecksum(): Buffer {
    return this.at(this.size - 40, 20)
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

  /** Reads bytes of the file. */
  private at(from: number, length: number): Buffer {
    if (this.isVerified) return this.bytes.subarray(from, from + length)
    const bytes = Buffer.allocUnsafe(length)
    readInto(this.files!.descriptor(this.path), bytes, from, this.path)
    return bytes
  }

  /** The first position whose id is not less than `oid`, which may be a prefix. Requires the whole file. */
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

  /** The position of an id, or -1: an interpolation search that continues as a binary search. */
  private findPartially(oid: Buffer): number {
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
        for (let position = 0; position < count; position++) {
          if (compareAt(names, position * this.stride, oid) === 0) return from + position
        }
        return -1
      }
      expected = (low + high) >>> 1
    }
    return -1
  }

  /** The offset of an object, or -1. The result may be wrong while the index is not verified. */
  find(oid: Buffer): number {
    if (!this.isVerified && ++this.lookups * lookupCost > this.size) this.verify()
    if (!this.isVerified) {
      const position = this.findPartially(oid)
      return position < 0 ? -1 : this.offsetAt(position)
    }
    const position = this.lowerBound(oid)
    if (position >= this.count || compareAt(this.bytes, this.names + position * this.stride, oid) !== 0)
      return -1
    return this.offsetAt(position)
  }

  offsetAt(position: number): number {
    if (this.fanOut === 0) return this.at(this.offsets + position * this.stride, 4).readUInt32BE(0)
    const offset = this.at(this.offsets + position * 4, 4).readUInt32BE(0)
    if (offset < 0x80000000) return offset
    const large = this.offsets + this.count * 4 + (offset - 0x80000000) * 8
    if (large + 8 > this.size - 40) throw this.unusable("names an offset that it does not have")
    return Number(this.at(large, 8).readBigUInt64BE(0))
  }

  /** All ids. */
  *all(): Generator<Oid> {
    this.verify()
    for (let position = 0; position < this.count; position++) yield this.oidAt(position)
  }

  private oidAt(position: number): Oid {
    const at = this.names + position * this.stride
    return this.bytes.toString("hex", at, at + 20) as Oid
  }

  /** The ids that begin with a prefix of at least two digits. */
  startingWith(prefix: string): Array<Oid> {
    this.verify()
    const found: Array<Oid> = []
    const low = this.lowerBound(Buffer.from(prefix.slice(0, prefix.length & ~1), "hex"))
    for (let position = low; position < this.count; position++) {
      const name = this.oidAt(position)
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

/** The header and the fan-out table of an index. */
const headerOf = (path: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(headerSize)
  const fd = fs.openSync(path, "r")
  try {
    readInto(fd, bytes, 0, path)
  } finally {
    fs.closeSync(fd)
  }
  return bytes
}

const wholeFile = (path: string): Buffer => {
  const bytes = fs.readFileSync(path)
  if (!hasValidChecksum(bytes)) {
    throw new EngineError("Corrupt", `${path} does not match its checksum`, "Run the maintenance")
  }
  return bytes
}
