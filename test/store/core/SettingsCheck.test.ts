import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect, Option } from "effect"
import { RefMoved } from "../../../src/domain/errors/RefMoved.js"
import { retryUntil } from "../../../src/store/internal/commit/SettingsCheck.js"

const lost = new RefMoved({ ref: "refs/heads/main", expected: Option.none(), actual: Option.none() })

/** A correction that loses so many races. */
const correction = (races: number) => {
  let attempts = 0
  return Effect.suspend(() => (attempts++ < races ? Effect.fail(lost) : Effect.succeed(attempts)))
}

/** A clock whose date is an hour later with each look, as if the machine's clock were set. */
const jumping = () => {
  const clock = Clock.make()
  let date = clock.unsafeCurrentTimeMillis()
  const next = () => (date += 3_600_000)
  return {
    ...clock,
    unsafeCurrentTimeMillis: next,
    currentTimeMillis: Effect.sync(next),
    sleep: (duration: Duration.Duration) => clock.sleep(duration),
    unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
    currentTimeNanos: clock.currentTimeNanos
  } as Clock.Clock
}

it.live("a correction is tried again after lost races, whatever the machine's date does meanwhile", () =>
  Effect.gen(function* () {
    const attempts = yield* Effect.withClock(retryUntil(Duration.seconds(30))(correction(3)), jumping())
    assert.strictEqual(attempts, 4)
  })
)

it.live("a correction ends with the lost race at the deadline", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(retryUntil(Duration.millis(100))(correction(1_000)))
    assert.strictEqual(error, lost)
  })
)
