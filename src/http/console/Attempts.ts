import { Clock, Effect } from "effect"
import { type ConsoleError, tooManyAttempts } from "./ConsoleError.js"

const windowMillis = 60_000
const most = 10
const addresses = 1000

/** Lets an address fail to sign in ten times a minute. One that is under way counts as failed until it has succeeded. */
export const make = Effect.sync(() => {
  const failures = new Map<string, ReadonlyArray<{ readonly at: number }>>()

  const recent = (address: string, now: number) =>
    (failures.get(address) ?? []).filter(({ at }) => now - at < windowMillis)

  const remember = (address: string, kept: ReadonlyArray<{ readonly at: number }>) => {
    failures.delete(address)
    if (kept.length > 0) failures.set(address, kept)
    if (failures.size > addresses) failures.delete(failures.keys().next().value!)
  }

  return {
    guard: <A, E>(address: string, attempt: Effect.Effect<A, E>): Effect.Effect<A, E | ConsoleError> =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const before = recent(address, now)
        if (before.length >= most) {
          return yield* tooManyAttempts(Math.ceil((before[0]!.at + windowMillis - now) / 1000))
        }
        const begun = { at: now }
        remember(address, [...before, begun])
        return yield* Effect.tap(attempt, () =>
          Effect.sync(() =>
            remember(
              address,
              (failures.get(address) ?? []).filter((one) => one !== begun)
            )
          )
        )
      })
  }
})
