import { Effect, Stream } from "effect"
import { badRequest, type HostError } from "../reply/HostError.js"

const malformed = badRequest("The request body is not a sequence of complete Git packet lines.")

/** Fails unless the bytes are complete packet lines. Each begins with its length in four hexadecimal digits. */
export const check = <E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<void, E | HostError> =>
  Effect.suspend(() => {
    let length = ""
    let rest = 0
    return Stream.runForEach(bytes, (piece) => {
      for (let at = 0; at < piece.length; ) {
        const skipped = Math.min(rest, piece.length - at)
        rest -= skipped
        at += skipped
        if (at === piece.length) break
        length += String.fromCharCode(piece[at++]!)
        if (length.length < 4) continue
        // Lengths 0 to 2 are special packets without content. Length 3 is invalid.
        if (!/^[0-9a-f]{4}$/i.test(length) || length === "0003") return malformed
        rest = Math.max(0, Number.parseInt(length, 16) - 4)
        length = ""
      }
      return Effect.void
    }).pipe(Effect.zipRight(Effect.suspend(() => (length === "" && rest === 0 ? Effect.void : malformed))))
  })

/** Encodes one packet line. */
export const encode = (text: string): Uint8Array => {
  const content = Buffer.from(text)
  return Buffer.concat([Buffer.from((content.length + 4).toString(16).padStart(4, "0")), content])
}
