import { sha1 as portableSha1 } from "@noble/hashes/legacy.js"
import { sha256 as portableSha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

interface NativeHash {
  readonly update: (bytes: Uint8Array) => NativeHash
  readonly digest: (encoding: "hex") => string
}

interface NativeCrypto {
  readonly createHash: (algorithm: "sha1" | "sha256") => NativeHash
  /** In one call, which takes a third of the time on short input; other runtimes may lack it. */
  readonly hash?: (algorithm: "sha1" | "sha256", data: string | Uint8Array, encoding: "hex") => string
}

interface Runtime {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
}

/**
 * Node's own hashes, which take a tenth of the time on a file of 8 kB. Asked for and not imported: browsers carry this
 * module, and compute the same in JavaScript.
 */
const native = (globalThis as Runtime).process?.getBuiltinModule?.("node:crypto") as NativeCrypto | undefined

/** Where short parts are put together to be hashed in one call. */
const joined = new Uint8Array(4096)

const lengthOf = (parts: ReadonlyArray<Uint8Array>): number => {
  let length = 0
  for (const part of parts) length += part.length
  return length
}

/** The SHA-1 of some bytes one after the other, in hexadecimal digits. */
export const sha1 = (...parts: ReadonlyArray<Uint8Array>): string => {
  if (native === undefined) {
    const hash = portableSha1.create()
    for (const part of parts) hash.update(part)
    return bytesToHex(hash.digest())
  }
  if (native.hash !== undefined && lengthOf(parts) <= joined.length) {
    let at = 0
    for (const part of parts) {
      joined.set(part, at)
      at += part.length
    }
    return native.hash("sha1", joined.subarray(0, at), "hex")
  }
  const hash = native.createHash("sha1")
  for (const part of parts) hash.update(part)
  return hash.digest("hex")
}

/** The SHA-256 of a text, in hexadecimal digits. */
export const sha256 = (text: string): string => {
  if (native === undefined) return bytesToHex(portableSha256(utf8ToBytes(text)))
  if (native.hash !== undefined) return native.hash("sha256", text, "hex")
  return native.createHash("sha256").update(utf8ToBytes(text)).digest("hex")
}
