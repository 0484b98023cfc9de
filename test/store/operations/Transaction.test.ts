import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Schema, Sink, Stream } from "effect"
import type { StoredDocument } from "../../../src/domain/document/Document.js"
import { ConflictError, RemoteError, ValidationError } from "../../../src/domain/errors/StoreError.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import type { Collection } from "../../../src/store/Collection.js"
import { idsOf } from "../../support/documents.js"
import { brief, document, expectFailure, headSha, messages, type StorePair, storePair } from "./StorePair.js"

const workBranches = ({ remote }: StorePair) =>
  Effect.map(remote.listBranches("chainstore-tx-"), (found) => found.map(({ name }) => name))

const open = (options: Parameters<typeof storePair>[0] = {}, faults: Parameters<typeof storePair>[1] = {}) =>
  Effect.tap(storePair({ indexes: { notes: ["n"] }, manifests: ["notes"], ...options }, faults), (it) =>
    it.store.batch({ message: "seed" }, (batch) =>
      Effect.all([batch.put("notes", "a", { n: 1 }), batch.put("notes", "b", { n: 1 })])
    )
  )

describe("Transaction", () => {
  it.live("several commits appear together, by one fast-forward; nothing of it is visible before", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const before = yield* headSha(it)
      const { commitSha, result } = yield* it.store.transaction({ message: "together" }, (tx) =>
        Effect.gen(function* () {
          const notes = tx.collection("notes")
          yield* notes.update("a", { n: 2 })
          yield* notes.insert({ n: 3 }, { id: "c" })
          yield* tx.batch({}, (batch) => batch.delete("notes", "b"))
          assert.deepStrictEqual(yield* notes.list(), ["a", "c"], "it sees its own writes")
          assert.deepStrictEqual(idsOf(yield* notes.findBy("n", 2)), ["a"])
          assert.strictEqual(yield* headSha(it), before)
          assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["a", "b"])
          assert.deepStrictEqual(yield* workBranches(it), [tx.branch])
          return tx.branch
        })
      )
      assert.match(result, /^chainstore-tx-[0-9A-HJKMNP-TV-Z]{26}$/)
      assert.strictEqual(Option.getOrNull(commitSha), yield* headSha(it))
      assert.deepStrictEqual(yield* messages(it), ["seed", "update notes/a", "insert notes/c", "together"])
      assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["a", "c"])
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [2, { n: 2 }])
      assert.deepStrictEqual(yield* workBranches(it), [])
    })
  )

  it.live(
    "other writes of the process do not starve it: what replays waits for nobody but other processes",
    () =>
      Effect.gen(function* () {
        const it = yield* open()
        let [written, running] = [0, 3]
        const busy = (name: string) =>
          Effect.gen(function* () {
            for (let n = 0; running > 0; n++) {
              yield* it.store.collection("busy").insert({ n }, { id: `${name}${n}` })
              written++
              yield* Effect.sleep(1)
            }
          })
        const patient = (name: string) =>
          Effect.gen(function* () {
            for (let n = 0; n < 3; n++) {
              yield* it.store.transaction({}, (tx) =>
                Effect.gen(function* () {
                  yield* tx.collection("notes").insert({ n }, { id: `${name}${n}-1` })
                  const seen = written
                  yield* Effect.repeat(Effect.sleep(1), { until: () => written > seen, times: 1000 })
                  yield* tx.collection("notes").insert({ n }, { id: `${name}${n}-2` })
                })
              )
            }
            running--
          })
        yield* Effect.all([...["x", "y"].map(busy), ...["a", "b", "c"].map(patient)], {
          concurrency: "unbounded",
          discard: true
        })
        assert.strictEqual(yield* it.other.collection("busy").count, written)
        assert.strictEqual(yield* it.other.collection("notes").count, 2 + 3 * 3 * 2)
        assert.deepStrictEqual(yield* workBranches(it), [])
      })
  )

  it.live("a body that fails, dies or is interrupted leaves nothing behind", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const before = yield* headSha(it)
      const failed = yield* Effect.exit(
        it.store.transaction({}, (tx) =>
          Effect.zipRight(tx.collection("notes").update("a", { n: 2 }), Effect.fail("no"))
        )
      )
      assert.deepStrictEqual(failed, Exit.fail("no"))
      yield* Effect.exit(it.store.transaction({}, () => Effect.die("a bug")))
      const entered = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        it.store.transaction({}, (tx) =>
          tx
            .collection("notes")
            .update("a", { n: 2 })
            .pipe(Effect.zipRight(Deferred.succeed(entered, undefined)), Effect.zipRight(Effect.never))
        )
      )
      yield* Deferred.await(entered)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.strictEqual(yield* headSha(it), before)
      assert.deepStrictEqual(yield* workBranches(it), [])
    })
  )

  it.live("nothing written: no commit, no branch", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const answer = yield* it.store.transaction({}, (tx) => tx.collection("notes").count)
      assert.deepStrictEqual(answer, { result: 2, commitSha: Option.none() })
      assert.deepStrictEqual(yield* workBranches(it), [])
    })
  )

  for (const number of ["9007199254740993", "12345678901234567891"]) {
    it.live(`a rebase does not change the number ${number} of a document`, () =>
      Effect.gen(function* () {
        const it = yield* open()
        const content = new TextEncoder().encode(`{"_id":"large","_rev":1,"large":${number}}\n`)
        const error = yield* Effect.flip(
          it.store.transaction({}, (tx) =>
            Effect.gen(function* () {
              yield* tx.collection("notes").update("a", { n: 2 })
              const head = yield* it.remote.head(tx.branch)
              yield* it.remote.commit(tx.branch, head, {
                message: "by hand",
                changes: [{ _tag: "Put", path: "data/notes/large.json", content }]
              })
              yield* it.other.collection("notes").insert({ n: 2 }, { id: "theirs" })
            })
          )
        )
        assert.instanceOf(error, ValidationError)
        assert.include(error.message, `the number ${number} at large`)
        assert.deepStrictEqual(yield* messages(it), ["seed", "insert notes/theirs"])
        assert.deepStrictEqual(yield* workBranches(it), [])
      })
    )
  }

  it.live("when the branch moved elsewhere, it is replayed on the new head", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const { commitSha } = yield* it.store.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("notes").update("a", { n: 2 })
          yield* it.other.collection("notes").insert({ n: 2 }, { id: "theirs" })
          yield* it.other.collection("notes").delete("b")
          yield* tx.collection("notes").insert({ n: 9 }, { id: "c" })
        })
      )
      assert.strictEqual(Option.getOrNull(commitSha), yield* headSha(it))
      assert.deepStrictEqual(yield* messages(it), [
        "seed",
        "insert notes/theirs",
        "delete notes/b",
        "update notes/a",
        "insert notes/c"
      ])
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [2, { n: 2 }])
      const found = yield* it.other.collection("notes").findBy("n", 2)
      assert.deepStrictEqual(idsOf(found), ["a", "theirs"], "the index holds both")
      assert.isTrue((yield* it.other.collection("notes").explain("n", 2)).current)
      assert.deepStrictEqual(yield* workBranches(it), [])
    })
  )

  const conflicting = (
    name: string,
    inside: (
      tx: Parameters<Parameters<StorePair["store"]["transaction"]>[1]>[0]
    ) => Effect.Effect<unknown, unknown>,
    outside: (it: StorePair) => Effect.Effect<unknown, unknown>,
    ids: ReadonlyArray<string>
  ) =>
    it.live(`${name} is a conflict that names the document and keeps the work branch`, () =>
      Effect.gen(function* () {
        const it = yield* open()
        const error = yield* expectFailure<ConflictError>(
          it.store.transaction({}, (tx) =>
            inside(tx).pipe(
              Effect.zipRight(tx.collection("other").insert({ kept: true }, { id: "x" })),
              Effect.zipRight(outside(it))
            )
          ),
          "ConflictError"
        )
        assert.deepStrictEqual(
          error.conflicts.map(({ id }) => id),
          ids
        )
        assert.isNull(yield* document(it.other, "other", "x"))
        assert.deepStrictEqual(yield* workBranches(it), [error.branch])
        const kept = it.store.onBranch(error.branch!)
        assert.deepStrictEqual(brief(yield* document(kept, "other", "x")), [1, { kept: true }])
        const stale = yield* it.store.staleTransactions
        assert.deepStrictEqual(
          stale.map(({ branch }) => branch),
          [error.branch]
        )
        assert.isBelow(Math.abs(Date.now() - stale[0]!.startedAt.getTime()), 60_000)
        yield* it.store.removeTransaction(error.branch!)
        assert.deepStrictEqual(yield* it.store.staleTransactions, [])
      })
    )

  conflicting(
    "a written document that somebody changed",
    (tx) => tx.collection("notes").update("a", { n: 2 }),
    (it) => it.other.collection("notes").update("a", { m: 1 }),
    ["a"]
  )
  conflicting(
    "a document that was only read and changed",
    (tx) => tx.collection("notes").get("b"),
    (it) => it.other.collection("notes").update("b", { m: 1 }),
    ["b"]
  )
  conflicting(
    "a document that was looked for, missed, and made",
    (tx) => tx.collection("notes").exists("new"),
    (it) => it.other.collection("notes").insert({}, { id: "new" }),
    ["new"]
  )
  conflicting(
    "a write that was refused inside, and would not be any more,",
    (tx) => Effect.flip(tx.collection("notes").update("new", {})),
    (it) => it.other.collection("notes").insert({}, { id: "new" }),
    ["new"]
  )
  conflicting(
    "a new document in a collection that was read as a whole",
    (tx) => tx.collection("notes").findBy("n", 1),
    (it) => it.other.collection("notes").insert({ n: 1 }, { id: "phantom" }),
    ["phantom"]
  )
  conflicting(
    "a new document that an index did not name after a write of the transaction's own",
    (tx) =>
      tx
        .collection("notes")
        .insert({ n: 5 }, { id: "own" })
        .pipe(
          Effect.zipRight(tx.collection("notes").findBy("n", 9)),
          Effect.map((found) => assert.deepStrictEqual(found, []))
        ),
    (it) => it.other.collection("notes").insert({ n: 9 }, { id: "phantom" }),
    ["phantom"]
  )
  conflicting(
    "a new document of a collection whose scan was explained",
    (tx) => tx.collection("notes").explain("unindexed", 1),
    (it) => it.other.collection("notes").insert({ n: 9 }, { id: "phantom" }),
    ["phantom"]
  )

  conflicting(
    "a document of a collection that was exported",
    (tx) =>
      tx
        .collection("notes")
        .exportText(Sink.drain, "csv")
        .pipe(Effect.map((count) => assert.strictEqual(count, 2))),
    (it) => it.other.collection("notes").update("b", { m: 1 }),
    ["b"]
  )
  conflicting(
    "a document of a collection that was exported as a workbook",
    (tx) => tx.collection("notes").exportExcel(Sink.drain),
    (it) => it.other.collection("notes").insert({}, { id: "phantom" }),
    ["phantom"]
  )
  conflicting(
    "an imported record that was stored as it is, and no longer is,",
    (tx) =>
      tx
        .collection("notes")
        .importRecords([{ _id: "a", n: 1 }])
        .pipe(Effect.map(({ unchanged }) => assert.strictEqual(unchanged, 1))),
    (it) => it.other.collection("notes").update("a", { n: 7 }),
    ["a"]
  )
  conflicting(
    "a record of a dry run that somebody made meanwhile",
    (tx) =>
      tx
        .collection("notes")
        .importRecords([{ _id: "new", n: 1 }], { dryRun: true })
        .pipe(Effect.map(({ inserted }) => assert.strictEqual(inserted, 1))),
    (it) => it.other.collection("notes").insert({}, { id: "new" }),
    ["new"]
  )
  conflicting(
    "a record of an import that failed after it",
    (tx) =>
      Effect.flip(tx.collection("notes").importRecords([{ _id: "a", n: 1 }, "no record"], { chunkSize: 1 })),
    (it) => it.other.collection("notes").update("a", { m: 1 }),
    ["a"]
  )

  it.live("a document that only a preview inside read is a conflict", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const error = yield* expectFailure<ConflictError>(
        it.store.withTransaction(
          Effect.gen(function* () {
            assert.isTrue(
              Option.isNone(yield* it.store.preview((trial) => trial.collection("notes").get("new")))
            )
            yield* it.other.collection("notes").insert({}, { id: "new" })
            yield* it.store.collection("other").insert({}, { id: "x" })
          })
        ),
        "ConflictError"
      )
      assert.deepStrictEqual(
        error.conflicts.map(({ id }) => id),
        ["new"]
      )
      assert.isNull(yield* document(it.other, "other", "x"))
    })
  )

  it.live("it creates and deletes no branch: not the one that it publishes to, nor one at its commits", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const head = yield* headSha(it)
      yield* it.store.createBranch("other")
      const inside = (effect: Effect.Effect<unknown, unknown>) =>
        expectFailure(
          it.store.withTransaction(
            Effect.zipRight(it.store.collection("notes").update("a", { n: 2 }), effect)
          ),
          "ValidationError"
        )
      yield* inside(it.store.deleteBranch("main"))
      yield* inside(it.store.withTransaction(it.store.deleteBranch("main")))
      yield* inside(it.store.deleteBranch("other"))
      yield* inside(it.store.createBranch("early"))
      yield* inside(it.store.createBranch("early", { from: "main" }))
      assert.deepStrictEqual(yield* it.store.branches, [
        { name: "main", commitSha: head },
        { name: "other", commitSha: head }
      ])
    })
  )

  it.live("the error of a conflict says how to delete a work branch that the caller named", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const error = yield* expectFailure<ConflictError>(
        it.store.transaction({ branch: "mine" }, (tx) =>
          Effect.zipRight(
            tx.collection("notes").update("a", { n: 2 }),
            it.other.collection("notes").update("a", { n: 3 })
          )
        ),
        "ConflictError"
      )
      assert.strictEqual(error.branch, "mine")
      assert.strictEqual(error.hint, 'read them with onBranch("mine"), then deleteBranch("mine")')
      yield* it.store.deleteBranch("mine")
      assert.deepStrictEqual(
        (yield* it.store.branches).map(({ name }) => name),
        ["main"]
      )
    })
  )

  it.live("an import is rebased if its records are unchanged, and reports its rows", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const told: Array<string> = []
      const { commitSha, result } = yield* it.store.transaction({}, (tx) =>
        Effect.zipLeft(
          tx.collection("notes").importRecords(
            [
              { _id: "a", n: 1 },
              { _id: "c", n: 3 }
            ],
            { onRow: ({ action, id }) => Effect.sync(() => told.push(`${action} ${id}`)) }
          ),
          it.other.collection("notes").update("b", { n: 9 })
        )
      )
      assert.deepStrictEqual(told, ["unchanged a", "insert c"])
      assert.deepStrictEqual([result.unchanged, result.inserted], [1, 1])
      assert.strictEqual(Option.getOrNull(commitSha), yield* headSha(it))
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "b")), [2, { n: 9 }])
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "c")), [1, { n: 3 }])
    })
  )

  const looks: ReadonlyArray<
    readonly [string, (notes: Collection<StoredDocument, JsonObject>) => Effect.Effect<unknown, unknown>]
  > = [
    ["get", (notes) => notes.get("a")],
    ["version", (notes) => notes.version("a")],
    ["exists", (notes) => notes.exists("a")],
    ["history", (notes) => notes.history("a")],
    ["list", (notes) => notes.list()],
    ["count", (notes) => notes.count],
    ["all", (notes) => Stream.runDrain(notes.all())],
    ["find", (notes) => Stream.runDrain(notes.find(() => true))],
    ["findBy with an index", (notes) => notes.findBy("n", 1)],
    ["findBy without one", (notes) => notes.findBy("m", 1)],
    ["page", (notes) => notes.page()],
    ["pages", (notes) => Stream.runDrain(notes.pages())],
    ["explain", (notes) => notes.explain("n", 1)],
    ["update", (notes) => notes.update("a", { n: 1 })],
    ["delete", (notes) => notes.delete("a")],
    ["a guarded write that was refused", (notes) => Effect.flip(notes.update("a", {}, { expectedRev: 7 }))]
  ]
  for (const [name, look] of looks) {
    conflicting(
      `a document that was looked at by ${name}`,
      (tx) => look(tx.collection("notes")),
      (it) => it.other.collection("notes").update("a", { n: 8 }),
      ["a"]
    )
  }

  it.live("a branch that keeps moving is given up after batchRetries, and nothing is lost", () =>
    Effect.gen(function* () {
      let moves = 0
      const it: StorePair = yield* open(
        { batchRetries: 1 },
        {
          onWrite: (operation, point): Effect.Effect<void> =>
            operation === "advance" && point === "moving"
              ? Effect.orDie(
                  Effect.asVoid(
                    Effect.suspend(() => it.other.collection("elsewhere").insert({}, { id: `m${moves++}` }))
                  )
                )
              : Effect.void
        }
      )
      const error = yield* expectFailure<ConflictError>(
        it.store.transaction({}, (tx) => tx.collection("notes").update("a", { n: 2 })),
        "ConflictError"
      )
      assert.instanceOf(error, ConflictError)
      // A remote that ends a transaction by one request tries that first.
      assert.include([2, 3], moves)
      assert.deepStrictEqual(yield* workBranches(it), [error.branch])
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [1, { n: 1 }])
    })
  )

  it.live("a lost reply to a commit that is made again is no doubt about the transaction", () =>
    Effect.gen(function* () {
      const { AmbiguousWriteError } = yield* Effect.promise(
        () => import("../../../src/domain/errors/StoreError.js")
      )
      let begun = 0
      let lost = 0
      const it = yield* open(
        {},
        {
          onWrite: (operation, point) => {
            if (operation === "createBranch" && point === "start") begun++
            return operation === "commitNext" && point === "moved" && begun === 2 && lost++ === 0
              ? Effect.fail(new AmbiguousWriteError({ operation, message: "the reply was lost" }))
              : Effect.void
          }
        }
      )
      const { commitSha } = yield* it.store.transaction({}, (tx) =>
        Effect.zipRight(
          tx.collection("notes").update("a", { n: 2 }),
          it.other.collection("other").insert({}, { id: "x" })
        )
      )
      assert.strictEqual(lost, 1)
      assert.strictEqual(begun, 3)
      assert.strictEqual(Option.getOrNull(commitSha), yield* headSha(it))
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "a")), [2, { n: 2 }])
      assert.strictEqual((yield* messages(it)).length, 3)
      assert.deepStrictEqual(yield* workBranches(it), [])
    })
  )

  it.live("a lost reply to the fast-forward is looked up, not guessed", () =>
    Effect.gen(function* () {
      const { AmbiguousWriteError } = yield* Effect.promise(
        () => import("../../../src/domain/errors/StoreError.js")
      )
      const it = yield* open(
        {},
        {
          onWrite: (operation, point) =>
            operation === "advance" && point === "moved"
              ? Effect.fail(new AmbiguousWriteError({ operation, message: "the reply was lost" }))
              : Effect.void
        }
      )
      const { commitSha } = yield* it.store.transaction({}, (tx) =>
        tx.collection("notes").update("a", { n: 2 })
      )
      assert.strictEqual(Option.getOrNull(commitSha), yield* headSha(it))
      assert.strictEqual((yield* messages(it)).length, 2)
    })
  )

  it.live("in an empty repository", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("notes").insert({ n: 1 }, { id: "a" })
          assert.deepStrictEqual(yield* it.other.collection("notes").list(), [])
        })
      )
      assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["a"])
      yield* it.other.collection("notes").insert({ n: 1 }, { id: "b" })
    })
  )

  it.live("typed collections, a name for the branch, and refusals", () =>
    Effect.gen(function* () {
      const it = yield* open()
      const Note = Schema.Struct({ n: Schema.NumberFromString })
      const { result } = yield* it.store.transaction({ branch: "my-work" }, (tx) =>
        Effect.zipRight(
          tx.collection("typed", Note).insert({ n: 5 }, { id: "t" }),
          Effect.map(tx.collection("typed", Note).get("t"), (found) => [
            tx.branch,
            Option.getOrThrow(found).n
          ])
        )
      )
      assert.deepStrictEqual(result, ["my-work", 5])
      assert.deepStrictEqual(brief(yield* document(it.other, "typed", "t")), [1, { n: "5" }])
      yield* it.remote.createBranch(
        "taken",
        (yield* Effect.map(it.remote.head("main"), Option.getOrThrow)).commit
      )
      yield* expectFailure(
        it.store.transaction({ branch: "taken" }, () => Effect.void),
        "ConflictError"
      )
      assert.isTrue(Option.isSome(yield* it.remote.head("taken")), "it was not ours to remove")
      yield* expectFailure(
        it.store.transaction({ branch: "a..b" }, () => Effect.void),
        "ValidationError"
      )
      yield* expectFailure(it.store.removeTransaction("main"), "ValidationError")
      const missing = it.store.onBranch("missing")
      yield* expectFailure(
        missing.transaction({}, () => Effect.void),
        "NotFoundError"
      )
      const readOnly = yield* storePair({ readOnly: true })
      yield* expectFailure(
        readOnly.store.transaction({}, () => Effect.void),
        "AuthError"
      )
      yield* expectFailure(readOnly.store.removeTransaction("chainstore-tx-x"), "AuthError")
    })
  )

  it.live("a write that the body does not wait for is published with it, or refused", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      let isSlow = false
      let publishing: Effect.Effect<void> = Effect.void
      const it = yield* open(
        {},
        {
          onWrite: (operation, point) =>
            operation === "advance" && point === "moving"
              ? Effect.suspend(() => publishing)
              : isSlow && operation === "commitNext" && point === "built"
                ? Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(go))
                : Effect.void
        }
      )
      const { result } = yield* it.store.transaction({}, (tx) =>
        Effect.gen(function* () {
          const notes = tx.collection("notes")
          yield* notes.update("a", { n: 2 })
          isSlow = true
          const late = yield* Effect.forkDaemon(notes.insert({ n: 3 }, { id: "late" }))
          yield* Deferred.await(begun)
          isSlow = false
          const later = yield* Deferred.make<string, unknown>()
          publishing = Effect.asVoid(Deferred.complete(later, notes.insert({ n: 4 }, { id: "later" })))
          yield* Effect.forkDaemon(Effect.zipRight(Effect.sleep(20), Deferred.succeed(go, undefined)))
          return { late, later }
        })
      )
      const error = yield* expectFailure<ValidationError>(Deferred.await(result.later), "ValidationError")
      assert.include(error.message, "has ended")
      assert.strictEqual(yield* Fiber.join(result.late), "late")
      assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["a", "b", "late"])
    })
  )

  it.live("a running transaction is not stale for its own store, and cannot be removed by it", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.store.transaction({}, (tx) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* it.store.staleTransactions, [])
          yield* expectFailure(it.store.removeTransaction(tx.branch), "ValidationError")
        })
      )
    })
  )

  it.live("a remote that fails inside fails the transaction, and the branch is gone", () =>
    Effect.gen(function* () {
      let broken = false
      const it = yield* open(
        {},
        {
          onWrite: (operation, point) =>
            broken && operation === "commitNext" && point === "start"
              ? new RemoteError({ operation, reason: "Unreachable", message: "down" })
              : Effect.void
        }
      )
      yield* expectFailure(
        it.store.transaction({}, (tx) =>
          Effect.zipRight(
            Effect.sync(() => {
              broken = true
            }),
            tx.collection("notes").update("a", { n: 2 })
          )
        ),
        "RemoteError"
      )
      assert.deepStrictEqual(yield* workBranches(it), [])
    })
  )
})
