import * as Effect from "effect/Effect"
import { ask, LostReply, type Transport, type TransportFailure } from "../protocol/Transport.js"
import type { Origin } from "./Origin.js"

export interface PushPostOptions {
  readonly url: string
  readonly transport: Transport
  readonly origin: Pick<Origin, "introduce">
}

/**
 * Sends the one request of a push. What a server says of itself is asked once, and the first push follows that. The next
 * one does not, and decides: a server that refuses it, and takes it after it was asked again, is asked before each from
 * then on.
 */
export const makePost = ({ origin, transport, url }: PushPostOptions) => {
  let isFirst = true
  let isAsked: boolean | undefined

  return (body: Uint8Array): Effect.Effect<Uint8Array, TransportFailure> =>
    Effect.suspend(() => {
      const send = ask(transport, url, "git-receive-pack", body)
      const sendAfter = Effect.zipRight(origin.introduce, send)
      if (isAsked === true) return sendAfter
      if (isFirst || isAsked === false) {
        isFirst = false
        return send
      }
      return send.pipe(
        Effect.tap(() => {
          isAsked = false
        }),
        Effect.catchAll((failure): Effect.Effect<Uint8Array, TransportFailure> => {
          if (failure instanceof LostReply || failure._tag === "RateLimitError") return Effect.fail(failure)
          return sendAfter.pipe(
            Effect.tap(() => {
              isAsked = true
              return Effect.logInfo(`${url} takes a push only after info/refs: each push is two requests`)
            }),
            // The refusal says why, unless the second request may have had an effect.
            Effect.mapError((second) => (second instanceof LostReply ? second : failure))
          )
        })
      )
    })
}
