import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as PushGroups from "../../../src/git/clone/PushGroups.js"

const turns = (count: number) => Effect.repeatN(Effect.yieldNow(), count)

/** A call whose push is split so often, with the largest numbers of commits in its groups. */
const splitBy = <A>(pushes: ReadonlyArray<PushGroups.SplitPush>, last: Effect.Effect<A>) => {
  let at = 0
  return Effect.suspend(
    (): Effect.Effect<A, PushGroups.PushSplit> =>
      at < pushes.length
        ? Effect.zipRight(
            turns(5),
            Effect.fail(new PushGroups.PushSplit({ push: pushes[at++]!, isWithoutCommit: false }))
          )
        : last
  )
}

describe("the groups of a split push", () => {
  it.effect("make new callers wait, who do not wait for one another", () =>
    Effect.gen(function* () {
      const groups = PushGroups.make()
      const end = yield* Deferred.make<void>()
      const repeated = yield* Effect.fork(groups.run(splitBy([{ limit: 1 }], Deferred.await(end))))
      yield* turns(20)
      let started = 0
      const first = yield* Effect.fork(
        groups.run(
          Effect.zipRight(
            Effect.sync(() => started++),
            Effect.never
          )
        )
      )
      yield* turns(20)
      assert.strictEqual(started, 0)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(repeated)
      yield* turns(20)
      assert.strictEqual(started, 1)
      const second = yield* Effect.fork(groups.run(Effect.succeed("done")))
      yield* turns(20)
      assert.strictEqual((yield* Fiber.poll(second))._tag, "Some")
      yield* Fiber.interrupt(first)
    })
  )

  it.effect("run one after the other, and new callers after the last of them", () =>
    Effect.gen(function* () {
      const groups = PushGroups.make()
      const log: Array<string> = []
      const call = (name: string) =>
        Effect.zipRight(
          turns(30),
          Effect.sync(() => log.push(name))
        )
      const whole = { limit: 2 }
      const half = { limit: 1 }
      const fibers = [
        yield* Effect.fork(
          groups.run(splitBy([whole], Effect.zipRight(call("a"), groups.run(call("inside a")))))
        ),
        yield* Effect.fork(groups.run(splitBy([whole], call("b")))),
        yield* Effect.fork(groups.run(splitBy([whole, half], call("c")))),
        yield* Effect.fork(groups.run(splitBy([whole, half], call("d"))))
      ]
      yield* turns(20)
      fibers.push(yield* Effect.fork(groups.run(call("new"))))
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(log.slice(0, 3).toSorted(), ["a", "b", "inside a"])
      assert.deepStrictEqual(log.slice(3), ["c", "d", "new"])
    })
  )

  it.effect("go on when a caller is interrupted that waits or runs", () =>
    Effect.gen(function* () {
      const groups = PushGroups.make()
      const push = { limit: 1 }
      const first = yield* Effect.fork(groups.run(splitBy([push], Effect.never)))
      const second = yield* Effect.fork(groups.run(splitBy([push], Effect.never)))
      const third = yield* Effect.fork(groups.run(splitBy([push], Effect.succeed("third"))))
      yield* turns(20)
      const fresh = yield* Effect.fork(groups.run(Effect.succeed("new")))
      yield* turns(20)
      yield* Fiber.interrupt(second)
      assert.strictEqual((yield* Fiber.poll(fresh))._tag, "None")
      yield* Fiber.interrupt(first)
      assert.deepStrictEqual(yield* Fiber.join(Fiber.zip(third, fresh)), ["third", "new"])
    })
  )

  it.live(
    "do not wait for a caller inside another one, whose push is split while they wait for that other one",
    () =>
      Effect.gen(function* () {
        const groups = PushGroups.make()
        const push = { limit: 1 }
        const inner = () => groups.run<string, never, never>(splitBy([push], Effect.succeed("inner")))
        const outer = yield* Effect.fork(groups.run(splitBy([push], inner())))
        const free = yield* Effect.fork(groups.run<string, never, never>(Effect.zipRight(turns(30), inner())))
        // As if `free` held the mutex of its branch.
        const member = yield* Effect.fork(groups.run(splitBy([push], Fiber.join(free))))
        const results = yield* Effect.timeout(Fiber.join(Fiber.all([outer, free, member])), "3 seconds")
        assert.deepStrictEqual(results, ["inner", "inner", "inner"])
        assert.strictEqual(yield* groups.run(Effect.succeed("new")), "new")
      })
  )
})
