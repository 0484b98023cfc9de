import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, Ref, Scheduler } from "effect"
import { makeKeyedMutex } from "../../../src/domain/concurrency/KeyedMutex.js"

it.effect("runs one effect per key at a time, in the order in which they were asked", () =>
  Effect.gen(function* () {
    const { size, withLock } = makeKeyedMutex()
    const order = yield* Ref.make<ReadonlyArray<number>>([])
    const gate = yield* Deferred.make<void>()
    const holder = yield* Effect.fork(withLock("a")(Deferred.await(gate)))
    yield* Effect.yieldNow()
    const waiting: Array<Fiber.Fiber<void>> = []
    for (const n of [1, 2, 3]) {
      waiting.push(yield* Effect.fork(withLock("a")(Ref.update(order, (all) => [...all, n]))))
      yield* Effect.yieldNow()
    }
    yield* withLock("b")(Effect.void)
    assert.deepStrictEqual(yield* Ref.get(order), [])
    assert.strictEqual(size(), 1)
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.joinAll([holder, ...waiting])
    assert.deepStrictEqual(yield* Ref.get(order), [1, 2, 3])
    assert.strictEqual(size(), 0)
  })
)

it.effect("a caller waits for one that had waited, too", () =>
  Effect.gen(function* () {
    const { withLock } = makeKeyedMutex()
    const gates = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
    const [first, second] = yield* Effect.forEach(gates, (gate) =>
      Effect.zipLeft(Effect.fork(withLock("a")(Deferred.await(gate))), Effect.yieldNow())
    )
    yield* Deferred.succeed(gates[0], undefined)
    yield* Fiber.join(first!)
    const third = yield* Effect.fork(withLock("a")(Effect.void))
    yield* Effect.yieldNow()
    assert.isTrue(Option.isNone(yield* Fiber.poll(third)))
    yield* Deferred.succeed(gates[1], undefined)
    yield* Fiber.joinAll([second!, third])
  })
)

it.effect("a fiber that asks again at once comes after those that waited", () =>
  Effect.gen(function* () {
    const { withLock } = makeKeyedMutex()
    const order: Array<string> = []
    const gate = yield* Deferred.make<void>()
    const say = (name: string) => withLock("a")(Effect.sync(() => void order.push(name)))
    const eager = yield* Effect.fork(
      Effect.all([withLock("a")(Deferred.await(gate)), say("eager"), say("eager")])
    )
    yield* Effect.yieldNow()
    const others = yield* Effect.forEach(["one", "two"], (name) =>
      Effect.zipLeft(Effect.fork(say(name)), Effect.yieldNow())
    )
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.joinAll([eager, ...others])
    assert.deepStrictEqual(order, ["one", "two", "eager", "eager"])
  })
)

it.effect("a waiting fiber can be interrupted, and the others keep their order", () =>
  Effect.gen(function* () {
    const { size, withLock } = makeKeyedMutex()
    const order: Array<number> = []
    const gate = yield* Deferred.make<void>()
    const holder = yield* Effect.fork(withLock("a")(Deferred.await(gate)))
    yield* Effect.yieldNow()
    const waiting: Array<Fiber.Fiber<void>> = []
    for (const n of [0, 1, 2, 3]) {
      waiting.push(yield* Effect.fork(withLock("a")(Effect.sync(() => void order.push(n)))))
      yield* Effect.yieldNow()
    }
    yield* Fiber.interrupt(waiting[0]!)
    yield* Fiber.interrupt(waiting[2]!)
    assert.deepStrictEqual(order, [])
    yield* Fiber.interrupt(holder)
    yield* Fiber.joinAll([waiting[1]!, waiting[3]!])
    assert.deepStrictEqual(order, [1, 3])
    assert.strictEqual(size(), 0)
  })
)

describe("a fiber that a holder started", () => {
  const makeEvents = Effect.map(Deferred.make<void>(), (gate) => {
    const { withLock } = makeKeyedMutex()
    const events: Array<string> = []
    const says = (name: string) => Effect.sync(() => void events.push(name))
    return {
      events,
      withLock,
      asks: withLock("a")(says("asked")),
      ends: Effect.zipRight(Deferred.await(gate), says("ended")),
      open: Deferred.succeed(gate, undefined)
    }
  })

  it.effect("holds the key only until the holder ends", () =>
    Effect.gen(function* () {
      const { asks, ends, events, open, withLock } = yield* makeEvents
      const go = yield* Deferred.make<void>()
      const started = yield* withLock("a")(Effect.forkDaemon(Effect.zipRight(Deferred.await(go), asks)))
      const next = yield* Effect.fork(withLock("a")(ends))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow()
      yield* open
      yield* Fiber.joinAll([started, next])
      assert.deepStrictEqual(events, ["ended", "asked"])
    })
  )

  it.effect("gives the key to no other fiber that joins it", () =>
    Effect.gen(function* () {
      const { asks, ends, events, open, withLock } = yield* makeEvents
      const started = yield* Deferred.make<Fiber.Fiber<void>>()
      const holder = yield* Effect.fork(
        withLock("a")(Effect.zipRight(Deferred.complete(started, Effect.forkDaemon(Effect.void)), ends))
      )
      yield* Fiber.join(yield* Deferred.await(started))
      const asking = yield* Effect.fork(asks)
      yield* Effect.yieldNow()
      yield* open
      yield* Fiber.joinAll([asking, holder])
      assert.deepStrictEqual(events, ["ended", "asked"])
    })
  )
})

it.effect("is reentrant", () => {
  const { size, withLock } = makeKeyedMutex()
  return Effect.map(withLock("a")(withLock("b")(withLock("a")(Effect.sync(size)))), (inside) => {
    assert.strictEqual(inside, 2)
    assert.strictEqual(size(), 0)
  })
})

it.effect("keeps no entry of an interrupted caller, between whichever two operations it is interrupted", () =>
  Effect.gen(function* () {
    for (let yieldAt = 2; yieldAt <= 60; yieldAt++) {
      const { size, withLock } = makeKeyedMutex()
      let operations = 0
      const scheduler: Scheduler.Scheduler = {
        shouldYield: () => (++operations === yieldAt ? 0 : false),
        scheduleTask: (task, priority, fiber) =>
          Scheduler.defaultScheduler.scheduleTask(task, priority, fiber)
      }
      const fiber = yield* withLock("a")(Effect.never).pipe(Effect.withScheduler(scheduler), Effect.fork)
      yield* Effect.yieldNow()
      assert.isAtMost(operations, yieldAt)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(size(), 0, `interrupted at operation ${yieldAt}`)
    }
  })
)
