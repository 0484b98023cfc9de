import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

interface NodeBuffer {
  readonly from: (
    data: Uint8Array | string | ArrayBufferLike,
    encodingOrOffset?: string | number,
    length?: number
  ) => Uint8Array & { readonly toString: (encoding: string) => string }
}

// Ten times as fast on a large document. Browsers do not have it.
const buffer = (globalThis as { readonly Buffer?: NodeBuffer }).Buffer

/** Standard base64, unwrapped. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  buffer === undefined
    ? Encoding.encodeBase64(bytes)
    : buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")

/** Decodes base64 with optional line breaks; undefined if it is invalid. */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  const unwrapped = text.replace(/\s+/g, "")
  if (buffer === undefined) return Either.getOrUndefined(Encoding.decodeBase64(unwrapped))
  if (unwrapped.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(unwrapped)) return undefined
  return new Uint8Array(buffer.from(unwrapped, "base64"))
}

/** Decodes UTF-8 that can be sent in JSON unchanged; undefined for other bytes. */
export const asText = (bytes: Uint8Array): string | undefined => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes("\0") ? undefined : text
  } catch {
    return undefined
  }
}
