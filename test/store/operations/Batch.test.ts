import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Option } from "effect"
import {
  AmbiguousWriteError,
  type ConflictError,
  NotFoundError,
  ValidationError
} from "../../../src/domain/errors/StoreError.js"
import type { Batch } from "../../../src/store/Batch.js"
import { idsOf } from "../../support/documents.js"
import { brief, document, expectFailure, headSha, messages, rounds, storePair } from "./StorePair.js"

describe("Batch", () => {
  it.live("everything queued is one commit, and the result names it", () =>
    Effect.gen(function* () {
      const it = yield* storePair({ indexes: { notes: ["n"] }, manifests: ["notes"] })
      const answer = yield* it.store.batch({}, (batch) =>
        Effect.gen(function* () {
          yield* batch.put("notes", "a", { n: 1 })
          const id = yield* batch.insert("notes", { n: 2 })
          assert.strictEqual(yield* batch.operations, 2)
          assert.isNull(yield* document(it.other, "notes", "a"), "nothing is visible before the commit")
          return id
        })
      )
      assert.match(answer.result, /^[0-9A-HJKMNP-TV-Z]{26}$/)
      assert.strictEqual(Option.getOrNull(answer.commitSha), yield* headSha(it))
      assert.deepStrictEqual(yield* messages(it), ["batch: 2 operations"])
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [1, { n: 1 }])
      const found = yield* it.other.collection("notes").findBy("n", 2)
      assert.deepStrictEqual(idsOf(found), [answer.result])
    })
  )

  it.live("an existing document keeps _created_at and its _rev rises by one", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "a" })
      const before = yield* notes.update("a", { n: 1 })
      yield* it.store.batch({}, (batch) =>
        Effect.zipRight(batch.put("notes", "a", { n: 2 }), batch.put("notes", "a", { n: 3, _rev: 77 }))
      )
      const after = (yield* document(it.store, "notes", "a"))!
      assert.deepStrictEqual(brief(after), [3, { n: 3 }])
      assert.strictEqual(after._created_at, before._created_at)
    })
  )

  it.live("the last operation on a document wins; put then delete of a new id is nothing", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "old" })
      const head = yield* headSha(it)
      const nothing = yield* it.store.batch({}, (batch) =>
        Effect.zipRight(batch.put("notes", "new", { n: 1 }), batch.delete("notes", "new"))
      )
      assert.isTrue(Option.isNone(nothing.commitSha))
      assert.strictEqual(yield* headSha(it), head)
      yield* it.store.batch({}, (batch) =>
        Effect.all([
          batch.put("notes", "old", { n: 1 }),
          batch.delete("notes", "old"),
          batch.delete("notes", "other"),
          batch.put("notes", "other", { n: 2 })
        ])
      )
      assert.isNull(yield* document(it.store, "notes", "old"))
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "other")), [1, { n: 2 }])
    })
  )

  it.live("an insert stays one: of an existing id it is refused, whatever follows it", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "a" })
      for (const then of [
        (batch: Batch) => batch.put("notes", "a", { n: 2 }),
        (batch: Batch) => batch.delete("notes", "a"),
        () => Effect.void
      ]) {
        const batch = it.store.batch({}, (b) =>
          Effect.zipRight(b.insert("notes", { n: 1 }, { id: "a" }), then(b))
        )
        yield* expectFailure(batch, "ConflictError")
      }
      yield* expectFailure(
        it.store.batch({}, (b) =>
          Effect.zipRight(b.put("notes", "z", {}), b.insert("notes", {}, { id: "z" }))
        ),
        "ConflictError"
      )
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "a")), [1, { n: 0 }])
    })
  )

  it.live("deleting a missing id is refused before anything is written", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "a" })
      const blobs = it.repository.blobs()
      const error = yield* expectFailure<NotFoundError>(
        it.store.batch({}, (batch) =>
          Effect.zipRight(batch.put("notes", "b", { n: 1 }), batch.delete("notes", "missing"))
        ),
        "NotFoundError"
      )
      assert.instanceOf(error, NotFoundError)
      assert.strictEqual(error.id, "missing")
      assert.strictEqual(it.repository.blobs(), blobs)
      assert.isNull(yield* document(it.store, "notes", "b"))
    })
  )

  it.live("expectations are checked against the commit on which the batch is based, all at once", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "a" })
      const history = yield* notes.history("a")
      const head = Option.getOrThrow(yield* it.remote.head("main"))
      const version = Option.getOrThrow(yield* notes.version("a"))
      const { sha } = version
      assert.strictEqual(sha, Option.getOrThrow(yield* it.remote.file(head, "data/notes/a.json")).oid)
      assert.deepStrictEqual([version.document["n"], version.rev, version.commit], [0, 1, head.commit])
      assert.deepStrictEqual(yield* notes.version("none"), Option.none())
      assert.strictEqual(history.length, 1)
      yield* it.store.batch({}, (batch) =>
        Effect.all([
          batch.expect("notes", "a", { rev: 1 }),
          batch.expect("notes", "a", { sha }),
          batch.expect("notes", "b", { absent: true }),
          Effect.map(batch.expectations, (count) => assert.strictEqual(count, 2)),
          batch.put("notes", "b", { n: 1 })
        ])
      )
      const blobs = it.repository.blobs()
      const error = yield* expectFailure<ConflictError>(
        it.store.batch({}, (batch) =>
          Effect.all([
            batch.expect("notes", "a", { rev: 7 }),
            batch.expect("notes", "b", { absent: true }),
            batch.put("notes", "c", { n: 1 })
          ])
        ),
        "ConflictError"
      )
      assert.deepStrictEqual(
        error.conflicts.map(({ actual, id }) => [id, actual?.rev]),
        [
          ["a", 1],
          ["b", 1]
        ]
      )
      assert.strictEqual(error.conflicts[0]!.actual?.sha, sha)
      assert.strictEqual(it.repository.blobs(), blobs, "nothing is uploaded")
      yield* it.other.collection("notes").update("a", { n: 5 })
      yield* expectFailure(
        it.store.batch({}, (batch) =>
          Effect.zipRight(batch.expect("notes", "a", { sha }), batch.delete("notes", "b"))
        ),
        "ConflictError"
      )
    })
  )

  it.live("a lost race is rebuilt on the new head up to batchRetries, then a ConflictError", () =>
    Effect.gen(function* () {
      let races = 0
      let meddle: Effect.Effect<unknown> = Effect.void
      const it = yield* storePair(
        { batchRetries: 2, indexes: { notes: ["n"] } },
        {
          onWrite: (_operation, point) =>
            point === "moving" && races > 0
              ? Effect.zipRight(
                  Effect.sync(() => races--),
                  Effect.asVoid(meddle)
                )
              : Effect.void
        }
      )
      let count = 0
      meddle = Effect.suspend(() =>
        Effect.orDie(it.other.collection("notes").insert({ n: count }, { id: `x${count++}` }))
      )
      const put = (n: number) => it.store.batch({}, (batch) => batch.put("notes", "a", { n }))
      races = 2
      yield* put(1)
      assert.strictEqual(count, 2)
      const indexed = yield* it.other.collection("notes").findBy("n", 1)
      assert.deepStrictEqual(idsOf(indexed), ["a", "x1"])
      races = Number.POSITIVE_INFINITY
      yield* expectFailure(put(2), "ConflictError")
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "a")), [1, { n: 1 }])
      // A remote that first tries the head that it remembers tries once more.
      assert.include([5, 6], count)
    })
  )

  it.live("a body that fails or is interrupted discards what it queued", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const queueing = (batch: Batch) => batch.put("notes", "a", { n: 1 })
      const failed = yield* Effect.exit(
        it.store.batch({}, (batch) => Effect.zipRight(queueing(batch), Effect.fail("no")))
      )
      assert.deepStrictEqual(failed, Exit.fail("no"))
      const queued = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        it.store.batch({}, (batch) =>
          queueing(batch).pipe(
            Effect.zipRight(Deferred.succeed(queued, undefined)),
            Effect.zipRight(Effect.never)
          )
        )
      )
      yield* Deferred.await(queued)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.isTrue(Option.isNone(yield* it.remote.head("main")))
    })
  )

  for (const heard of [true, false])
    it.live(
      `a commit with a lost reply is not made again${heard ? "" : ", and the batch fails if nobody waited"}`,
      () =>
        Effect.gen(function* () {
          const reached = yield* Deferred.make<void>()
          const gate = yield* Deferred.make<void>()
          let lost = false
          const it = yield* storePair(
            {},
            {
              onWrite: (operation, point) =>
                Effect.gen(function* () {
                  if (lost || point !== "moved") return
                  lost = true
                  yield* Deferred.succeed(reached, undefined)
                  yield* Deferred.await(gate)
                  return yield* new AmbiguousWriteError({ operation, message: "the reply was lost" })
                })
            }
          )
          const answer = yield* Effect.either(
            it.store.batch({}, (batch) =>
              Effect.gen(function* () {
                yield* batch.put("notes", "a", { n: 1 })
                const commit = yield* Effect.fork(Effect.either(batch.commit))
                yield* Deferred.await(reached)
                if (!heard) yield* Fiber.interrupt(commit)
                yield* Deferred.succeed(gate, undefined)
                if (heard) assert.isTrue(Either.isLeft(yield* Fiber.join(commit)))
                yield* batch.put("notes", "b", { n: 1 })
              })
            )
          )
          assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [1, { n: 1 }])
          assert.strictEqual(
            Either.isLeft(answer) ? answer.left._tag : "done",
            heard ? "done" : "AmbiguousWriteError"
          )
          if (heard) assert.deepStrictEqual(brief(yield* document(it.other, "notes", "b")), [1, { n: 1 }])
        })
    )

  it.live("several commits, a discard, and a leaked batch", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      let leaked: Batch | undefined
      const { commitSha, result } = yield* it.store.batch({ message: "mine" }, (batch) =>
        Effect.gen(function* () {
          leaked = batch
          yield* batch.put("notes", "a", { n: 1 })
          const first = yield* batch.commit
          yield* batch.put("notes", "b", { n: 1 })
          yield* batch.discard
          assert.strictEqual(yield* batch.operations, 0)
          assert.isTrue(Option.isNone(yield* batch.commit), "empty: no commit")
          return first
        })
      )
      assert.deepStrictEqual(result, commitSha)
      assert.deepStrictEqual(yield* messages(it), ["mine"])
      yield* expectFailure(leaked!.put("notes", "c", {}), "ValidationError")
      yield* expectFailure(leaked!.commit, "ValidationError")
      const empty = yield* it.store.batch({}, () => Effect.succeed(1))
      assert.deepStrictEqual(empty, { result: 1, commitSha: Option.none() })
    })
  )

  it.live("bad input is refused when it is queued, and what was queued cannot be changed later", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const queue = (collection: string, id: string, given: object) =>
        it.store.batch({}, (batch) => batch.put(collection, id, given as never))
      const wrong: ReadonlyArray<readonly [string, string, object]> = [
        ["notes", "../x", {}],
        ["_index", "a", {}],
        ["notes", "a", [1]],
        ["notes", "a", { n: Number.NaN }],
        ["notes", "a", { when: new Date(0) }],
        ["notes", "a", { _id: "b" }],
        ["notes", "a", new Map([["n", 1]])],
        [
          "notes",
          "a",
          {
            get n(): never {
              throw new Error("no n")
            }
          }
        ]
      ]
      for (const [collection, id, given] of wrong) {
        const error = yield* expectFailure<ValidationError>(queue(collection, id, given), "ValidationError")
        assert.instanceOf(error, ValidationError)
      }
      const given = { list: new Proxy([1], {}) }
      yield* it.store.batch({}, (batch) =>
        Effect.zipRight(
          batch.put("notes", "a", given),
          Effect.sync(() => given.list.push(2))
        )
      )
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "a")), [1, { list: [1] }])
    })
  )

  it.live(
    "a document may carry the id of another one that it was copied from, as in an insert by itself",
    () =>
      Effect.gen(function* () {
        const { store } = yield* storePair()
        const notes = store.collection("notes")
        const first = yield* notes.insert({ n: 1 })
        const copy = (yield* document(store, "notes", first))!
        const ids = [
          yield* notes.insert(copy),
          (yield* store.batch({}, (batch) => batch.insert("notes", copy))).result,
          (yield* store.writer({}, (writer) => writer.insert("notes", copy))).result
        ]
        for (const id of ids)
          assert.deepStrictEqual(brief(yield* document(store, "notes", id)), [1, { n: 1 }])
        assert.strictEqual(yield* notes.count, 4)
      })
  )

  it.live("an insert is queued as fast however many are", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const each = 10_000
      const taken: Array<number> = []
      const queued = yield* it.store.batch({}, (batch) =>
        Effect.gen(function* () {
          for (let third = 0; third < 3; third++) {
            const { user } = process.cpuUsage()
            for (let n = 0; n < each; n++) yield* batch.insert("notes", { n })
            taken.push(process.cpuUsage().user - user)
          }
          const operations = yield* batch.operations
          yield* batch.discard
          return operations
        })
      )
      assert.strictEqual(queued.result, 3 * each)
      // The last third would take five times as long as the first if each insert looked at those before it.
      assert.isBelow(taken[2]!, 3 * taken[0]! + 200_000, taken.join(", "))
    })
  )

  it.live("thousands of documents are one commit", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      // A tenth of it is still more than GitHub lists of a directory, and more than one tree takes.
      const count = rounds(11_000)
      yield* it.store.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: count }), (_, n) => batch.put("notes", `n${n}`, { n }), {
          discard: true
        })
      )
      assert.strictEqual(yield* it.other.collection("notes").count, count)
      assert.deepStrictEqual(yield* messages(it), [`batch: ${count} operations`])
    })
  )
})
