import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const bits = 16

const markPattern = new RegExp(`\\n([ \\t]{${bits}})\\n*$`)

/**
 * The message with sixteen random bits of white space below it. Two writers who make the same change on the same head
 * in the same second would make the same commit, or one that cannot be told from the other's; by these each knows its
 * own, also when its reply was lost or a proxy sent its request twice.
 */
export const marked = (message: string): Effect.Effect<string> =>
  Effect.map(Random.nextIntBetween(0, 2 ** bits), (mark) => {
    const white = mark.toString(2).padStart(bits, "0").replaceAll("0", " ").replaceAll("1", "\t")
    return `${message}\n${white}`
  })

const markOf = (message: string) => markPattern.exec(message)?.[1]

const essence = (message: string) => message.replace(/\s+/g, " ").trim()

/** Whether two messages differ in white space at most, which GitHub changes as it likes between headline and body. */
export const sameMessage = (a: string, b: string): boolean => essence(a) === essence(b)

/** Whether a commit's message can be the one that was sent: the same, and under no other mark. */
export const maybeSame = (found: string, sent: string): boolean =>
  sameMessage(found, sent) && (markOf(found) === undefined || markOf(found) === markOf(sent))

/** Whether a commit's message is the one that was sent and no other writer's. */
export const surelySame = (found: string, sent: string): boolean =>
  sameMessage(found, sent) && markOf(found) !== undefined && markOf(found) === markOf(sent)
