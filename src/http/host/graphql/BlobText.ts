import { isUtf8 } from "node:buffer"
import { incompleteBytes } from "../request/Utf8Boundary.js"

/** Where GitHub cuts the text of a blob, without an error. */
export const textBytes = 512_000

/** A blob as `Blob` shows it. */
export interface Text {
  readonly isBinary: boolean
  readonly isTruncated: boolean
  /** None of a binary one. */
  readonly text: string | null
}

/** The bytes of a blob as `Blob.text` shows them. */
export const text = (content: Uint8Array): Text => {
  const isTruncated = content.length > textBytes
  const isBinary = content.subarray(0, 8000).includes(0) || !isUtf8(content)
  if (isBinary) return { isBinary, isTruncated, text: null }
  const cut = content.subarray(0, textBytes)
  const whole = isTruncated ? cut.subarray(0, cut.length - incompleteBytes(cut)) : cut
  return { isBinary, isTruncated, text: Buffer.from(whole.buffer, whole.byteOffset, whole.length).toString() }
}
