import { isUtf8 } from "node:buffer"
import { randomBytes } from "node:crypto"
import * as Base64Content from "./Base64Content.js"
import { incompleteBytes } from "./Utf8Boundary.js"

const quote = 0x22
const backslash = 0x5c
/** A long string that was extracted from a JSON text. `start` and `end` are its position in the extracted bytes. */
export interface Extract {
  readonly start: number
  end: number
  readonly base64: Base64Content.Base64Scan
}

/** The length of an incomplete escape sequence at the end. */
const tornEscape = (bytes: Buffer): number => {
  const last = bytes.subarray(-5).lastIndexOf(backslash)
  if (last < 0) return 0
  const at = Math.max(0, bytes.length - 5) + last
  let before = at
  while (bytes[before - 1] === backslash) before--
  if ((at - before) % 2 === 1) return 0
  const left = bytes.length - at
  return left < (bytes[at + 1] === 0x75 ? 6 : 2) ? left : 0
}

/**
 * Scans a JSON text in pieces and extracts its long strings. Each is replaced by a random, unguessable marker. Throws
 * a `SyntaxError` if it notices that the text is not JSON.
 */
export class JsonScanner {
  private readonly mark = randomBytes(16).toString("hex")
  private readonly decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  private readonly texts: Array<string> = []
  private readonly extracts: Array<Extract> = []
  /** The raw bytes of the current string. */
  private pending: Array<Buffer> = []
  private pendingBytes = 0
  private inString = false
  private escaped = false
  /** The current string, if it is long. */
  private long: Extract | undefined
  private highSurrogate = ""
  private taken: Array<Buffer> = []
  private takenBytes = 0
  private keptBytes = 0

  /** Extracts strings of more than `longest` bytes, in pieces of at least `piece` bytes. */
  constructor(
    private readonly longest: number,
    private readonly piece = 256 * 1024
  ) {}

  /** The number of bytes that are kept in memory. */
  get plainBytes(): number {
    return this.keptBytes + (this.long === undefined ? this.pendingBytes : 0)
  }

  push(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    let from = 0
    let at = 0
    if (this.inString) {
      const close = this.closing(chunk, 0)
      this.more(chunk.subarray(0, close < 0 ? chunk.length : close))
      if (close < 0) return
      this.closed()
      from = close
      at = close + 1
    }
    for (;;) {
      const open = chunk.indexOf(quote, at)
      if (open < 0) break
      const close = this.closing(chunk, open + 1)
      if (close < 0) {
        this.keep(chunk.subarray(from, open + 1))
        this.inString = true
        this.more(chunk.subarray(open + 1))
        return
      }
      at = close + 1
    }
    this.keep(chunk.subarray(from))
  }

  /** Returns the new bytes of long strings, as UTF-8 without escapes. */
  take(): ReadonlyArray<Buffer> {
    const taken = this.taken
    this.taken = []
    return taken
  }

  /** The text with markers, and a lookup from a marker to its extract. */
  end(): { readonly text: string; readonly extractOf: (value: string) => Extract | undefined } {
    if (this.inString) throw new SyntaxError("A string has no end")
    this.decode(Buffer.alloc(0), false)
    return {
      text: this.texts.join(""),
      extractOf: (value) =>
        value.startsWith(this.mark) ? this.extracts[Number(value.slice(this.mark.length))] : undefined
    }
  }

  /** The end of the string that continues at `from`. */
  private closing(chunk: Buffer, from: number): number {
    let at = this.escaped ? from + 1 : from
    this.escaped = false
    let close = chunk.indexOf(quote, at)
    for (;;) {
      const escape = chunk.subarray(at, close < 0 ? undefined : close).indexOf(backslash)
      if (escape < 0) return close
      at += escape + 2
      if (close >= 0 && close < at) close = chunk.indexOf(quote, at)
      if (at > chunk.length) this.escaped = true
    }
  }

  private more(bytes: Buffer): void {
    this.pending.push(bytes)
    this.pendingBytes += bytes.length
    if (this.long === undefined && this.pendingBytes > this.longest) {
      this.long = { start: this.takenBytes, end: this.takenBytes, base64: new Base64Content.Base64Scan() }
    }
    if (this.long !== undefined && this.pendingBytes >= this.piece) this.extract(this.long, false)
  }

  private closed(): void {
    if (this.long === undefined) {
      for (const bytes of this.pending) this.keep(bytes)
    } else {
      this.extract(this.long, true)
      this.keep(Buffer.from(`${this.mark}${this.extracts.push(this.long) - 1}`))
      this.long = undefined
    }
    this.pending = []
    this.pendingBytes = 0
    this.inString = false
  }

  /** Extracts the pending part of a long string, up to the last complete character. */
  private extract(long: Extract, whole: boolean): void {
    const bytes = Buffer.concat(this.pending)
    const cut = whole ? bytes.length : bytes.length - (tornEscape(bytes) || incompleteBytes(bytes))
    this.pending = [bytes.subarray(cut)]
    this.pendingBytes = bytes.length - cut
    const piece = bytes.subarray(0, cut)
    const bare = this.highSurrogate === "" && Base64Content.isPlain(piece)
    const out = bare ? piece : this.unescaped(piece, whole)
    if (bare) long.base64.addBare(out.length)
    else long.base64.add(out)
    this.taken.push(out)
    this.takenBytes += out.length
    long.end = this.takenBytes
  }

  /** Decodes the escapes of a part of a string. A high surrogate at the end waits for its low surrogate. */
  private unescaped(piece: Buffer, last: boolean): Buffer {
    if (!isUtf8(piece)) throw new SyntaxError("A string is not in UTF-8")
    const text: string = this.highSurrogate + JSON.parse(`"${piece.toString()}"`)
    const end = text.charCodeAt(text.length - 1)
    const split = !last && end >= 0xd800 && end < 0xdc00
    this.highSurrogate = split ? text.slice(-1) : ""
    return Buffer.from(split ? text.slice(0, -1) : text)
  }

  private keep(bytes: Buffer): void {
    this.keptBytes += bytes.length
    this.decode(bytes, true)
  }

  private decode(bytes: Buffer, stream: boolean): void {
    try {
      this.texts.push(this.decoder.decode(bytes, { stream }))
    } catch {
      throw new SyntaxError("The text is not in UTF-8")
    }
  }
}
