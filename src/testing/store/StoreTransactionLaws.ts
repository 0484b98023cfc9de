import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { generator } from "../../domain/identifiers/Ulid.js"
import { Refusal } from "./StoreBracketLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { law, promiseOf } from "./StoreLaw.js"

const operations = promiseOf("operations")
const transactionPage = "transaction-several-commits-that-appear-together"

const appears = "Before that nothing is visible outside, and reads inside see the transaction's own writes."

/** A transaction is seen as a whole or not at all, and leaves no branch. */
export const transactions = law(
  "transactions",
  operations("a transaction appears at once, or not", transactionPage, appears),
  ({ head, people, expectFailure, remote, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 0 }, { id: "a" })
      const at = yield* head
      const { commitSha, result } = yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          const inside = tx.collection("people")
          yield* inside.update("a", { n: 1 })
          yield* inside.insert({ n: 2 }, { id: "b" })
          yield* tx.batch({}, (batch) => batch.put("people", "c", {}))
          yield* expectEqual(
            "reads inside",
            [yield* inside.list(), shape(yield* read(inside, "a"))],
            [["a", "b", "c"], wanted(2, { n: 1 })]
          )
          yield* expectEqual(
            "reads outside",
            [yield* people.list(), shape(yield* read(people, "a")), yield* head],
            [["a"], wanted(1, { n: 0 }), at]
          )
          yield* expectEqual("one that is running is not stale", (yield* store.staleTransactions).length, 0)
          yield* expectEqual("a branch of its own", tx.branch.startsWith("chainstore-tx-"), true)
          return tx.branch
        })
      )
      yield* expectEqual(
        "after the end",
        [yield* people.list(), shape(yield* read(people, "a"))],
        [["a", "b", "c"], wanted(2, { n: 1 })]
      )
      yield* expectEqual("its commit", Option.getOrNull(commitSha), yield* head)
      const branches = Effect.map(remote.listBranches("chainstore-tx-"), (all) => all.length)
      yield* expectEqual(
        "its branch is gone",
        [Option.isNone(yield* remote.head(result)), yield* branches],
        [true, 0]
      )
      yield* expectFailure(
        "a body that fails",
        store.transaction({}, (tx) => Effect.zipRight(tx.collection("people").delete("b"), new Refusal())),
        "Refusal"
      )
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        store.transaction({}, (tx) =>
          tx
            .collection("people")
            .delete("b")
            .pipe(Effect.zipRight(Deferred.succeed(begun, undefined)), Effect.zipRight(Effect.never))
        )
      )
      yield* Effect.raceFirst(Deferred.await(begun), Fiber.join(fiber))
      yield* Fiber.interrupt(fiber)
      yield* expectEqual("nothing is left", [yield* people.list(), yield* branches], [["a", "b", "c"], 0])
      const nothing = yield* store.transaction({}, (tx) => tx.collection("people").list())
      yield* expectEqual(
        "one that writes nothing",
        [nothing.result, Option.getOrNull(nothing.commitSha) === null],
        [["a", "b", "c"], true]
      )
    })
)

const unchanged =
  "If the target moved meanwhile, the commits are rebased onto the new head, if everything that the transaction read or wrote is unchanged there"

/** A branch that moved is met by making the commits again, or by a conflict that keeps the work branch. */
export const transactionRaces = law(
  "transactionRaces",
  operations("a transaction conflicts only with what it read or wrote", transactionPage, unchanged),
  ({ head, open, people, expectFailure, remote, expectEqual, store }) =>
    Effect.gen(function* () {
      const others = (yield* open()).collection("people")
      yield* store.batch({}, (batch) =>
        Effect.forEach(["a", "b", "c"], (id) => batch.put("people", id, { n: 0 }))
      )
      const { result } = yield* store.transaction({ message: "again" }, (tx) =>
        Effect.gen(function* () {
          const inside = tx.collection("people")
          yield* inside.update("a", { n: 1 })
          yield* inside.insert({ n: 0 }, { id: "made", message: "made inside" })
          const created = yield* read(inside, "made")
          yield* others.update("b", { n: 9 })
          return created?._created_at
        })
      )
      yield* expectEqual(
        "elsewhere",
        [shape(yield* read(people, "a")), shape(yield* read(people, "b"))],
        [wanted(2, { n: 1 }), wanted(2, { n: 9 })]
      )
      const [entry] = yield* people.history("made")
      const created = yield* read(people, "made")
      yield* expectEqual(
        "commits that were made again",
        [entry?.message.trim(), created?._rev, created?._created_at],
        ["made inside", 1, result]
      )
      const conflicts: Record<
        string,
        (tx: { collection: typeof store.collection }) => Effect.Effect<unknown, unknown>
      > = {
        "a document that it wrote": (tx) => tx.collection("people").update("b", { n: 1 }),
        "a document that it read": (tx) =>
          Effect.zipRight(tx.collection("people").get("b"), tx.collection("people").update("a", {})),
        "a collection that it listed": (tx) =>
          Effect.zipRight(tx.collection("people").list(), tx.collection("people").update("a", {})),
        "a query": (tx) =>
          Effect.zipRight(tx.collection("people").findBy("n", 77), tx.collection("people").update("a", {}))
      }
      for (const [what, body] of Object.entries(conflicts)) {
        const before = shape(yield* read(people, "a"))
        const clash = store.transaction({}, (tx) =>
          Effect.zipRight(body(tx as never), others.update("b", { n: 2 }))
        )
        const error = yield* expectFailure(what, clash, "ConflictError")
        yield* expectEqual(
          `${what}: the documents`,
          error.conflicts.map((one: any) => one.id),
          ["b"]
        )
        yield* expectEqual(`${what}: nothing was published`, shape(yield* read(people, "a")), before)
        yield* expectEqual(
          `${what}: the branch is kept`,
          Option.isSome(yield* remote.head(error.branch)),
          true
        )
        const stale = yield* store.staleTransactions
        yield* expectEqual(
          `${what}: it is listed`,
          stale.map(({ branch }) => branch).includes(error.branch),
          true
        )
        yield* store.removeTransaction(error.branch)
        yield* expectEqual(
          `${what}: removed`,
          [Option.isNone(yield* remote.head(error.branch)), (yield* store.staleTransactions).length],
          [true, 0]
        )
      }
      const missed = store.transaction({}, (tx) =>
        Effect.zipRight(
          tx.collection("people").get("new"),
          Effect.zipRight(tx.collection("people").update("a", {}), others.insert({}, { id: "new" }))
        )
      )
      const error = yield* expectFailure("a document that it missed", missed, "ConflictError")
      yield* store.removeTransaction(error.branch)
      yield* expectFailure("removing another branch", store.removeTransaction("main"), "ValidationError")
      yield* expectEqual("the branch is still there", (yield* head) === undefined, false)
    })
)

/** The time of the beginning of this ULID, 2020-01-01T00:00:00.000Z. */
const begun2020 = "01DXF6DT00"

/** Work branches that a process left behind are listed with their time; those that run are protected. */
export const staleWork = law(
  "staleWork",
  operations(
    "work branches that were left behind are listed and removed, no others",
    transactionPage,
    "`staleTransactions` lists the work branches that a crash or a conflict left behind"
  ),
  ({ head, people, expectFailure, remote, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({}, { id: "a" })
      const random = (yield* Effect.flatten(generator)).slice(begun2020.length)
      const branch = `chainstore-tx-${begun2020}${random}`
      yield* remote.createBranch(branch, (yield* head)! as Oid)
      const begun = Effect.map(store.staleTransactions, (all) =>
        all.filter((one) => one.branch === branch).map(({ startedAt }) => startedAt.toISOString())
      )
      yield* expectEqual("when it began", yield* begun, ["2020-01-01T00:00:00.000Z"])
      yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("people").update("a", { n: 1 })
          yield* expectFailure("one that is running", store.removeTransaction(tx.branch), "ValidationError")
          yield* tx.collection("people").update("a", { n: 2 })
        })
      )
      yield* expectEqual("what it wrote", (yield* read(people, "a"))?.["n"], 2)
      yield* store.removeTransaction(branch)
      yield* expectEqual("after its removal", yield* begun, [])
    })
)
