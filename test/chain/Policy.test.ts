import { assert, it } from "@effect/vitest"
import { Chain, ChainBuilder, Policy } from "chainstore/chain"
import { Cause, Deferred, Effect, Either, Exit, Fiber, Option, pipe, Schedule, TestClock } from "effect"

const make = () => ChainBuilder.make<number, string>()
const always = () => true

it.effect("timeout interrupts the handler and fails", () =>
  Effect.gen(function* () {
    let interrupted = 0
    const slow = (n: number) =>
      n === 0
        ? "at once"
        : Effect.onInterrupt(Effect.never, () => {
            interrupted++
            return Effect.void
          })
    for (const handler of [Policy.timeout(slow, "1 second"), pipe(slow, Policy.timeout("1 second"))]) {
      const chain = make().useWhen(always, handler).build()
      assert.strictEqual(yield* Chain.execute(chain, 0), "at once")
      const fiber = yield* Effect.fork(Effect.exit(Chain.execute(chain, 1)))
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(fiber.unsafePoll(), null)
      yield* TestClock.adjust("1 millis")
      const exit = yield* Fiber.join(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.isTimeoutException(Cause.squash(exit.cause)))
    }
    assert.strictEqual(interrupted, 2)
  })
)

it("timeout refuses a number without its unit when it is composed", () => {
  const message = /Policy\.timeout: duration must be a duration with its unit.*"30 seconds" or "30 millis"/
  const handler = (n: number) => String(n)
  for (const compose of [
    () => Policy.timeout(handler, 30 as never),
    () => pipe(handler, Policy.timeout(30 as never))
  ]) {
    // `assert.throws` takes a thrown undefined for an error of any message.
    const thrown = Option.getOrUndefined(Either.getLeft(Either.try(compose)))
    assert.instanceOf(thrown, TypeError)
    assert.match(String(thrown), message)
  }
})

it.effect("retry follows the schedule, then passes the failure on", () =>
  Effect.gen(function* () {
    let runs = 0
    const flaky = (n: number) => (++runs < n ? Effect.fail(`run ${runs}`) : `run ${runs}`)
    const schedule = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(2))
    for (const handler of [Policy.retry(flaky, schedule), pipe(flaky, Policy.retry(schedule))]) {
      const chain = make().useWhen(always, handler).build()
      runs = 0
      const fiber = yield* Effect.fork(Chain.execute(chain, 3))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(runs, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), "run 3")
      runs = 0
      const failing = yield* Effect.fork(Effect.flip(Chain.execute(chain, 9)))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(yield* Fiber.join(failing), "run 3")
    }
  })
)

it.effect("retry around a step with next runs the rest again", () =>
  Effect.gen(function* () {
    let runs = 0
    const chain = make()
      .use(
        Policy.retry(
          (n: number, next: (n: number) => Effect.Effect<string, any>) => next(n),
          Schedule.recurs(5)
        )
      )
      .use(() => (++runs < 3 ? Effect.fail("not yet") : "at last"))
      .build()
    assert.strictEqual(yield* Chain.execute(chain, 1), "at last")
    assert.strictEqual(runs, 3)
  })
)

it.effect("recover handles failures, not defects and not interruption", () =>
  Effect.gen(function* () {
    const waiting = yield* Deferred.make<void>()
    const handler = (n: number) =>
      n === 1
        ? Effect.fail("why")
        : n === 2
          ? Effect.die("bug")
          : Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never)
    for (const recovered of [
      Policy.recover(handler, (error) => `recovered from ${error}`),
      pipe(
        handler,
        Policy.recover((error: string) => Effect.succeed(`recovered from ${error}`))
      )
    ]) {
      const chain = make().useWhen(always, recovered).build()
      assert.strictEqual(yield* Chain.execute(chain, 1), "recovered from why")
      assert.deepStrictEqual(yield* Effect.exit(Chain.execute(chain, 2)), Exit.die("bug"))
      const fiber = yield* Effect.fork(Chain.execute(chain, 3))
      yield* Deferred.await(waiting)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
    }
  })
)
