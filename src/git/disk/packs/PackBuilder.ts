import * as crypto from "node:crypto"
import * as zlib from "node:zlib"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { ObjectType } from "../port/GitRepository.js"
import { deflate } from "./Deflate.js"
import { asBuffer } from "./ObjectParsing.js"
import type { Splice } from "./RawTree.js"

const typeNumbers = { commit: 1, tree: 2, blob: 3, tag: 4 } as const
const offsetDelta = 6
const refDelta = 7
/** The longest delta chain, as in Git: longer ones make reads slow. */
const maxChain = 50

/** The difference of an object from its base. */
export interface Delta {
  readonly base: Oid
  readonly baseSize: number
  readonly splices: ReadonlyArray<Splice>
}

/** An object for a pack, with an optional delta from another object. */
export interface PackableObject {
  readonly oid: Oid
  readonly type: ObjectType
  readonly content: Uint8Array
  readonly delta?: Delta | undefined
}

/** A complete pack and its index. */
export interface BuiltPack {
  readonly chunks: ReadonlyArray<Buffer>
  readonly size: number
  readonly index: Buffer
}

const entryHead = (type: number, size: number): Array<number> => {
  const bytes: Array<number> = []
  let byte = (type << 4) | (size & 15)
  let rest = Math.floor(size / 16)
  while (rest > 0) {
    bytes.push(byte | 0x80)
    byte = rest & 0x7f
    rest = Math.floor(rest / 128)
  }
  bytes.push(byte)
  return bytes
}

const distanceBytes = (distance: number): Array<number> => {
  const bytes = [distance & 0x7f]
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest--
    bytes.unshift(0x80 | (rest & 0x7f))
  }
  return bytes
}

const sizeBytes = (out: Array<number>, size: number) => {
  let rest = size
  while (rest >= 128) {
    out.push((rest & 0x7f) | 0x80)
    rest = Math.floor(rest / 128)
  }
  out.push(rest)
}

const copyInstruction = (out: Array<number>, from: number, length: number) => {
  let at = from
  for (let left = length; left > 0; ) {
    const part = Math.min(left, 0xffff)
    const flagsAt = out.length
    let flags = 0x80
    out.push(0)
    for (let i = 0, rest = at; i < 4; i++, rest = Math.floor(rest / 256)) {
      if ((rest & 0xff) !== 0) {
        out.push(rest & 0xff)
        flags |= 1 << i
      }
    }
    for (let i = 0, rest = part; i < 2; i++, rest >>>= 8) {
      if ((rest & 0xff) !== 0) {
        out.push(rest & 0xff)
        flags |= 0x10 << i
      }
    }
    out[flagsAt] = flags
    at += part
    left -= part
  }
}

const deltaOf = (baseSize: number, size: number, splices: ReadonlyArray<Splice>): Buffer => {
  const out: Array<number> = []
  sizeBytes(out, baseSize)
  sizeBytes(out, size)
  let from = 0
  for (const splice of splices) {
    if (splice.at > from) copyInstruction(out, from, splice.at - from)
    const insert = splice.insert
    if (insert !== undefined) {
      for (let at = 0; at < insert.length; at += 127) {
        const part = insert.subarray(at, at + 127)
        out.push(part.length)
        for (const byte of part) out.push(byte)
      }
    }
    from = splice.at + splice.remove
  }
  if (baseSize > from) copyInstruction(out, from, baseSize - from)
  return Buffer.from(out)
}

/**
 * Builds a pack in memory. The bases of all deltas are in the pack, unless it is `thin`: then a base may be an object that the
 * receiver has.
 */
export class PackBuilder {
  private readonly chunks: Array<Buffer> = []
  private readonly entries = new Map<
    Oid,
    { readonly offset: number; readonly crc: number; readonly depth: number }
  >()
  private readonly checksum = crypto.createHash("sha1")
  private size = 12

  constructor(
    private readonly count: number,
    private readonly thin = false
  ) {
    const head = Buffer.alloc(12)
    head.write("PACK", 0, "latin1")
    head.writeUInt32BE(2, 4)
    head.writeUInt32BE(count, 8)
    this.push(head)
  }

  private push(bytes: Buffer) {
    this.chunks.push(bytes)
    this.checksum.update(bytes)
  }

  get bytes(): number {
    return this.size
  }

  /** Adds an object. `deflated` is the zlib stream of its content, if the caller has made it. */
  add(object: PackableObject, deflated?: Buffer): void {
    const base = object.delta === undefined ? undefined : this.entries.get(object.delta.base)
    let entry: Buffer
    let depth = 0
    if (object.delta !== undefined && (base === undefined ? this.thin : base.depth < maxChain)) {
      const delta = deltaOf(object.delta.baseSize, object.content.length, object.delta.splices)
      const head =
        base === undefined
          ? [...entryHead(refDelta, delta.length), ...Buffer.from(object.delta.base, "hex")]
          : [...entryHead(offsetDelta, delta.length), ...distanceBytes(this.size - base.offset)]
      entry = deflate(Buffer.from(head), delta, false)
      depth = (base?.depth ?? 0) + 1
    } else {
      const head = Buffer.from(entryHead(typeNumbers[object.type], object.content.length))
      entry =
        deflated === undefined
          ? deflate(head, object.content, object.type !== "tree")
          : Buffer.concat([head, deflated])
    }
    this.entries.set(object.oid, { offset: this.size, crc: zlib.crc32(entry), depth })
    this.push(entry)
    this.size += entry.length
  }

  finish(): BuiltPack {
    if (this.entries.size !== this.count)
      throw new Error(`${this.entries.size} objects in a pack of ${this.count}`)
    const trailer = this.checksum.digest()
    this.chunks.push(trailer)
    return {
      chunks: this.chunks,
      size: this.size + trailer.length,
      index: this.indexBytes(trailer)
    }
  }

  private indexBytes(trailer: Buffer): Buffer {
    const oids = [...this.entries.keys()].sort((a, b) => (a < b ? -1 : 1))
    const large = oids.filter((oid) => this.entries.get(oid)!.offset > 0x7fffffff)
    const index = Buffer.alloc(8 + 1024 + oids.length * 28 + large.length * 8 + 40)
    const words = new DataView(index.buffer, index.byteOffset)
    words.setUint32(0, 0xff744f63)
    words.setUint32(4, 2)
    const names = 8 + 1024
    const sums = names + oids.length * 20
    const offsets = sums + oids.length * 4
    const largeOffsets = offsets + oids.length * 4
    let bucket = 0
    let larges = 0
    for (const [i, oid] of oids.entries()) {
      const { offset, crc } = this.entries.get(oid)!
      index.write(oid, names + i * 20, 20, "hex")
      for (const first = index[names + i * 20]!; bucket < first; bucket++) words.setUint32(8 + bucket * 4, i)
      words.setUint32(sums + i * 4, crc)
      if (offset > 0x7fffffff) {
        words.setUint32(offsets + i * 4, 0x80000000 + larges)
        index.writeBigUInt64BE(BigInt(offset), largeOffsets + larges++ * 8)
      } else {
        words.setUint32(offsets + i * 4, offset)
      }
    }
    for (; bucket < 256; bucket++) words.setUint32(8 + bucket * 4, oids.length)
    trailer.copy(index, index.length - 40)
    const body = index.subarray(0, index.length - 20)
    crypto
      .createHash("sha1")
      .update(body)
      .digest()
      .copy(index, index.length - 20)
    return asBuffer(index)
  }
}
