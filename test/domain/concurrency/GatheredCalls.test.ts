import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { makeGatheredCalls } from "../../../src/domain/concurrency/GatheredCalls.js"

/** Calls that record their keys and end when the test says so. */
const recorded = (options: { readonly maxSize?: number; readonly maxWaitMillis?: number } = {}) => {
  const calls: Array<{
    readonly keys: ReadonlyArray<string>
    readonly end: Deferred.Deferred<string, string>
  }> = []
  const { announce, call } = makeGatheredCalls({
    maxSize: 100,
    maxWaitMillis: 60_000,
    ...options,
    run: (keys: ReadonlyArray<string>) =>
      Effect.flatMap(Deferred.make<string, string>(), (end) => {
        calls.push({ keys, end })
        return Deferred.await(end)
      })
  })
  const start = (key: string) => Effect.tap(Effect.fork(call(key.split(""))), () => settle)
  const keys = () => calls.map((one) => one.keys.join(" "))
  return { announce, call, calls, keys, start }
}

/** Long enough for the callers of one moment. The second timer is set after theirs, however late the first one is. */
const settle = Effect.repeatN(
  Effect.promise(() => new Promise<void>((done) => setTimeout(done, 5))),
  1
)

describe("makeGatheredCalls", () => {
  it.effect(
    "the first call runs at once, and keys that come meanwhile share the next one and its result",
    () =>
      Effect.gen(function* () {
        const { calls, keys, start } = recorded()
        const first = yield* start("a")
        const others = yield* Effect.forEach(["b", "cb", "b"], start)
        assert.deepStrictEqual(keys(), ["a"])
        yield* Deferred.succeed(calls[0]!.end, "one")
        yield* settle
        assert.deepStrictEqual(keys(), ["a", "b c"])
        const late = yield* start("b")
        yield* Deferred.fail(calls[1]!.end, "refused")
        yield* settle
        // A call that had begun does not answer a caller that came after that.
        assert.deepStrictEqual(keys(), ["a", "b c", "b"])
        yield* Deferred.succeed(calls[2]!.end, "three")
        assert.strictEqual(yield* Fiber.join(first), "one")
        for (const other of others) assert.strictEqual(yield* Effect.flip(Fiber.join(other)), "refused")
        assert.strictEqual(yield* Fiber.join(late), "three")
      })
  )

  it.effect("the callers of one moment share the first call", () =>
    Effect.gen(function* () {
      const { call, calls, keys } = recorded()
      const all = yield* Effect.fork(
        Effect.forEach(["a", "b", "c"], (key) => call([key]), { concurrency: "unbounded" })
      )
      yield* settle
      assert.deepStrictEqual(keys(), ["a b c"])
      yield* Deferred.succeed(calls[0]!.end, "one")
      assert.deepStrictEqual(yield* Fiber.join(all), ["one", "one", "one"])
    })
  )

  for (const ending of ["withdrawn", "failed", "interrupted"] as const) {
    it.effect(`a call waits for an announced caller until it is ${ending}, and shares with it`, () =>
      Effect.gen(function* () {
        const { announce, keys, start } = recorded()
        const go = yield* Deferred.make<void, string>()
        const announced = yield* Effect.fork(
          announce((withdraw) =>
            Effect.zipRight(
              Deferred.await(go),
              Effect.zipRight(withdraw, Effect.zipRight(withdraw, Effect.never))
            )
          )
        )
        yield* settle
        yield* start("a")
        yield* start("b")
        assert.deepStrictEqual(keys(), [])
        if (ending === "interrupted") yield* Fiber.interrupt(announced)
        else yield* ending === "failed" ? Deferred.fail(go, "no") : Deferred.succeed(go, undefined)
        yield* settle
        assert.deepStrictEqual(keys(), ["a b"])
        yield* start("c")
        // Only the call of a and b is awaited.
        assert.deepStrictEqual(keys(), ["a b"])
        yield* Fiber.interrupt(announced)
      })
    )
  }

  it.effect("a call does not wait for callers that are announced after it", () =>
    Effect.gen(function* () {
      const { announce, keys, start } = recorded()
      const first = yield* Effect.fork(announce(() => Effect.never))
      yield* settle
      yield* start("a")
      const second = yield* Effect.fork(announce(() => Effect.never))
      yield* settle
      assert.deepStrictEqual(keys(), [])
      yield* Fiber.interrupt(first)
      yield* settle
      assert.deepStrictEqual(keys(), ["a"])
      yield* Fiber.interrupt(second)
    })
  )

  it.live("a call does not wait for a caller that was announced long ago", () =>
    Effect.gen(function* () {
      const { announce, keys, start } = recorded({ maxWaitMillis: 100 })
      const stuck = yield* Effect.fork(announce(() => Effect.never))
      yield* Effect.sleep(150)
      yield* start("a")
      assert.deepStrictEqual(keys(), ["a"])
      yield* Fiber.interrupt(stuck)
    })
  )

  it.effect("a call waits for all callers that were announced before it, and for no other", () =>
    Effect.gen(function* () {
      const { announce, keys, start } = recorded()
      const announced = () => Effect.tap(Effect.fork(announce(() => Effect.never)), () => settle)
      const [first, second] = [yield* announced(), yield* announced()]
      yield* start("a")
      const third = yield* announced()
      for (const caller of [third, first]) {
        yield* Fiber.interrupt(caller)
        yield* settle
        assert.deepStrictEqual(keys(), [])
      }
      yield* Fiber.interrupt(second)
      yield* settle
      assert.deepStrictEqual(keys(), ["a"])
    })
  )

  it.effect("a full group is followed by another one", () =>
    Effect.gen(function* () {
      const { calls, keys, start } = recorded({ maxSize: 2 })
      yield* Effect.forEach(["a", "b", "cd", "ef", "g"], start)
      yield* Deferred.succeed(calls[0]!.end, "")
      yield* settle
      assert.deepStrictEqual(keys(), ["a", "b c d", "e f", "g"])
    })
  )

  it.effect("callers join the group that gathers, also while a full one before it begins and ends", () =>
    Effect.gen(function* () {
      const { announce, calls, keys, start } = recorded({ maxSize: 2 })
      yield* start("a")
      yield* start("bc")
      const announced = yield* Effect.fork(announce(() => Effect.never))
      yield* settle
      yield* start("d")
      yield* Deferred.succeed(calls[0]!.end, "")
      yield* settle
      assert.deepStrictEqual(keys(), ["a", "b c"])
      yield* start("d")
      yield* Deferred.succeed(calls[1]!.end, "")
      yield* settle
      yield* start("e")
      yield* Fiber.interrupt(announced)
      yield* settle
      assert.deepStrictEqual(keys(), ["a", "b c", "d e"])
    })
  )

  it.live("a call does not wait longer than allowed", () =>
    Effect.gen(function* () {
      const { keys, start } = recorded({ maxWaitMillis: 5 })
      yield* start("a")
      yield* start("b")
      while (keys().length < 2) yield* Effect.sleep(5)
      assert.deepStrictEqual(keys(), ["a", "b"])
    })
  )

  for (const stage of ["waits", "runs"] as const) {
    it.effect(`if the caller that ${stage} for its group is interrupted, the others go on`, () =>
      Effect.gen(function* () {
        const { calls, keys, start } = recorded()
        yield* start("a")
        const leader = yield* start("b")
        const other = yield* start("c")
        const left = yield* start("d")
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(left)))
        if (stage === "runs") {
          yield* Deferred.succeed(calls[0]!.end, "")
          yield* settle
          assert.deepStrictEqual(keys(), ["a", "b c d"])
        }
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(leader)))
        yield* settle
        if (stage === "waits") yield* Deferred.succeed(calls[0]!.end, "")
        yield* settle
        assert.strictEqual(keys().at(-1), "c")
        yield* Deferred.succeed(calls.at(-1)!.end, "done")
        assert.strictEqual(yield* Fiber.join(other), "done")
      })
    )
  }
})
