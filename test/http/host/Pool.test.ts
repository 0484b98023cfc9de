import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope, TestClock } from "effect"
import * as Pool from "../../../src/http/host/repository/Pool.js"

const counted = () => {
  const counts = { opened: 0, closed: 0 }
  const open = Effect.acquireRelease(
    Effect.sync(() => ++counts.opened),
    () => Effect.sync(() => counts.closed++)
  )
  return { counts, open }
}

it.scoped("a lease is opened once, outlives its users, and ends when nobody came for a while", () =>
  Effect.gen(function* () {
    const { counts, open } = counted()
    const pool = yield* Pool.make<number>()
    for (let user = 0; user < 3; user++) {
      assert.strictEqual(yield* Effect.scoped(pool.hold("a", open)), 1)
    }
    const scope = yield* Scope.make()
    yield* Scope.extend(pool.hold("a", open), scope)
    yield* TestClock.adjust("5 minutes")
    assert.deepStrictEqual(counts, { opened: 1, closed: 0 })
    yield* Scope.close(scope, Exit.void)
    yield* TestClock.adjust("1 minutes")
    assert.deepStrictEqual(counts, { opened: 1, closed: 1 })
    assert.strictEqual(yield* Effect.scoped(pool.hold("a", open)), 2)
  })
)

it.effect("what is dropped or left behind is closed once nobody uses it", () =>
  Effect.gen(function* () {
    const { counts, open } = counted()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const pool = yield* Pool.make<number>()
        const scope = yield* Scope.make()
        yield* Scope.extend(pool.hold("a", open), scope)
        yield* pool.drop("a")
        assert.strictEqual(counts.closed, 0)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(counts.closed, 1)
        yield* Effect.all(
          Array.from({ length: 8 }, () =>
            Effect.scoped(pool.hold("a", Effect.zipLeft(open, Effect.yieldNow())))
          ),
          { concurrency: 8 }
        )
      })
    )
    assert.strictEqual(counts.closed, counts.opened)
  })
)
