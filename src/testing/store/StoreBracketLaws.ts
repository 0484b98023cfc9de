import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { RemoteError } from "../../domain/errors/StoreError.js"
import { withFaults } from "../program/FaultyRemote.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { drawnLaw, law, promiseOf } from "./StoreLaw.js"

const operations = promiseOf("operations")
const batchPage = "batch-many-operations-one-commit"
const writerPage = "writer-many-writes-few-commits"

/** A failure that a law itself asks for. */
export class Refusal extends Data.TaggedError("Refusal") {}

/** A batch is one commit, or nothing. */
export const batches = drawnLaw(
  "batches",
  operations(
    "a batch is one commit, or nothing",
    batchPage,
    "If the body fails or is interrupted, nothing is written."
  ),
  ({ commits, fields, head, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const [a = {}, b = {}] = fields
      yield* people.insert(a, { id: "kept" })
      const { commitSha, result } = yield* store.batch({ message: "both" }, (batch) =>
        Effect.zipRight(
          Effect.all([batch.put("people", "one", a), batch.put("things", "two", b)]),
          batch.operations
        )
      )
      const [last] = yield* commits
      yield* expectEqual(
        "one commit",
        [result, Option.getOrNull(commitSha), last?.message.trim().split("\n")[0]],
        [2, last?.commit, "both"]
      )
      yield* expectEqual(
        "both documents",
        [shape(yield* read(people, "one")), yield* store.collection("things").list()],
        [wanted(1, a), ["two"]]
      )
      const at = yield* head
      const failing = store.batch({}, (batch) =>
        Effect.zipRight(batch.put("people", "one", b), new Refusal())
      )
      yield* expectFailure("a body that fails", failing, "Refusal")
      const queued = yield* Deferred.make<void>()
      const waiting = store.batch({}, (batch) =>
        batch
          .put("people", "one", b)
          .pipe(Effect.zipRight(Deferred.succeed(queued, undefined)), Effect.zipRight(Effect.never))
      )
      const fiber = yield* Effect.fork(waiting)
      yield* Deferred.await(queued)
      yield* Fiber.interrupt(fiber)
      const missing = store.batch({}, (batch) =>
        Effect.zipRight(batch.put("people", "one", b), batch.delete("people", "missing"))
      )
      yield* expectFailure("deleting what is not there", missing, "NotFoundError")
      const existing = store.batch({}, (batch) =>
        Effect.zipRight(batch.put("people", "new", b), batch.insert("people", b, { id: "one" }))
      )
      yield* expectFailure("inserting what is there", existing, "ConflictError")
      yield* expectEqual(
        "nothing was written",
        [yield* head, shape(yield* read(people, "one"))],
        [at, wanted(1, a)]
      )
    })
)

/** The last operation on a document wins; expectations are judged together. */
export const batchRules = law(
  "batchRules",
  operations("the last operation on a document wins", batchPage, "The last operation on a document wins."),
  ({ head, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1 }, { id: "a" })
      yield* store.batch({}, (batch) =>
        Effect.all([
          batch.put("people", "a", { n: 2 }),
          batch.put("people", "b", { n: 1 }),
          batch.put("people", "a", { n: 3 })
        ])
      )
      yield* expectEqual("the last put", shape(yield* read(people, "a")), wanted(2, { n: 3 }))
      const empty = yield* store.batch({}, (batch) =>
        Effect.zipRight(batch.put("people", "gone", {}), batch.delete("people", "gone"))
      )
      yield* expectEqual("put and delete of a new document", Option.isNone(empty.commitSha), true)
      yield* expectEqual(
        "an empty batch",
        Option.isNone((yield* store.batch({}, () => Effect.void)).commitSha),
        true
      )
      yield* store.batch({}, (batch) =>
        Effect.zipRight(batch.put("people", "b", {}), batch.delete("people", "b"))
      )
      yield* expectEqual("put and delete of a stored document", yield* read(people, "b"), null)
      const insertThenPut = store.batch({}, (batch) =>
        Effect.zipRight(batch.insert("people", {}, { id: "a" }), batch.put("people", "a", {}))
      )
      yield* expectFailure("an insert goes on asking for absence", insertThenPut, "ConflictError")
      const at = yield* head
      const wrong = store.batch({}, (batch) =>
        Effect.all([
          batch.expect("people", "a", { rev: 9 }),
          batch.expect("people", "missing", { rev: 1 }),
          batch.expect("people", "none", { absent: true }),
          batch.put("people", "c", {})
        ])
      )
      const error = yield* expectFailure("two wrong expectations", wrong, "ConflictError")
      yield* expectEqual(
        "all documents in conflict",
        error.conflicts.map((one: any) => one.id),
        ["a", "missing"]
      )
      yield* expectFailure(
        "an expected absence",
        store.batch({}, (batch) =>
          Effect.zipRight(batch.expect("people", "a", { absent: true }), batch.put("people", "c", {}))
        ),
        "ConflictError"
      )
      yield* expectEqual("nothing was written", yield* head, at)
      yield* store.batch({}, (batch) =>
        Effect.all([
          batch.expect("people", "a", { rev: 2 }),
          batch.expect("people", "none", { absent: true }),
          batch.put("people", "c", {})
        ])
      )
      yield* expectEqual("right expectations", yield* people.list(), ["a", "c"])
      yield* store.batch({}, (batch) =>
        Effect.gen(function* () {
          yield* batch.put("people", "d", {})
          yield* expectEqual("a commit inside", Option.isSome(yield* batch.commit), true)
          yield* expectEqual("it is written", yield* people.exists("d"), true)
          yield* batch.put("people", "e", {})
          yield* batch.discard
          yield* expectEqual("discard", yield* batch.operations, 0)
          yield* batch.delete("people", "missing")
          yield* expectFailure("a commit that fails", batch.commit, "NotFoundError")
          yield* expectEqual("keeps the queue", yield* batch.operations, 1)
          yield* batch.discard
        })
      )
      yield* expectEqual("what was discarded", yield* people.exists("e"), false)
      yield* store.batch({}, (batch) =>
        Effect.gen(function* () {
          yield* batch.put("people", "once", {})
          yield* batch.commit
          yield* batch.put("people", "twice", {})
        })
      )
      yield* expectEqual("what was committed inside is written once", (yield* read(people, "once"))?._rev, 1)
      let outside: Effect.Effect<unknown, unknown> = Effect.void
      yield* store.batch({}, (batch) =>
        Effect.sync(() => {
          outside = batch.put("people", "f", {})
        })
      )
      yield* expectFailure("a batch that has ended", outside, "ValidationError")
    })
)

/** A writer commits at its count, on `flush`, and at its end, in the order of the calls. */
export const writers = law(
  "writers",
  operations(
    "a writer commits in the order of the calls",
    writerPage,
    "Commits keep the order of the calls."
  ),
  ({ commits, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const { commits: made } = yield* store.writer({ maxOperations: 5, message: "written" }, (writer) =>
        Effect.gen(function* () {
          for (let n = 0; n < 4; n++) yield* writer.put("people", `n${n}`, { n })
          yield* expectEqual("queued, not durable", [yield* writer.pending, yield* people.count], [4, 0])
          yield* writer.put("people", "n4", { n: 4 })
          yield* expectEqual("at maxOperations", [yield* writer.pending, yield* people.count], [0, 5])
          yield* writer.put("people", "n0", { n: 10 })
          const flushed = yield* writer.flush
          yield* expectEqual(
            "flush",
            [Option.isSome(flushed), yield* writer.pending, shape(yield* read(people, "n0"))],
            [true, 0, wanted(2, { n: 10 })]
          )
          yield* expectEqual("a flush of nothing", Option.isNone(yield* writer.flush), true)
          yield* writer.put("people", "dropped", {})
          yield* expectEqual("discard", [yield* writer.discard, yield* writer.pending], [1, 0])
          yield* writer.delete("people", "n1")
          yield* writer.insert("people", {}, { id: "last" })
        })
      )
      yield* expectEqual("the documents", yield* people.list(), ["last", "n0", "n2", "n3", "n4"])
      const history = yield* commits
      yield* expectEqual(
        "its commits",
        [made, history.slice(0, 3).every(({ message }) => message.startsWith("written"))],
        [
          history
            .slice(0, 3)
            .map(({ commit }) => commit)
            .reverse(),
          true
        ]
      )
      const things = store.collection("things")
      yield* store.writer({ maxOperations: 2 }, (writer) =>
        Effect.forEach(
          Array.from({ length: 7 }, (_, n) => n),
          (n) => writer.put("things", `t${n % 6}`, { n }),
          { concurrency: "unbounded" }
        )
      )
      const numbers = yield* Effect.forEach(yield* things.list(), (id) => read(things, id))
      yield* expectEqual(
        "calls at once",
        numbers.map((it) => it?.["n"]),
        [6, 1, 2, 3, 4, 5]
      )
      yield* store.writer({}, (writer) =>
        Effect.all([
          writer.put("things", "t0", { n: 1 }),
          writer.put("things", "t0", { n: 2 }),
          writer.delete("things", "t1"),
          writer.put("things", "t1", { n: 3 })
        ])
      )
      const last = [yield* read(things, "t0"), yield* read(things, "t1")].map((it) => it?.["n"])
      yield* expectEqual("the last call for a document", last, [2, 3])
      const failing = store.writer({}, (writer) =>
        Effect.zipRight(writer.put("people", "kept", {}), new Refusal())
      )
      yield* expectFailure("a body that fails", failing, "Refusal")
      yield* expectEqual("one more flush", yield* people.exists("kept"), true)
      const refusedEnd = store.writer({}, (writer) =>
        Effect.zipRight(writer.put("people", "beside", {}), writer.delete("people", "missing"))
      )
      const error = yield* expectFailure("what cannot be written", refusedEnd, "NotFoundError")
      const names = (error.unwritten ?? []).map((one: any) => one.id).sort()
      yield* expectEqual("names what is not durable", names, ["beside", "missing"])
      yield* expectEqual("and writes none of it", yield* people.exists("beside"), false)
      let outside: Effect.Effect<unknown, unknown> = Effect.void
      yield* store.writer({}, (writer) =>
        Effect.sync(() => {
          outside = writer.put("people", "f", {})
        })
      )
      yield* expectFailure("a writer that has ended", outside, "ValidationError")
    })
)

/** A writer's timer commits what waits. */
export const writerTimer = law(
  "writerTimer",
  operations(
    "a writer commits after maxSeconds",
    writerPage,
    "A writer commits at `maxOperations` (50), `maxSeconds` (5) after the oldest"
  ),
  ({ people, expectEqual, store }) =>
    Effect.gen(function* () {
      // A slow server needs longer for the commit, too.
      const [took] = yield* Effect.timed(people.insert({}, { id: "before" }))
      const times = 400 + 2 * Math.ceil(Duration.toMillis(took))
      yield* store.writer({ maxSeconds: 0.02 }, (writer) =>
        Effect.gen(function* () {
          yield* writer.put("people", "a", {})
          const durable = Effect.map(writer.pending, (pending) => pending === 0)
          yield* Effect.repeat(Effect.zipLeft(durable, Effect.sleep("5 millis")), {
            until: (done) => done,
            times
          })
          yield* expectEqual("after the timer", [yield* writer.pending, yield* people.exists("a")], [0, true])
        })
      )
      yield* store.writer({ maxSeconds: 0.2, maxOperations: 10_000 }, (writer) =>
        Effect.gen(function* () {
          let n = 0
          const committed = Effect.map(writer.commits, (made) => made.length > 0)
          const another = Effect.suspend(() => writer.put("people", `n${n++ % 3}`, {}))
          yield* Effect.repeat(
            Effect.zipRight(another, Effect.zipRight(Effect.sleep("5 millis"), committed)),
            {
              until: (done) => done,
              times
            }
          )
          yield* expectEqual("while operations are queued", yield* committed, true)
        })
      )
    })
)

/** A batch tells how many documents and expectations wait, and which commit was its last. */
export const batchQueues = law(
  "batchQueues",
  operations(
    "a commit or discard empties the queue, a commit that fails keeps it",
    batchPage,
    "`commit` inside the body writes the operations queued so far; a commit that fails keeps the queue, `discard` empties it."
  ),
  ({ head, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({}, { id: "a" })
      const { commitSha } = yield* store.batch({}, (batch) =>
        Effect.gen(function* () {
          const queued = Effect.all([batch.operations, batch.expectations])
          yield* expectEqual("at first", yield* queued, [0, 0])
          yield* batch.put("people", "a", { n: 1 })
          yield* batch.put("people", "a", { n: 2 })
          yield* batch.insert("people", {}, { id: "b" })
          yield* batch.expect("people", "a", { rev: 2 })
          yield* batch.expect("people", "a", { rev: 1 })
          yield* batch.expect("people", "c", { absent: true })
          yield* expectEqual("documents and expectations", yield* queued, [2, 2])
          yield* batch.commit
          yield* expectEqual("after a commit", yield* queued, [0, 0])
          yield* batch.put("people", "a", { n: 3 })
          yield* batch.put("people", "c", {})
          yield* expectEqual("a commit without expectations", Option.isSome(yield* batch.commit), true)
          yield* batch.expect("people", "a", { rev: 9 })
          yield* batch.put("people", "d", {})
          yield* expectFailure("a commit that fails", batch.commit, "ConflictError")
          yield* expectEqual("after it", yield* queued, [1, 1])
          yield* batch.discard
          yield* expectEqual("after discard", yield* queued, [0, 0])
          yield* batch.expect("people", "a", { rev: 3 })
        })
      )
      yield* expectEqual("the last commit", Option.getOrNull(commitSha), yield* head)
      yield* expectEqual("the documents", yield* people.list(), ["a", "b", "c"])
    })
)

/** A writer whose remote fails loses nothing, and tells what is not durable. */
export const failingWriters = law(
  "failingWriters",
  operations(
    "a failed flush keeps the queue and names what is not durable",
    writerPage,
    "A failed flush keeps the queue; its error names in `unwritten` (and in `hint`) what is not durable."
  ),
  ({ head, open, people, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      let isBroken = false
      const down = new RemoteError({ operation: "law", reason: "Unreachable", message: "the remote is down" })
      const failing = yield* open({}, (remote) =>
        withFaults(remote, ({ point, writes }) =>
          isBroken && writes && point === "before" ? Effect.fail(down) : Effect.void
        )
      )
      yield* people.insert({}, { id: "last" })
      const ids = ["a", "b", "c", "d", "e"]
      yield* failing.writer({ maxOperations: 2, maxSeconds: 60 }, (writer) =>
        Effect.gen(function* () {
          isBroken = true
          const none = yield* writer.commits
          yield* Effect.forEach(ids, (id) => Effect.either(writer.put("people", id, {})), {
            concurrency: "unbounded"
          })
          const error = yield* expectFailure("a flush", writer.flush, "RemoteError")
          yield* expectEqual(
            "what is not durable",
            (error.unwritten ?? []).map((one: any) => one.id),
            ids
          )
          yield* expectEqual("the queue", [yield* writer.pending, yield* people.list()], [5, ["last"]])
          isBroken = false
          const flushed = yield* writer.flush
          const made = yield* writer.commits
          yield* expectEqual("the commits", [none, made.length], [[], 3])
          yield* expectEqual(
            "the commit that flush returns",
            [Option.getOrNull(flushed), made.at(-1)],
            [yield* head, yield* head]
          )
          yield* expectEqual(
            "what is written",
            [yield* writer.pending, yield* people.list()],
            [0, [...ids, "last"]]
          )
        })
      )
    })
)
