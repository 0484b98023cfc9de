import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Either } from "effect"
import * as Timestamp from "../../../src/domain/time/Timestamp.js"

const at = (millis: number) => {
  const clock: Clock.Clock = { ...Clock.make(), currentTimeMillis: Effect.succeed(millis) }
  return Effect.runSync(Effect.either(Effect.withClock(Timestamp.now("Collection.insert"), clock)))
}

const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

describe("the time of a date that is written", () => {
  it("is a whole millisecond of the years 1970 to 9999", () => {
    for (const millis of [0, 1, Date.UTC(2026, 0), last]) {
      assert.deepStrictEqual(at(millis), Either.right(millis))
      assert.deepStrictEqual(at(millis + 0.75), Either.right(millis))
    }
  })

  it("is an error if the clock is wrong", () => {
    for (const millis of [-1, -0.5, last + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const error = Either.getOrThrow(Either.flip(at(millis)))
      assert.strictEqual(error._tag, "ValidationError")
      assert.strictEqual(error.operation, "Collection.insert")
      assert.include(error.message, `${millis} milliseconds`)
      assert.include(error.hint, "between 1970 and 9999")
    }
  })
})
