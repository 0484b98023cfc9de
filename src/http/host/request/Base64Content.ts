import { Effect, Stream } from "effect"
import { type HostError, unprocessable } from "../reply/HostError.js"

const white = /[\t-\r ]+/g

const kinds = { other: 0, character: 1, padding: 2, white: 3 } as const

/** The kind of each byte in base64. Whitespace is ignored, as on GitHub. */
const kindOf = new Uint8Array(256)
for (const one of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  kindOf[one.charCodeAt(0)] = kinds.character
kindOf["=".charCodeAt(0)] = kinds.padding
for (const one of "\t\n\v\f\r ") kindOf[one.charCodeAt(0)] = kinds.white

/** Whether the text has only base64 characters: no padding and no whitespace. */
export const isPlain = (text: Uint8Array): boolean => {
  let at = 0
  while (at < text.length && kindOf[text[at]!] === kinds.character) at++
  return at === text.length
}

/** Validates base64 text in pieces and computes the decoded size. */
export class Base64Scan {
  private characters = 0
  private padding = 0
  private wrong = false
  /** Whether the text has had no whitespace. */
  strict = true

  add(text: Uint8Array): void {
    for (let at = 0; at < text.length; at++) {
      const kind = kindOf[text[at]!]
      if (kind === kinds.character) {
        if (this.padding > 0) this.wrong = true
        this.characters++
      } else if (kind === kinds.padding) this.padding++
      else if (kind === kinds.white) this.strict = false
      else this.wrong = true
    }
  }

  /** Adds text that has only base64 characters. */
  addBare(characters: number): void {
    if (this.padding > 0 && characters > 0) this.wrong = true
    this.characters += characters
  }

  /** The decoded size in bytes; undefined if the text is not valid base64. */
  get size(): number | undefined {
    return this.wrong || this.padding > 2 || (this.characters + this.padding) % 4 !== 0
      ? undefined
      : Math.floor((this.characters * 3) / 4)
  }
}

export const scan = (text: string): Base64Scan => {
  const shape = new Base64Scan()
  shape.add(Buffer.from(text))
  return shape
}

export const invalid: HostError = unprocessable("content is not valid Base64")

/** Decodes base64. Fails if the text is not valid. */
export const decode = (text: string): Effect.Effect<Uint8Array, HostError> =>
  Effect.suspend(() =>
    scan(text).size === undefined ? Effect.fail(invalid) : Effect.succeed(Buffer.from(text, "base64"))
  )

/** Decodes valid base64 in pieces. */
export const decodeStream = <E>(text: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E> =>
  Stream.suspend(() => {
    let rest = ""
    return Stream.map(text, (piece) => {
      const came = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1")
      const bare = rest + (isPlain(piece) ? came : came.replace(white, ""))
      const whole = bare.length - (bare.length % 4)
      rest = bare.slice(whole)
      return Buffer.from(bare.slice(0, whole), "base64")
    })
  })

/** The number of bytes in one line of base64. */
export const lineBytes = 45

/** Encodes as base64 in lines of 60 characters, as GitHub does. */
export const encodeLines = (content: Uint8Array): string => {
  const plain = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64")
  const lines: Array<string> = []
  for (let index = 0; index < plain.length; index += 60) lines.push(plain.slice(index, index + 60))
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`
}
