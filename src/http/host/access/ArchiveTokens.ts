import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"

const lifetime = 300_000

/** Short-lived tokens in archive URLs. A token allows downloading the archive of one repository. */
export class ArchiveTokens extends Context.Tag("chainstore/http/host/Tickets")<
  ArchiveTokens,
  {
    readonly issue: (fullName: string) => Effect.Effect<string>
    readonly verify: (ticket: string, fullName: string) => Effect.Effect<boolean>
  }
>() {}

/** Signs tokens with a random secret of this layer. */
export const layer = Layer.sync(ArchiveTokens, () => {
  const secret = randomBytes(32)
  const sign = (fullName: string, until: number) =>
    createHmac("sha256", secret).update(`${until} ${fullName}`).digest("base64url")
  return ArchiveTokens.of({
    issue: (fullName) =>
      Effect.map(Monotonic.millis, (now) => {
        const until = Math.ceil(now + lifetime)
        return `${until}.${sign(fullName, until)}`
      }),
    verify: (ticket, fullName) =>
      Effect.map(Monotonic.millis, (now) => {
        const match = /^(\d{1,15})\.([\w-]{43})$/.exec(ticket)
        if (match === null || Number(match[1]) < now) return false
        return timingSafeEqual(Buffer.from(match[2]!), Buffer.from(sign(fullName, Number(match[1]))))
      })
  })
})
