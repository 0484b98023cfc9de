import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import * as EnginePool from "../../../src/git/disk/EnginePool.js"

/** A pool whose resources are numbered in the order of their openings, and the numbers of those that closed. */
const numbered = (idle: Duration.DurationInput) =>
  Effect.gen(function* () {
    let opened = 0
    const closed: Array<number> = []
    const pool = yield* EnginePool.make(
      () =>
        Effect.acquireRelease(
          Effect.sync(() => ++opened),
          (number) => Effect.sync(() => void closed.push(number))
        ),
      Duration.decode(idle)
    )
    return { pool, closed }
  })

it.scoped("a resource is shared, and closes when it had no user for a time", () =>
  Effect.gen(function* () {
    const { closed, pool } = yield* numbered("1 minute")
    const first = yield* Scope.make()
    assert.strictEqual(yield* Scope.extend(pool.get("a"), first), 1)
    assert.strictEqual(yield* Effect.scoped(pool.get("a")), 1)
    assert.strictEqual(yield* Effect.scoped(pool.get("b")), 2)
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(closed, [2], "the other one has a user")
    yield* Scope.close(first, Exit.void)
    yield* TestClock.adjust("59 seconds")
    assert.strictEqual(yield* Effect.scoped(pool.get("a")), 1)
    yield* TestClock.adjust("59 seconds")
    assert.deepStrictEqual(closed, [2], "it was used again")
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(closed, [2, 1])
    assert.strictEqual(yield* Effect.scoped(pool.get("a")), 3)
  })
)

it.scoped("an open resource is given without suspending the fiber", () =>
  Effect.gen(function* () {
    const { pool } = yield* numbered("1 minute")
    yield* Effect.scoped(pool.get("a"))
    assert.strictEqual(Effect.runSync(Effect.scoped(pool.get("a"))), 1)
  })
)

it.scoped("an invalidated resource closes after its last user, and is opened anew", () =>
  Effect.gen(function* () {
    const { closed, pool } = yield* numbered("1 minute")
    const user = yield* Scope.make()
    yield* Scope.extend(pool.get("a"), user)
    yield* pool.invalidate("a")
    assert.strictEqual(yield* Effect.scoped(pool.get("a")), 2)
    assert.deepStrictEqual(closed, [])
    yield* Scope.close(user, Exit.void)
    assert.deepStrictEqual(closed, [1])
    yield* pool.invalidate("a")
    assert.deepStrictEqual(closed, [1, 2])
  })
)

it.scoped("an interrupted user does not interrupt the opening, and a failure is tried again", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<number, string>()
    let openings = 0
    const pool = yield* EnginePool.make(
      () => Effect.suspend(() => (++openings === 1 ? Deferred.await(gate) : Effect.succeed(openings))),
      Duration.minutes(1)
    )
    const first = yield* Effect.fork(Effect.scoped(pool.get("a")))
    const second = yield* Effect.fork(Effect.scoped(pool.get("a")))
    yield* Effect.yieldNow()
    yield* Fiber.interrupt(first)
    yield* Deferred.fail(gate, "no descriptors")
    assert.deepStrictEqual(yield* Fiber.await(second), Exit.fail("no descriptors"))
    assert.strictEqual(yield* Effect.scoped(pool.get("a")), 2)
  })
)

it.effect("closing the pool closes all resources at once", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { closed, pool } = yield* Scope.extend(numbered("1 minute"), scope)
    yield* Effect.scoped(pool.get("a"))
    yield* Effect.scoped(pool.get("b"))
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(closed.sort(), [1, 2])
  })
)
