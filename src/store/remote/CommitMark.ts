import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { withTrailer } from "../../git/Trailers.js"

const trailer = "Chainstore-Write"

const markPattern = new RegExp(`(?:^|\\n)${trailer}: ([0-9a-f]{16})[ \\t\\r]*(?=\\n|$)`, "g")

/** The message of a commit without the mark. */
export const withoutMark = (message: string): string => message.replace(markPattern, "").trimEnd()

/**
 * Adds a trailer of 64 random bits. Without it, two writers that make the same change on the same head in the same second would
 * create the same commit. By the trailer a writer recognizes its commit after a lost reply, or if a proxy sent its request twice.
 */
export const withMark = (message: string): Effect.Effect<string> =>
  Effect.map(Effect.all([Random.nextIntBetween(0, 2 ** 32), Random.nextIntBetween(0, 2 ** 32)]), (halves) => {
    const mark = halves.map((half) => half.toString(16).padStart(8, "0")).join("")
    return withTrailer(withoutMark(message), trailer, mark)
  })

const markOf = (message: string) => Array.from(message.matchAll(markPattern), ([, mark]) => mark).at(-1)

/** Whether a message has the mark of the message that was sent. */
export const sameMark = (found: string, sent: string): boolean => {
  const mark = markOf(sent)
  return mark !== undefined && markOf(found) === mark
}
