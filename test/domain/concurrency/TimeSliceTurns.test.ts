import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Exit, Fiber, FiberId } from "effect"
import { afterEach, beforeEach } from "vitest"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import * as TimeSlice from "../../../src/domain/concurrency/TimeSlice.js"

/** The computations of a turn may take ten milliseconds. */
const budget = 10

/** The clock of the time slices. It moves when a test says so. */
let now = 0

const idle = () => new Promise<void>((done) => setTimeout(done, 5))

/** Work that takes time, in milliseconds. */
const take = (milliseconds: number) =>
  Effect.sync(() => {
    now += milliseconds
  })

/** Whether an effect ends without a pause. */
const endsAtOnce = (effect: Effect.Effect<unknown>): boolean => Exit.isSuccess(Effect.runSyncExit(effect))

beforeEach(async () => {
  // A turn that another test began is over.
  await idle()
  now = 1000
  vi.spyOn(performance, "now").mockImplementation(() => now)
})
afterEach(() => void vi.restoreAllMocks())

describe("a time slice", () => {
  it("is spent after ten milliseconds, by all computations of the turn", () => {
    const slice = TimeSlice.make()
    assert.isFalse(slice.isSpent())
    now += budget
    assert.isFalse(slice.isSpent())
    assert.isTrue(endsAtOnce(TimeSlice.yieldIfSpent()))
    now += 1
    assert.isTrue(slice.isSpent())
    assert.isTrue(TimeSlice.make().isSpent())
    assert.isFalse(endsAtOnce(TimeSlice.yieldIfSpent()))
    assert.isTrue(slice.isSpent())
  })

  it("begins when it is made, and again in each turn that computes", async () => {
    const slice = TimeSlice.make()
    now += budget + 1
    assert.isTrue(slice.isSpent())
    await idle()
    now += budget + 1
    assert.isFalse(slice.isSpent())
    now += budget + 1
    assert.isTrue(slice.isSpent())
  })

  it("needs no timer while nothing is computed", async () => {
    assert.isFalse(TimeSlice.make().isSpent())
    await idle()
    const timers = vi.spyOn(globalThis, "setTimeout")
    await idle()
    assert.strictEqual(timers.mock.calls.length, 1)
  })
})

describe("a pause", () => {
  it("ends in a later turn, after the timers that were set before it", async () => {
    const events: Array<string> = []
    setTimeout(() => events.push("timer"))
    await Effect.runPromise(TimeSlice.make().pause)
    assert.deepStrictEqual(events, ["timer"])
  })

  it("ends although no computation runs meanwhile", async () => {
    const slice = TimeSlice.make()
    await idle()
    await Effect.runPromise(slice.pause)
  })

  it("is followed by a new time slice", async () => {
    const slice = TimeSlice.make()
    now += budget + 1
    await Effect.runPromise(slice.pause)
    assert.isFalse(slice.isSpent())
    now += budget + 1
    assert.isTrue(slice.isSpent())
  })

  /** The events of paused computations, and of a timer that is set while they pause. */
  const continued = async (milliseconds: ReadonlyArray<number>) => {
    const events: Array<number | string> = []
    const { pause } = TimeSlice.make()
    const fibers = milliseconds.map((taken, at) =>
      Effect.runFork(
        Effect.zipRight(
          pause,
          Effect.sync(() => {
            events.push(at)
            now += taken
          })
        )
      )
    )
    setTimeout(() => events.push("timer"))
    await Effect.runPromise(Fiber.joinAll(fibers))
    await idle()
    return events
  }

  it("ends for all that fit into the next turn, in the order in which they paused", async () => {
    assert.deepStrictEqual(await continued([1, 2, 3, 4]), [0, 1, 2, 3, "timer"])
  })

  it("lasts for the others until a turn has time for them", async () => {
    assert.deepStrictEqual(await continued([budget + 1, 1, 1]), [0, "timer", 1, 2])
  })

  it("can be interrupted, and the others go on", async () => {
    const { pause } = TimeSlice.make()
    const events: Array<string> = []
    const says = (name: string) =>
      Effect.zipRight(
        pause,
        Effect.sync(() => void events.push(name))
      )
    const first = Effect.runFork(
      Effect.zipRight(
        pause,
        // The second one ends its pause and is interrupted at the same moment.
        Effect.sync(() => second.unsafeInterruptAsFork(FiberId.none))
      )
    )
    const second = Effect.runFork(says("second"))
    const third = Effect.runFork(says("third"))
    const fourth = Effect.runFork(says("fourth"))
    await Effect.runPromise(Fiber.interrupt(third))
    await Effect.runPromise(Fiber.joinAll([first, fourth]))
    assert.isTrue(Exit.isInterrupted(await Effect.runPromise(Fiber.await(second))))
    assert.deepStrictEqual(events, ["fourth"])
  })
})

describe("an effect for each item", () => {
  const each = (milliseconds: ReadonlyArray<number>) =>
    TimeSlice.forEach(milliseconds, (taken) => Effect.as(take(taken), taken * 2))

  it("pauses only if the time is spent before an item", async () => {
    assert.deepStrictEqual(Effect.runSync(each([])), [])
    assert.deepStrictEqual(Effect.runSync(each([budget, 5])), [2 * budget, 10])
    await idle()
    assert.isFalse(endsAtOnce(each([budget + 1, 1])))
  })

  it("has the results in the order of the items, also with pauses", async () => {
    assert.deepStrictEqual(await Effect.runPromise(each([20, 1, 20, 20, 3])), [40, 2, 40, 40, 6])
  })
})

describe("a computation in steps", () => {
  const steps = (milliseconds: ReadonlyArray<number>) =>
    function* (): Steps.Steps<number> {
      for (const taken of milliseconds) {
        now += taken
        yield
      }
      return milliseconds.length
    }

  it("pauses only if the time is spent after a step", async () => {
    assert.strictEqual(Effect.runSync(Steps.run(steps([]))), 0)
    assert.strictEqual(Effect.runSync(Steps.run(steps([4, 6]))), 2)
    await idle()
    assert.isFalse(endsAtOnce(Steps.run(steps([4, 7]))))
  })

  it("continues after each pause, and can be run again", async () => {
    const run = Steps.run(steps([20, 1, 20, 20, 3]))
    assert.strictEqual(await Effect.runPromise(run), 5)
    assert.strictEqual(await Effect.runPromise(run), 5)
  })

  it("runs without pauses, too", () => {
    assert.strictEqual(Steps.runSync(steps([20, 20])()), 2)
  })
})
