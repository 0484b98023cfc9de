import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Refusal } from "./StoreBracketLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { type LawContext, law, promiseOf } from "./StoreLaw.js"

const page = promiseOf("operations")
const section = "transactions-that-services-join"

const workBranches = ({ remote }: LawContext) =>
  Effect.map(remote.listBranches("chainstore-tx-"), (all) => all.length)

/** A collection and a stream that were made before, and every bracket, are part of the transaction. */
export const ambientTransactions = law(
  "ambientTransactions",
  page(
    "operations join the transaction that they run in",
    section,
    "Collections, streams and services that were created before join it too: the transaction is looked up when an operation runs."
  ),
  (given) =>
    Effect.gen(function* () {
      const { head, open, people, expectFailure, expectEqual, store } = given
      const others = (yield* open()).collection("people")
      yield* people.insert({ n: 0 }, { id: "a" })
      const all = people.all()
      const ids = Effect.map(Stream.runCollect(all), (found) =>
        Chunk.toReadonlyArray(found).map(({ _id }) => _id)
      )
      const at = yield* head
      const body = Effect.gen(function* () {
        yield* people.update("a", { n: 1 })
        yield* store.batch({}, (batch) => batch.put("people", "b", {}))
        yield* store.writer({}, (writer) => writer.put("people", "c", {}))
        const fiber = yield* Effect.fork(people.insert({}, { id: "d" }))
        yield* Fiber.join(fiber)
        yield* store.transaction({}, (tx) => tx.collection("people").insert({}, { id: "e" }))
        const view = yield* store.snapshot
        yield* expectEqual(
          "reads inside",
          [yield* ids, shape(yield* read(people, "a")), yield* view.collection("people").list()],
          [["a", "b", "c", "d", "e"], wanted(2, { n: 1 }), ["a", "b", "c", "d", "e"]]
        )
        yield* expectEqual("reads outside", [yield* others.list(), yield* head], [["a"], at])
        return "done"
      })
      yield* expectEqual("its result", yield* store.withTransaction(body), "done")
      yield* expectEqual("after the end", yield* others.list(), ["a", "b", "c", "d", "e"])
      const after = yield* head
      yield* expectFailure(
        "a body that fails",
        store.withTransaction(Effect.zipRight(people.delete("b"), new Refusal())),
        "Refusal"
      )
      const deleted = yield* Deferred.make<void>()
      const waiting = Effect.zipRight(people.delete("b"), Deferred.succeed(deleted, undefined))
      const interrupted = yield* Effect.fork(store.withTransaction(Effect.zipRight(waiting, Effect.never)))
      yield* Deferred.await(deleted)
      yield* Fiber.interrupt(interrupted)
      yield* expectEqual("nothing is left", [yield* head, yield* workBranches(given)], [after, 0])
      const ended = yield* Deferred.make<void>()
      const late = yield* store.withTransaction(
        Effect.forkDaemon(Effect.zipRight(Deferred.await(ended), people.delete("b")))
      )
      yield* Deferred.succeed(ended, undefined)
      yield* expectFailure("a fiber that goes on after the end", Fiber.join(late), "ValidationError")
    })
)

/** A transaction inside another one is part of it, or leaves nothing in it. */
export const nestedTransactions = law(
  "nestedTransactions",
  page(
    "a transaction inside another one joins it",
    section,
    "A nested transaction becomes part of the outer one when it succeeds; if it fails, the outer one continues without its writes."
  ),
  (given) =>
    Effect.gen(function* () {
      const { head, open, people, expectFailure, expectEqual, store } = given
      const others = (yield* open()).collection("people")
      yield* people.insert({ n: 0 }, { id: "a" })
      const at = yield* head
      const failing = store.withTransaction(
        Effect.all([people.update("a", { n: 7 }), people.insert({}, { id: "lost" }), new Refusal()])
      )
      const insert = (id: string) => store.withTransaction(people.insert({}, { id }))
      const body = Effect.gen(function* () {
        yield* people.update("a", { n: 1 })
        yield* insert("b")
        yield* expectFailure("an inner one that fails", failing, "Refusal")
        yield* Effect.all([insert("c"), insert("d")], { concurrency: 2 })
        yield* people.insert({}, { id: "e" })
        yield* expectEqual(
          "reads inside",
          [yield* people.list(), shape(yield* read(people, "a"))],
          [["a", "b", "c", "d", "e"], wanted(2, { n: 1 })]
        )
        yield* expectEqual("reads outside", [yield* others.list(), yield* head], [["a"], at])
      })
      yield* store.withTransaction(body)
      yield* expectEqual(
        "after the end",
        [yield* others.list(), shape(yield* read(others, "a")), yield* workBranches(given)],
        [["a", "b", "c", "d", "e"], wanted(2, { n: 1 }), 0]
      )
      // What an inner one read counts for the outer one, whatever became of it.
      const reading = store.withTransaction(Effect.zipRight(people.get("b"), new Refusal()))
      const racing = store.withTransaction(
        Effect.all([Effect.ignore(reading), people.update("a", { n: 2 }), others.update("b", { n: 1 })])
      )
      const error = yield* expectFailure("a document that an inner one read", racing, "ConflictError")
      yield* store.removeTransaction(error.branch)
      const viewed = Effect.flatMap(store.snapshot, (view) => view.collection("people").get("b"))
      const clash = store.withTransaction(
        Effect.all([viewed, people.update("a", { n: 2 }), others.update("b", { n: 2 })])
      )
      const seen = yield* expectFailure("a document of a snapshot", clash, "ConflictError")
      yield* store.removeTransaction(seen.branch)
      yield* expectEqual(
        "nothing was published",
        [Option.getOrNull(yield* people.get("a"))?.["n"], yield* workBranches(given)],
        [1, 0]
      )
    })
)
