import { isUtf8 } from "node:buffer"
import { incompleteBytes } from "../request/Utf8Boundary.js"

/** The size at which GitHub truncates the text of a blob. */
export const textBytes = 512_000

/** The text fields of `Blob`. */
export interface Text {
  readonly isBinary: boolean
  readonly isTruncated: boolean
  /** Null for a binary blob. */
  readonly text: string | null
}

/** Converts the bytes of a blob to its text fields. */
export const text = (content: Uint8Array): Text => {
  const isTruncated = content.length > textBytes
  const isBinary = content.subarray(0, 8000).includes(0) || !isUtf8(content)
  if (isBinary) return { isBinary, isTruncated, text: null }
  const cut = content.subarray(0, textBytes)
  const whole = isTruncated ? cut.subarray(0, cut.length - incompleteBytes(cut)) : cut
  return { isBinary, isTruncated, text: Buffer.from(whole.buffer, whole.byteOffset, whole.length).toString() }
}
