import * as Effect from "effect/Effect"
import { LostReply, postForBytes, type Transport, type TransportFailure } from "../protocol/Transport.js"
import type { Origin } from "./Origin.js"

export interface PushRequestOptions {
  readonly url: string
  readonly transport: Transport
  readonly origin: Pick<Origin, "requestReceivePack">
}

/**
 * Sends the request of a push. The first push follows the `GET info/refs` in which the server advertises `receive-pack`. The
 * second push is sent without it. If a server refuses that request and accepts it after another `GET info/refs`, every later
 * push sends both requests.
 */
export const makePushRequest = ({ origin, transport, url }: PushRequestOptions) => {
  let isFirst = true
  /** Whether the server accepts a push only after `GET info/refs`; undefined until the second push. */
  let needsAdvertisement: boolean | undefined

  return (body: Uint8Array): Effect.Effect<Uint8Array, TransportFailure> =>
    Effect.suspend(() => {
      const send = postForBytes(transport, url, "git-receive-pack", body)
      const sendAfterAdvertisement = Effect.zipRight(origin.requestReceivePack, send)
      if (needsAdvertisement === true) return sendAfterAdvertisement
      if (isFirst || needsAdvertisement === false) {
        isFirst = false
        return send
      }
      return send.pipe(
        Effect.tap(() => {
          needsAdvertisement = false
        }),
        Effect.catchAll((failure): Effect.Effect<Uint8Array, TransportFailure> => {
          if (failure instanceof LostReply || failure._tag === "RateLimitError") return Effect.fail(failure)
          return sendAfterAdvertisement.pipe(
            Effect.tap(() => {
              needsAdvertisement = true
              return Effect.logInfo(`${url} accepts a push only after info/refs: each push is two requests`)
            }),
            // The first refusal names the reason. After a lost reply the push may have taken effect.
            Effect.mapError((second) => (second instanceof LostReply ? second : failure))
          )
        })
      )
    })
}
