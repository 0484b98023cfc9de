import { EngineError, TooLargeObject } from "../files/EngineError.js"

const corrupt = () =>
  new EngineError("Corrupt", "A delta exceeds the bounds of its base or of its result", "Run `git fsck`")

/** Reads a size from a delta, and returns it with the position behind it. */
export const readSize = (delta: Uint8Array, from: number): readonly [size: number, next: number] => {
  let at = from
  let size = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = delta[at++]
    if (byte === undefined) throw corrupt()
    size += (byte & 0x7f) * scale
    if ((byte & 0x80) === 0) return [size, at]
  }
}

/** Applies a delta to its base. */
export const applyDelta = (base: Uint8Array, delta: Uint8Array): Uint8Array => {
  const [baseSize, afterBase] = readSize(delta, 0)
  const [size, begin] = readSize(delta, afterBase)
  if (baseSize !== base.length)
    throw new EngineError("Corrupt", "A delta does not match its base", "Run `git fsck`")
  // A copy instruction yields at most 16 MiB.
  if (size > delta.length * 0xffffff) throw corrupt()
  TooLargeObject.check(size)
  const out = new Uint8Array(size)
  let to = 0
  let at = begin
  while (at < delta.length) {
    const code = delta[at++]!
    if ((code & 0x80) === 0) {
      if (code === 0 || at + code > delta.length || to + code > size) throw corrupt()
      out.set(delta.subarray(at, at + code), to)
      at += code
      to += code
      continue
    }
    let from = 0
    let length = 0
    if (code & 1) from = delta[at++]!
    if (code & 2) from += delta[at++]! * 0x100
    if (code & 4) from += delta[at++]! * 0x10000
    if (code & 8) from += delta[at++]! * 0x1000000
    if (code & 16) length = delta[at++]!
    if (code & 32) length += delta[at++]! * 0x100
    if (code & 64) length += delta[at++]! * 0x10000
    if (length === 0) length = 0x10000
    if (at > delta.length || from + length > base.length || to + length > size) throw corrupt()
    out.set(base.subarray(from, from + length), to)
    to += length
  }
  if (to !== size)
    throw new EngineError("Corrupt", "A delta yields an object of the wrong size", "Run `git fsck`")
  return out
}
