import { Effect } from "effect"
import * as Monotonic from "../../domain/time/MonotonicClock.js"
import type { Failure } from "../server/HttpError.js"
import { LoginThrottle } from "../server/LoginThrottle.js"
import { tooManyAttempts } from "./ConsoleError.js"

/** Allows ten failed sign-ins per client and minute. A running sign-in counts as failed until it succeeds. */
export const make = Effect.sync(() => {
  const guesses = new LoginThrottle({ maxFailures: 10, windowMillis: 60_000 })
  return {
    guard: <A, E>(
      client: string,
      attempt: Effect.Effect<A, E>,
      credentials = ""
    ): Effect.Effect<A, E | Failure> =>
      Effect.gen(function* () {
        const now = yield* Monotonic.millis
        const wait = guesses.retryAfter(client, credentials, now)
        if (wait > 0) return yield* tooManyAttempts(wait)
        const takeBack = guesses.recordFailure(client, now)
        return yield* Effect.tap(attempt, () =>
          Effect.sync(() => {
            takeBack()
            guesses.recordSuccess(client, credentials)
          })
        )
      })
  }
})
