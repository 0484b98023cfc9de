import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { engine, put, write } from "./support/temporary.js"

describe("the mutex of a ref", () => {
  it.live(
    "waits for the running flush, even if the commit behind it was withdrawn",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          let release = () => {}
          const gate = new Promise<void>((done) => {
            release = done
          })
          let began = () => {}
          const publishing = new Promise<void>((done) => {
            began = done
          })
          let isFirst = true
          let paced = 0
          const repository = yield* engine({
            durability: "none",
            throttle: Effect.suspend(() => (++paced <= 2 ? Effect.void : Effect.sleep("30 seconds"))),
            publish: async (portions) => {
              if (!isFirst) {
                began()
                await gate
              }
              isFirst = false
              return portions.map(() => ({ _tag: "Done" as const }))
            }
          })
          const base = yield* write(repository, [put("a", "0")])
          const first = yield* Effect.fork(Effect.either(write(repository, [put("a", "1")])))
          yield* Effect.promise(() => publishing)
          const second = yield* Effect.fork(write(repository, [put("b", "1")]))
          yield* Effect.sleep("200 millis")
          const moving = yield* Effect.fork(
            Effect.either(
              repository.updateRef("refs/heads/main", Option.some(base.commit as Oid), Option.none())
            )
          )
          yield* Effect.sleep("200 millis")
          yield* Fiber.interrupt(second)
          yield* Effect.sleep("300 millis")
          release()
          const wrote = yield* Fiber.join(first)
          const moved = yield* Fiber.join(moving)
          assert.isTrue(Either.isRight(wrote), String(wrote))
          assert.isTrue(Either.isLeft(moved), "the branch is at the first commit by then")
        })
      ),
    60_000
  )
})
