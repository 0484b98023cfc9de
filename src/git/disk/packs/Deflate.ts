import * as zlib from "node:zlib"
import { EngineError, TooLargeObject } from "../files/EngineError.js"

const maxStored = 0xffff

const adler32 = (bytes: Uint8Array, start: number, end: number): number => {
  let a = 1
  let b = 0
  for (let from = start; from < end; ) {
    const to = Math.min(from + 3800, end)
    for (; from < to; from++) {
      a += bytes[from]!
      b += a
    }
    a %= 65521
    b %= 65521
  }
  return ((b << 16) | a) >>> 0
}

const storedOverhead = 11

/** Deflate compresses by a factor of at most 1032. */
export const maxRatio = 1032

const store = (head: Uint8Array, content: Uint8Array): Buffer => {
  const length = content.length
  const out = Buffer.allocUnsafe(head.length + length + storedOverhead)
  out.set(head, 0)
  let at = head.length
  out[at++] = 0x78
  out[at++] = 0x01
  out[at++] = 0x01
  out[at++] = length & 0xff
  out[at++] = length >>> 8
  out[at++] = ~length & 0xff
  out[at++] = (~length >>> 8) & 0xff
  out.set(content, at)
  out.writeUInt32BE(adler32(content, 0, length), at + length)
  return out
}

/**
 * Encodes `content` as a zlib stream, preceded by `head`. Small contents and trees are stored without compression: they hardly
 * compress, and a call of zlib takes longer. Repacking compresses them later.
 */
export const deflate = (head: Uint8Array, content: Uint8Array, compressible: boolean): Buffer => {
  if (content.length <= (compressible ? 1024 : maxStored)) return store(head, content)
  return Buffer.concat([head, zlib.deflateSync(content, { level: compressible ? 1 : 0 })])
}

/** The largest size of the zlib stream of `size` bytes. */
export const maxDeflatedSize = (size: number): number => size + (size >>> 9) + 64

/** Throws if `deflated` bytes cannot contain an object of `size` bytes, or if it is too large to be read as a whole. */
export const checkSize = (size: number, deflated: number): void => {
  if (size > deflated * maxRatio) {
    throw new EngineError("Corrupt", `An object has an impossible size of ${size} bytes`, "Run `git fsck`")
  }
  TooLargeObject.check(size)
}

/** Inflates `size` bytes from the zlib stream that begins at `start`. Bytes behind the stream are ignored. */
export const inflate = (bytes: Uint8Array, start: number, size: number): Uint8Array => {
  if (
    bytes[start + 2] === 1 &&
    bytes.length >= start + size + storedOverhead &&
    bytes[start + 3]! + (bytes[start + 4]! << 8) === size &&
    size <= maxStored
  ) {
    const from = start + 7
    const out = new Uint8Array(bytes.subarray(from, from + size))
    const at = from + size
    const checksum =
      ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
    if (checksum !== adler32(out, 0, size))
      throw new EngineError("Corrupt", "An object's checksum does not match its content")
    return out
  }
  checkSize(size, bytes.length - start)
  const out = zlib.inflateSync(bytes.subarray(start), {
    chunkSize: Math.max(64, size + 1),
    maxOutputLength: Math.max(1, size)
  })
  if (out.length !== size)
    throw new EngineError("Corrupt", `An object has ${out.length} bytes instead of ${size}`)
  return new Uint8Array(out.buffer, out.byteOffset, out.length)
}
