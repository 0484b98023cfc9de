import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, FiberId } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import * as TimeSlice from "../../../src/domain/concurrency/TimeSlice.js"
import { merging } from "../../../src/domain/merge/MergeDocuments.js"

const spin = (milliseconds: number) => {
  const began = performance.now()
  while (performance.now() - began < milliseconds);
}

describe("long computations at a time", () => {
  it.live("share the event loop, and each continues", () =>
    Effect.gen(function* () {
      const steps = 12
      const done = Array.from({ length: 8 }, () => 0)
      let sinceTurn = 0
      let most = 0
      let isRunning = true
      const beat = () => {
        most = Math.max(most, sinceTurn)
        sinceTurn = 0
        if (isRunning) setImmediate(beat)
      }
      setImmediate(beat)
      let firstDone: ReadonlyArray<number> | undefined
      const computation = (index: number) =>
        Steps.run(function* () {
          for (let step = 0; step < steps; step++) {
            spin(3)
            sinceTurn++
            done[index]!++
            yield
          }
          firstDone ??= [...done]
        })
      yield* Effect.forEach([...done.keys()], computation, { concurrency: "unbounded" })
      isRunning = false
      // Four steps of 3 ms use a turn up; each of the others begins with one step before it asks. The timer of the next
      // turn may be due in the same round of the loop. Turns of their own would be four steps of each.
      assert.isAtMost(most, 4 + done.length + 4)
      for (const one of firstDone!) assert.isAbove(one, steps / 4, `${firstDone!}`)
    })
  )
})

describe("an effect for each item", () => {
  const turns = (spent: number) =>
    Effect.gen(function* () {
      let count = 0
      let isRunning = true
      const beat = () => {
        count++
        if (isRunning) setTimeout(beat)
      }
      setTimeout(beat)
      const results = yield* TimeSlice.forEach([1, 2, 3, 4], (n) =>
        Effect.sync(() => {
          spin(spent)
          return n * n
        })
      )
      isRunning = false
      return [results, count] as const
    })

  it.live("leaves the event loop a turn when the time is spent", () =>
    Effect.gen(function* () {
      const [results, count] = yield* turns(20)
      assert.deepStrictEqual(results, [1, 4, 9, 16])
      assert.isAtLeast(count, 1)
    })
  )

  it.live("can be interrupted while it pauses", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const fiber: Fiber.RuntimeFiber<unknown> = yield* Effect.fork(
        TimeSlice.forEach([1, 2], (n) =>
          Effect.sync(() => {
            seen.push(n)
            spin(20)
            // It pauses when the microtask runs, and continues in a later turn.
            queueMicrotask(() => fiber.unsafeInterruptAsFork(FiberId.none))
          })
        )
      )
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(seen, [1])
    })
  )
})

describe("a merge", () => {
  const objects = (first: number, last: number) => ({
    a: [first, ...Array.from({ length: 10_000 }, (_, at) => ({ [`k${at}`]: 1 })), last]
  })
  const keys = (side: number) =>
    Object.fromEntries(Array.from({ length: 13_000 }, (_, at) => [`k${at}`, side]))
  const nested = (first: number, last: number) => {
    let value: object = { list: Array.from({ length: 20_000 }, () => 0), first, last }
    for (let level = 0; level < 100; level++) value = { a: value }
    return value as { readonly a: never }
  }

  for (const [name, sides] of [
    ["of a long list", { base: objects(0, 0), ours: objects(1, 0), theirs: objects(0, 1) }],
    ["of many members in conflict", { base: keys(0), ours: keys(1), theirs: keys(2) }],
    ["of a list below many levels", { base: nested(0, 0), ours: nested(1, 0), theirs: nested(0, 1) }]
  ] as const) {
    it(`${name} can stop often, and compares nothing at each level again`, () => {
      const steps = merging(sides)
      let [pauses, longest, last] = [0, 0, performance.now()]
      const began = last
      for (let step = steps.next(); step.done !== true; step = steps.next()) {
        const now = performance.now()
        longest = Math.max(longest, now - last)
        last = now
        pauses++
      }
      assert.isAbove(pauses, 20)
      // Many times what it takes: compared at each level, the nested one takes seconds.
      assert.isBelow(performance.now() - began, 2000)
      assert.isBelow(longest, 500)
    })
  }
})
