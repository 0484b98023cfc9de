import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { AmbiguousWriteError, RemoteError } from "../../../src/domain/errors/StoreError.js"
import { storePair } from "./StorePair.js"

describe("a writer's account of what is not durable", () => {
  it.scopedLive("is true when the last flush fails once and then succeeds", () =>
    Effect.gen(function* () {
      let failures = 0
      const { store } = yield* storePair(
        {},
        {
          onWrite: (operation, point) =>
            operation === "commitNext" && point === "start" && failures-- > 0
              ? new RemoteError({ operation: "x", reason: "Server", message: "502" })
              : Effect.void
        }
      )
      yield* store.collection("c").insert({ n: 0 }, { id: "zero" })
      failures = 1
      const exit = yield* Effect.exit(
        store.writer({}, (w) => Effect.zipRight(w.put("c", "a", { n: 1 }), w.put("c", "b", { n: 1 })))
      )
      const present = yield* store.collection("c").list()
      const claimed = Exit.isFailure(exit)
        ? Array.from(Cause.failures(exit.cause)).flatMap((e: any) => e.unwritten ?? [])
        : []
      assert.isFalse(
        present.includes("a") && claimed.some((u: any) => u.id === "a"),
        "a is durable, and the error says that it is not"
      )
    })
  )

  it.scoped("is true when the last flush is slower than its bound", () =>
    Effect.gen(function* () {
      let slow = false
      const written = yield* Deferred.make<void>()
      const { store } = yield* storePair(
        {},
        {
          onWrite: (operation, point) =>
            slow && operation === "commitNext" && point === "moved"
              ? Effect.zipRight(Deferred.succeed(written, undefined), Effect.sleep(6_000))
              : Effect.void
        }
      )
      yield* store.collection("c").insert({ n: 0 }, { id: "zero" })
      slow = true
      const writing = yield* Effect.fork(
        Effect.exit(store.writer({}, (w) => Effect.zipRight(w.put("c", "a", { n: 1 }), Effect.fail("no"))))
      )
      yield* Deferred.await(written)
      yield* TestClock.adjust("5 seconds")
      const exit = yield* Fiber.join(writing)
      yield* TestClock.adjust("1 second")
      assert.include(yield* store.collection("c").list(), "a")
      const told = Exit.isFailure(exit) ? (Array.from(Cause.failures(exit.cause)) as Array<any>) : []
      assert.isFalse(
        told.some((e) => e._tag === "RemoteError" && e.unwritten?.some((u: any) => u.id === "a")),
        "a was written, and the error says 'not yet written'"
      )
    })
  )

  for (const kind of ["put", "flush"] as const) {
    it.scopedLive(`is true where the ${kind} that began a lost flush was cut off`, () =>
      Effect.gen(function* () {
        let broken = false
        const { store } = yield* storePair(
          {},
          {
            onWrite: (operation, point) =>
              broken && operation === "commitNext" && point === "built"
                ? Effect.zipRight(
                    Effect.sleep(50),
                    Effect.suspend(() => {
                      broken = false
                      return new AmbiguousWriteError({ operation: "x", message: "the reply was lost" })
                    })
                  )
                : Effect.void
          }
        )
        yield* store.collection("c").insert({ n: 0 }, { id: "zero" })
        broken = true
        const exit = yield* Effect.exit(
          store.writer({ maxOperations: kind === "put" ? 2 : 50 }, (w) =>
            Effect.gen(function* () {
              yield* w.put("c", "a", { n: 1 })
              const second = w.put("c", "b", { n: 1 })
              yield* Effect.timeoutOption(kind === "put" ? second : Effect.zipRight(second, w.flush), 10)
              yield* Effect.sleep(100)
              yield* w.put("c", "d", { n: 1 })
            })
          )
        )
        const present = yield* store.collection("c").list()
        const missing = ["a", "b"].filter((id) => !present.includes(id))
        assert.isFalse(
          Exit.isSuccess(exit) && missing.length > 0,
          `the writer ended well, and ${missing.join(", ")} are nowhere`
        )
      })
    )
  }
})
