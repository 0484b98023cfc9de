import { Clock, Effect } from "effect"
import { type ConsoleError, tooManyAttempts } from "./ConsoleError.js"

const windowMillis = 60_000
const most = 10
const addresses = 1000

/** Lets an address fail to sign in ten times a minute. */
export const make = Effect.sync(() => {
  const failures = new Map<string, Array<number>>()

  const recent = (address: string, now: number) =>
    (failures.get(address) ?? []).filter((at) => now - at < windowMillis)

  return {
    guard: <A, E>(address: string, attempt: Effect.Effect<A, E>): Effect.Effect<A, E | ConsoleError> =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const before = recent(address, now)
        if (before.length >= most) {
          return yield* tooManyAttempts(Math.ceil((before[0]! + windowMillis - now) / 1000))
        }
        return yield* Effect.tapError(attempt, () =>
          Effect.gen(function* () {
            const at = yield* Clock.currentTimeMillis
            const kept = [...recent(address, at), at]
            failures.delete(address)
            failures.set(address, kept)
            if (failures.size > addresses) failures.delete(failures.keys().next().value!)
          })
        )
      })
  }
})
