import { Effect, Stream } from "effect"
import { type HostError, unprocessable } from "../reply/HostError.js"

const white = /[\t-\r ]+/g

const kinds = { other: 0, character: 1, padding: 2, white: 3 } as const

/** What each byte is in base64. White space counts for nothing, as GitHub has it. */
const kindOf = new Uint8Array(256)
for (const one of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  kindOf[one.charCodeAt(0)] = kinds.character
kindOf["=".charCodeAt(0)] = kinds.padding
for (const one of "\t\n\v\f\r ") kindOf[one.charCodeAt(0)] = kinds.white

/** Whether there is nothing but the characters that stand for bits. */
export const isPlain = (text: Uint8Array): boolean => {
  let at = 0
  while (at < text.length && kindOf[text[at]!] === kinds.character) at++
  return at === text.length
}

/** What a text in base64 comes to, found out while it is read. */
export class Base64Scan {
  private characters = 0
  private padding = 0
  private wrong = false
  /** Whether there was no white space so far. */
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

  /** Adds a text that is bare. */
  addBare(characters: number): void {
    if (this.padding > 0 && characters > 0) this.wrong = true
    this.characters += characters
  }

  /** The number of bytes that it stands for; undefined when it is no base64. */
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

/** Bytes from base64 whose alphabet and padded length are right. */
export const decode = (text: string): Effect.Effect<Uint8Array, HostError> =>
  Effect.suspend(() =>
    scan(text).size === undefined ? Effect.fail(invalid) : Effect.succeed(Buffer.from(text, "base64"))
  )

/** The bytes of a text whose shape is right, in the pieces in which it comes. */
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

/** How many bytes are a line of base64. */
export const lineBytes = 45

/** Base64 with a line break after every sixty characters, and one at the end. */
export const encodeLines = (content: Uint8Array): string => {
  const plain = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64")
  const lines: Array<string> = []
  for (let index = 0; index < plain.length; index += 60) lines.push(plain.slice(index, index + 60))
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`
}
