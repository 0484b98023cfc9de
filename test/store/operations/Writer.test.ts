import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Option, TestClock } from "effect"
import { AmbiguousWriteError, RemoteError } from "../../../src/domain/errors/StoreError.js"
import type { WriteFailure } from "../../../src/store/remote/GitRemote.js"
import type { Writer } from "../../../src/store/Writer.js"
import { brief, document, expectFailure, flushed, messages, storePair } from "./StorePair.js"

const down = new RemoteError({ operation: "test", reason: "Unreachable", message: "the remote is down" })

/** Faults that fail writes while `broken` says so. */
const breakable = () => {
  const state: { broken: WriteFailure | undefined; point: "start" | "moved"; hang: boolean } = {
    broken: undefined,
    point: "start",
    hang: false
  }
  const faults = {
    onWrite: (_operation: string, point: string) =>
      point !== state.point
        ? Effect.void
        : state.hang
          ? Effect.never
          : state.broken === undefined
            ? Effect.void
            : Effect.fail(state.broken)
  }
  return { state, faults }
}

const putMany = (writer: Writer, from: number, count: number) =>
  Effect.forEach(
    Array.from({ length: count }),
    (_, n) => writer.put("notes", `n${from + n}`, { n: from + n }),
    {
      discard: true
    }
  )

describe("Writer", () => {
  it.effect("flushes at maxOperations and at the end, in order", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const { commits, result } = yield* it.store.writer({ maxOperations: 3 }, (writer) =>
        Effect.gen(function* () {
          yield* putMany(writer, 0, 2)
          assert.strictEqual(yield* writer.pending, 2)
          yield* putMany(writer, 2, 1)
          assert.strictEqual(yield* writer.pending, 0)
          assert.strictEqual((yield* writer.commits).length, 1)
          yield* putMany(writer, 3, 4)
          const id = yield* writer.insert("notes", { n: 99 })
          yield* writer.delete("notes", "n0")
          return id
        })
      )
      assert.deepStrictEqual(yield* messages(it), [
        "writer: 3 operations",
        "writer: 3 operations",
        "writer: 3 operations"
      ])
      assert.strictEqual(commits.length, 3)
      assert.isNull(yield* document(it.other, "notes", "n0"))
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", result)), [1, { n: 99 }])
    })
  )

  it.effect("the default is 50 operations or 5 seconds", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.writer({}, (writer) =>
        Effect.gen(function* () {
          yield* putMany(writer, 0, 49)
          assert.strictEqual(yield* writer.pending, 49)
          yield* putMany(writer, 49, 1)
          assert.strictEqual(yield* writer.pending, 0)
          yield* putMany(writer, 50, 2)
          yield* TestClock.adjust("4900 millis")
          assert.strictEqual(yield* writer.pending, 2)
          yield* TestClock.adjust("100 millis")
          assert.strictEqual(yield* flushed(writer), 0)
          assert.strictEqual((yield* writer.commits).length, 2)
        })
      )
    })
  )

  it.effect("the timer counts from the oldest waiting operation", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.writer({ maxOperations: 2, maxSeconds: 5 }, (writer) =>
        Effect.gen(function* () {
          yield* putMany(writer, 0, 1)
          yield* TestClock.adjust("3 seconds")
          yield* putMany(writer, 1, 2)
          assert.strictEqual(yield* writer.pending, 1)
          yield* TestClock.adjust("4 seconds")
          assert.strictEqual(yield* writer.pending, 1, "that one waits since second 3")
          yield* TestClock.adjust("1 second")
          assert.strictEqual(yield* flushed(writer), 0)
        })
      )
    })
  )

  it.effect("a failed timer flush fails the next call and keeps the queue", () =>
    Effect.gen(function* () {
      const { faults, state } = breakable()
      const it = yield* storePair({}, faults)
      const { commits } = yield* it.store.writer({}, (writer) =>
        Effect.gen(function* () {
          yield* putMany(writer, 0, 2)
          state.broken = down
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual(yield* writer.pending, 2)
          const error = yield* expectFailure<RemoteError>(writer.put("notes", "n2", { n: 2 }), "RemoteError")
          assert.deepStrictEqual(error.unwritten, [
            { collection: "notes", id: "n0" },
            { collection: "notes", id: "n1" }
          ])
          assert.strictEqual(yield* writer.pending, 2, "the call that failed queued nothing")
          state.broken = undefined
          yield* writer.put("notes", "n2", { n: 2 })
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual(yield* flushed(writer), 0)
        })
      )
      assert.strictEqual(commits.length, 1)
      assert.strictEqual(yield* it.other.collection("notes").count, 3)
    })
  )

  it.effect("a failed timer flush is tried again although no call follows", () =>
    Effect.gen(function* () {
      const { faults, state } = breakable()
      const it = yield* storePair({}, faults)
      yield* it.store.writer({}, (writer) =>
        Effect.gen(function* () {
          yield* putMany(writer, 0, 2)
          state.broken = down
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual(yield* writer.pending, 2)
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual(yield* writer.pending, 2)
          state.broken = undefined
          yield* TestClock.adjust("10 seconds")
          assert.strictEqual(yield* flushed(writer), 0)
          yield* writer.put("notes", "n2", { n: 2 })
        })
      )
      assert.strictEqual(yield* it.other.collection("notes").count, 3)
    })
  )

  it.effect("a failed flush of an interrupted caller is repeated", () =>
    Effect.gen(function* () {
      const entered = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      let isBroken = true
      const fault = Effect.zipRight(
        Deferred.succeed(entered, undefined),
        Effect.zipRight(Deferred.await(gate), Effect.fail(down))
      )
      const it = yield* storePair(
        {},
        { onWrite: (_operation, point) => (point === "start" && isBroken ? fault : Effect.void) }
      )
      yield* it.store.writer({ maxOperations: 1 }, (writer) =>
        Effect.gen(function* () {
          const putting = yield* Effect.fork(writer.put("notes", "a", { n: 1 }))
          yield* Deferred.await(entered)
          yield* Fiber.interrupt(putting)
          yield* Deferred.succeed(gate, undefined)
          yield* Effect.repeat(Effect.yieldNow(), { times: 100 })
          assert.strictEqual(yield* writer.pending, 1)
          isBroken = false
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual(yield* flushed(writer), 0)
        })
      )
    })
  )

  it.effect("flush means durable, and its error names the operations that are not", () =>
    Effect.gen(function* () {
      const { faults, state } = breakable()
      const it = yield* storePair({}, faults)
      yield* it.store.writer({}, (writer) =>
        Effect.gen(function* () {
          assert.isTrue(Option.isNone(yield* writer.flush), "nothing to write")
          yield* putMany(writer, 0, 1)
          const sha = Option.getOrThrow(yield* writer.flush)
          assert.deepStrictEqual(yield* writer.commits, [sha])
          assert.isNotNull(yield* document(it.other, "notes", "n0"))
          yield* putMany(writer, 1, 1)
          state.broken = down
          const error = yield* expectFailure<RemoteError>(writer.flush, "RemoteError")
          assert.deepStrictEqual(error.unwritten, [{ collection: "notes", id: "n1" }])
          assert.include(error.hint, "notes/n1")
          state.broken = undefined
          yield* writer.flush
          assert.isNotNull(yield* document(it.other, "notes", "n1"))
        })
      )
    })
  )

  it.effect("an operation that cannot succeed is named, and can be dropped", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.writer({}, (writer) =>
        Effect.gen(function* () {
          yield* writer.delete("notes", "missing")
          yield* expectFailure(writer.flush, "NotFoundError")
          assert.strictEqual(yield* writer.pending, 1)
          assert.strictEqual(yield* writer.discard, 1)
          yield* putMany(writer, 0, 1)
        })
      )
      assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["n0"])
    })
  )

  it.effect("an unknown outcome is reported once, and nothing is written twice", () =>
    Effect.gen(function* () {
      const { faults, state } = breakable()
      const it = yield* storePair({}, faults)
      const exit = yield* Effect.exit(
        it.store.writer({}, (writer) =>
          Effect.gen(function* () {
            yield* putMany(writer, 0, 1)
            state.point = "moved"
            state.broken = new AmbiguousWriteError({ operation: "test", message: "the reply was lost" })
            const error = yield* expectFailure<AmbiguousWriteError>(writer.flush, "AmbiguousWriteError")
            assert.deepStrictEqual(error.unwritten, [{ collection: "notes", id: "n0" }])
            assert.include(error.hint, "perhaps written")
            state.broken = undefined
            yield* putMany(writer, 1, 1)
          })
        )
      )
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "n0")), [1, { n: 0 }])
    })
  )

  it.effect("a body that fails still gets one flush", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const exit = yield* Effect.exit(
        it.store.writer({}, (writer) => Effect.zipRight(putMany(writer, 0, 2), Effect.fail("body")))
      )
      assert.deepStrictEqual(exit, Exit.fail("body"))
      assert.strictEqual(yield* it.other.collection("notes").count, 2)
    })
  )

  it.effect("an interrupted body gets one flush, too", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const queued = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        it.store.writer({}, (writer) =>
          putMany(writer, 0, 2).pipe(
            Effect.zipRight(Deferred.succeed(queued, undefined)),
            Effect.zipRight(Effect.never)
          )
        )
      )
      yield* Deferred.await(queued)
      const exit = yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.strictEqual(yield* it.other.collection("notes").count, 2)
    })
  )

  it.effect("what the last flush could not write is in the error, by id, after 5 seconds at most", () =>
    Effect.gen(function* () {
      const { faults, state } = breakable()
      const it = yield* storePair({}, faults)
      const queued = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        it.store.writer({}, (writer) =>
          putMany(writer, 0, 2).pipe(
            Effect.zipRight(Effect.sync(() => (state.hang = true))),
            Effect.zipRight(Deferred.succeed(queued, undefined)),
            Effect.zipRight(Effect.never)
          )
        )
      )
      yield* Deferred.await(queued)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("4900 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(interrupting)))
      yield* TestClock.adjust("100 millis")
      const exit = yield* Fiber.join(interrupting)
      assert.isTrue(Exit.isFailure(exit))
      const error = Exit.isFailure(exit) ? Option.getOrThrow(Cause.failureOption(exit.cause)) : undefined
      assert.instanceOf(error, AmbiguousWriteError)
      assert.deepStrictEqual((error as AmbiguousWriteError).unwritten, [
        { collection: "notes", id: "n0" },
        { collection: "notes", id: "n1" }
      ])
      assert.include((error as AmbiguousWriteError).hint, "perhaps written: notes/n0, notes/n1")
    })
  )

  it.effect("the last flush belongs to the effect: its failure is the writer's", () =>
    Effect.gen(function* () {
      const { faults, state } = breakable()
      const it = yield* storePair({}, faults)
      const error = yield* expectFailure<RemoteError>(
        it.store.writer({}, (writer) =>
          Effect.zipRight(
            putMany(writer, 0, 1),
            Effect.sync(() => {
              state.broken = down
            })
          )
        ),
        "RemoteError"
      )
      assert.deepStrictEqual(error.unwritten, [{ collection: "notes", id: "n0" }])
    })
  )

  it.effect("many fibres share a writer; it holds them back while it writes", () =>
    Effect.gen(function* () {
      const it = yield* storePair({ manifests: ["notes"] }, { onWrite: () => Effect.yieldNow() })
      let most = 0
      const { commits } = yield* it.store.writer({ maxOperations: 10 }, (writer) =>
        Effect.forEach(
          Array.from({ length: 200 }),
          (_, n) =>
            Effect.zipRight(
              writer.put("notes", `n${n}`, { n }),
              Effect.map(writer.pending, (pending) => {
                most = Math.max(most, pending)
              })
            ),
          { concurrency: 8, discard: true }
        )
      )
      assert.strictEqual(yield* it.other.collection("notes").count, 200)
      assert.strictEqual(commits.length, 20)
      assert.isAtMost(most, 10 + 8)
    })
  )

  it.effect("an interrupted put leaves the commit under way alone, and nothing is doubled", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const entered = yield* Deferred.make<void>()
      const it = yield* storePair(
        {},
        {
          onWrite: (_operation, point) =>
            point === "moving"
              ? Effect.zipRight(Deferred.succeed(entered, undefined), Deferred.await(gate))
              : Effect.void
        }
      )
      yield* it.store.writer({ maxOperations: 1 }, (writer) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.fork(writer.put("notes", "a", { n: 1 }))
          yield* Deferred.await(entered)
          yield* Fiber.interrupt(fiber)
          yield* Deferred.succeed(gate, undefined)
          yield* writer.flush
          assert.strictEqual(yield* writer.pending, 0)
        })
      )
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [1, { n: 1 }])
      assert.strictEqual((yield* messages(it)).length, 1)
    })
  )

  it.effect("a commit that is interrupted after it was made is reported, and not made again", () =>
    Effect.gen(function* () {
      let cut = true
      const it = yield* storePair(
        {},
        {
          onWrite: (_operation, point) =>
            point === "moved" && cut
              ? Effect.zipRight(
                  Effect.sync(() => {
                    cut = false
                  }),
                  Effect.interrupt
                )
              : Effect.void
        }
      )
      const exit = yield* Effect.exit(
        it.store.writer({ maxOperations: 2 }, (writer) => putMany(writer, 0, 2))
      )
      const error = Exit.isFailure(exit) ? Option.getOrThrow(Cause.failureOption(exit.cause)) : undefined
      assert.instanceOf(error, AmbiguousWriteError)
      assert.strictEqual((error as AmbiguousWriteError).unwritten?.length, 2)
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "n0")), [1, { n: 0 }])
      assert.strictEqual((yield* messages(it)).length, 1)
    })
  )

  it.effect("wrong options and use after the end are refused", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* expectFailure(
        it.store.writer({ maxOperations: 0 }, () => Effect.void),
        "ValidationError"
      )
      yield* expectFailure(
        it.store.writer({ maxSeconds: 0 }, () => Effect.void),
        "ValidationError"
      )
      const { result } = yield* it.store.writer({}, Effect.succeed)
      yield* expectFailure(result.put("notes", "a", {}), "ValidationError")
      yield* expectFailure(result.flush, "ValidationError")
    })
  )
})
