import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Monotonic from "../../domain/time/MonotonicClock.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { law, promiseOf, type WrapRemote } from "./StoreLaw.js"

const store = promiseOf("store")
const operations = promiseOf("operations")

/** The same once the commit is built, just before it is made. */
export const betweenBuildAndCommit =
  (times: number, happens: (time: number) => Effect.Effect<unknown, unknown>): WrapRemote =>
  (remote) => {
    let happened = 0
    return {
      ...remote,
      commitNext: (branch, edit) =>
        remote.commitNext(branch, (snapshot) =>
          Effect.tap(edit(snapshot), () =>
            Effect.suspend(() => (happened < times ? Effect.ignore(happens(happened++)) : Effect.void))
          )
        )
    }
  }

const again =
  "writers of the same document are retried `conflictRetries` times and then fail with a `ConflictError` that contains both versions."

/** A document that somebody keeps changing is tried again as often as it is told, and then a conflict. */
export const conflictRetries = law(
  "conflictRetries",
  store("a changed document is tried again conflictRetries times", "writing", again),
  ({ open, people, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      for (const retries of [0, 1, 3]) {
        const id = `r${retries}`
        yield* people.insert({ n: 0, theirs: 0 }, { id })
        const theirs = (time: number) => people.update(id, { theirs: time + 1 })
        const racing = (times: number) =>
          open({ conflictRetries: retries }, betweenBuildAndCommit(times, theirs))
        const winner = yield* racing(retries)
        const written = yield* winner.collection("people").update(id, { n: 1 })
        yield* expectEqual(
          `${retries} changes`,
          [written._rev, written["n"], written["theirs"]],
          [retries + 2, 1, retries]
        )
        const loser = yield* racing(retries + 1)
        const error = yield* expectFailure(
          `${retries + 1} changes`,
          loser.collection("people").update(id, { n: 2 }),
          "ConflictError"
        )
        const versions = error.conflicts.map((one: any) => [one.id, one.actual.rev - one.expected.rev])
        yield* expectEqual("both versions", versions, [[id, 1]])
        yield* expectEqual("nothing was written", (yield* read(people, id))?.["n"], 1)
      }
    })
)

/** The largest number of builds after the deadline: a remote may build a commit several times before it reports a lost race. */
const maxLateBuilds = 16

/** Others who move the branch and leave the document alone cost no conflict. */
export const differentDocuments = law(
  "differentDocuments",
  store(
    "writers of different documents never see a conflict",
    "writing",
    "writers of different documents never see a conflict"
  ),
  ({ open, people, expectEqual }) =>
    Effect.gen(function* () {
      const others = (yield* open()).collection("people")
      const ids: Array<string> = []
      const theirs = (time: number) =>
        Effect.tap(others.insert({ time }, { id: `theirs${time}` }), (id) => Effect.sync(() => ids.push(id)))
      const racing = yield* open({ conflictRetries: 0 }, betweenBuildAndCommit(4, theirs))
      yield* racing.collection("people").insert({ n: 1 }, { id: "a" })
      yield* racing.collection("people").update("a", { n: 2 }, { expectedRev: 1 })
      yield* expectEqual("all documents", yield* people.list(), ["a", ...ids])
      yield* expectEqual("the document", shape(yield* read(people, "a")), wanted(2, { n: 2 }))
      const deadlineMillis = 100
      /** The number of builds after the deadline. Beyond the limit nobody interferes, so that the write ends. */
      let late = 0
      let firstBuild: number | undefined
      const starve = (time: number) =>
        Effect.gen(function* () {
          const now = yield* Monotonic.millis
          firstBuild ??= now
          if (now - firstBuild >= deadlineMillis && ++late > maxLateBuilds) return
          yield* others.upsert("busy", { time })
        })
      const busy = yield* open(
        { deadline: Duration.millis(deadlineMillis) },
        betweenBuildAndCommit(10_000, starve)
      )
      const exit = yield* Effect.exit(busy.collection("people").update("a", { n: 3 }))
      // Where a commit names the document alone, nobody starves it.
      const ended =
        late <= maxLateBuilds && (Exit.isSuccess(exit) || String(exit.cause).includes("ConflictError"))
      yield* expectEqual("the deadline ends a write that others starve", ended, true)
    })
)

/** A batch is built again on the head that others made, as often as it is told. */
export const batchRetries = law(
  "batchRetries",
  operations(
    "a batch is built again batchRetries times",
    "batch-many-operations-one-commit",
    "If the branch moves, the batch is built again on the new head, up to `batchRetries` times; then it fails with `ConflictError`."
  ),
  ({ open, people, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      for (const retries of [0, 2]) {
        const id = `b${retries}`
        const theirs = (time: number) => people.upsert(`theirs${retries}`, { time })
        const racing = (times: number) =>
          open({ batchRetries: retries }, betweenBuildAndCommit(times, theirs))
        const winner = yield* racing(retries)
        yield* winner.batch({}, (batch) => batch.put("people", id, { n: 1 }))
        yield* expectEqual(`${retries} moves`, shape(yield* read(people, id)), wanted(1, { n: 1 }))
        const loser = yield* racing(retries + 1)
        const lost = loser.batch({}, (batch) => batch.put("people", id, { n: 2 }))
        yield* expectFailure(`${retries + 1} moves`, lost, "ConflictError")
        yield* expectEqual("nothing was written", shape(yield* read(people, id)), wanted(1, { n: 1 }))
      }
    })
)

/** Writers that compare and set lose nothing; those of one process queue. */
export const counting = law(
  "counting",
  store(
    "concurrent compare-and-set counts exactly",
    "writing",
    "If another writer moved the branch meanwhile, the write starts again"
  ),
  ({ open, people, expectEqual }) =>
    Effect.gen(function* () {
      const other = (yield* open()).collection("people")
      yield* people.insert({ n: 0 }, { id: "counter" })
      const step = (collection: typeof people) =>
        Effect.retry(
          Effect.gen(function* () {
            const current = yield* Effect.flatten(collection.get("counter", { fresh: true }))
            yield* collection.update(
              "counter",
              { n: Number(current["n"]) + 1 },
              { expectedRev: current._rev }
            )
          }),
          { times: 200, while: (error) => error._tag === "ConflictError" }
        )
      const steps = Array.from({ length: 6 }, (_, n) => step(n % 2 === 0 ? people : other))
      yield* Effect.all(steps, { concurrency: 4, discard: true })
      yield* expectEqual("the counter", shape(yield* read(people, "counter")), wanted(7, { n: 6 }))
      yield* Effect.forEach([1, 2, 3, 4], (n) => people.update("counter", { [`by${n}`]: n }), {
        concurrency: "unbounded"
      })
      const last = yield* read(people, "counter")
      yield* expectEqual("writers of one process", [last?._rev, last?.["by1"], last?.["by4"]], [11, 1, 4])
      const ids = ["a", "b", "c", "d", "e", "f"]
      yield* Effect.forEach(ids, (id, n) => (n % 2 === 0 ? people : other).insert({}, { id }), {
        concurrency: "unbounded"
      })
      yield* expectEqual("writers of other documents", yield* people.list(), [...ids, "counter"].sort())
    })
)
