import { randomBytes } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { Effect, Either, Fiber, Option } from "effect"
import { engine, git, put, write } from "./support/temporary.js"

it.scopedLive(
  "a failed flush with large followers leaves the repository writable",
  () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "none" })
      const { commit, tree } = yield* write(repository, [put("a", "1")])
      const first = yield* Effect.fork(
        Effect.either(write(repository, [put("large", randomBytes(40_000_000))]))
      )
      yield* Effect.sleep(150)
      // While that one is being packed, three documents of 25 MB are staged behind it.
      const followers = yield* Effect.fork(
        Effect.forEach(
          [1, 2, 3],
          (n) => Effect.either(write(repository, [put(`f${n}`, randomBytes(25_000_000))])),
          {
            concurrency: "unbounded"
          }
        )
      )
      yield* Effect.sleep(300)
      // Somebody pushes.
      const pushed = git(repository.directory, "commit-tree", tree, "-p", commit, "-m", "pushed").trim()
      git(repository.directory, "update-ref", "refs/heads/main", pushed)
      const again = yield* Effect.timeoutOption(
        Effect.retry(write(repository, [put("small", "2")]), { times: 3 }),
        "10 seconds"
      )
      assert.isTrue(Option.isSome(again), "a small write after it hangs for ever")
      assert.isTrue(Either.isLeft(yield* Fiber.join(first)))
      assert.isTrue((yield* Fiber.join(followers)).every(Either.isLeft))
    }),
  60_000
)
