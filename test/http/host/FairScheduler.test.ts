import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as FairScheduler from "../../../src/http/host/request/FairScheduler.js"

/** Blocks the event loop for longer than one time slice. */
const work = () => {
  const began = performance.now()
  while (performance.now() - began < FairScheduler.sliceMillis + 3);
}

/** Counts the iterations of the event loop. */
const rounds = Effect.acquireRelease(
  Effect.sync(() => {
    const counted = { rounds: 0, over: false }
    const next = () => {
      counted.rounds++
      if (!counted.over) setImmediate(next)
    }
    setImmediate(next)
    return counted
  }),
  (counted) =>
    Effect.sync(() => {
      counted.over = true
    })
)

describe("turns", () => {
  it.scopedLive("long work is done in the order of asking, and the event loop comes round in between", () =>
    Effect.gen(function* () {
      const turn = FairScheduler.make()
      const counted = yield* rounds
      const seen: Array<readonly [request: number, round: number]> = []
      const request = (index: number) =>
        Effect.zipRight(
          turn,
          Effect.sync(() => {
            seen.push([index, counted.rounds])
            work()
          })
        )
      const all = Array.from({ length: 12 }, (_, index) => index)
      yield* Effect.forEach(all, request, { concurrency: "unbounded", discard: true })
      assert.deepStrictEqual(
        seen.map(([index]) => index),
        all
      )
      const at = seen.map(([, round]) => round)
      assert.strictEqual(new Set(at).size, all.length, `rounds ${at.join(" ")}`)
    })
  )

  it.scopedLive("a waiting client that disconnects takes no slot", () =>
    Effect.gen(function* () {
      const turn = FairScheduler.make()
      const done: Array<string> = []
      const request = (name: string) =>
        Effect.zipRight(
          turn,
          Effect.sync(() => {
            done.push(name)
            work()
          })
        )
      const first = yield* Effect.fork(request("first"))
      const second = yield* Effect.fork(request("second"))
      const third = yield* Effect.fork(request("third"))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(second)
      yield* Fiber.joinAll([first, third])
      assert.deepStrictEqual(done, ["first", "third"])
      yield* request("later")
      assert.deepStrictEqual(done, ["first", "third", "later"])
    })
  )
})
