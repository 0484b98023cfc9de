import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AuthError } from "../../domain/StoreError.js"
import type { Authorization, Settings } from "./Options.js"

/** The header in use, and a number that changes with it: validators given to one token are worth nothing to the next. */
export interface Credential {
  readonly header: Option.Option<Redacted.Redacted<string>>
  readonly generation: number
  /** Milliseconds since the epoch at which we got it; 0 for a token that was given. */
  readonly since: number
}

export interface Credentials {
  readonly current: Effect.Effect<Credential, AuthError>
  /** The host refused this one: whether another can be had, which `current` then gives. */
  readonly refused: (credential: Credential) => Effect.Effect<boolean>
  readonly present: boolean
}

/** A header is renewed this long before it expires. */
const leeway = 60_000

/** The header for the API's origin: of the token, or of the `auth` effect, asked once at a time and only when needed. */
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
    const current = Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => {
        const expiresAt = held?.authorization.expiresAt
        if (held !== undefined && (expiresAt === undefined || expiresAt.getTime() - leeway > now)) {
          return Effect.succeed(held.credential)
        }
        return Effect.map(auth, (authorization) => {
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
      current,
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
