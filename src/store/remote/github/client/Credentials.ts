import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { AuthError } from "../../../../domain/errors/StoreError.js"
import * as Monotonic from "../../../../domain/time/MonotonicClock.js"
import { ApiFailure } from "./ApiFailure.js"
import { isHeaderValue } from "./HeaderValue.js"
import { timeLeft } from "./OperationContext.js"
import type { Authorization, Settings } from "./Options.js"

/** The current header and its generation. Validators of one generation are invalid for the next one. */
export interface Credential {
  readonly header: Option.Option<Redacted.Redacted<string>>
  readonly generation: number
  /** When it was obtained, in milliseconds by the monotonic clock; 0 for the `token` option. */
  readonly since: number
}

export interface Credentials {
  readonly current: Effect.Effect<Credential, ApiFailure | AuthError>
  /** Discards a refused credential. Returns whether `current` can obtain another one. */
  readonly refused: (credential: Credential) => Effect.Effect<boolean>
  readonly present: boolean
}

const noHeader = new AuthError({
  operation: "auth",
  message: "the authorization holds characters that no header can carry",
  hint: "it was copied with a line break or a typographic quote"
})

const tooSlow = () =>
  new ApiFailure({
    kind: "TimedOut",
    endpoint: "auth",
    message: "no authorization before the operation's deadline",
    notSent: true
  })

/** How long before its expiry a header is renewed, in milliseconds. */
const leeway = 60_000

/** The header for the API's origin, from the token or from the `auth` effect, which runs on demand and never concurrently. */
export const makeCredentials = (settings: Pick<Settings, "token" | "auth">): Effect.Effect<Credentials> =>
  Effect.gen(function* () {
    if (Option.isNone(settings.auth)) {
      const header = Option.map(settings.token, (token) => Redacted.make(`Bearer ${Redacted.value(token)}`))
      const credential: Credential = { header, generation: 0, since: 0 }
      return {
        current: Effect.succeed(credential),
        refused: () => Effect.succeed(false),
        present: Option.isSome(header)
      }
    }
    const turn = yield* Effect.makeSemaphore(1)
    const auth = settings.auth.value
    let held: { readonly authorization: Authorization; readonly credential: Credential } | undefined
    let generation = 0
    const current = Effect.all([Monotonic.millis, Clock.currentTimeMillis]).pipe(
      Effect.flatMap(([now, date]) => {
        const expiresAt = held?.authorization.expiresAt
        if (held !== undefined && (expiresAt === undefined || expiresAt.getTime() - leeway > date)) {
          return Effect.succeed(held.credential)
        }
        const usable = Effect.filterOrFail(
          auth,
          ({ header }) => isHeaderValue(Redacted.value(header)),
          () => noHeader
        )
        return Effect.map(usable, (authorization) => {
          generation++
          held = {
            authorization,
            credential: { header: Option.some(authorization.header), generation, since: now }
          }
          return held.credential
        })
      }),
      turn.withPermits(1)
    )
    return {
      current: Effect.flatMap(timeLeft, (left) =>
        Number.isFinite(left) ? Effect.timeoutFail(current, { duration: left, onTimeout: tooSlow }) : current
      ),
      refused: (credential) =>
        turn.withPermits(1)(
          Effect.sync(() => {
            if (held?.credential.generation === credential.generation) held = undefined
            return true
          })
        ),
      present: true
    }
  })
