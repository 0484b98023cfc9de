import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { JsonObject } from "../../domain/json/Json.js"
import type { Collection } from "../../store/Collection.js"
import { canonical, fieldsOf } from "../program/StoreModel.js"
import { drawnLaw, law, promiseOf } from "./StoreLaw.js"

const store = promiseOf("store")
const operations = promiseOf("operations")

export const read = (collection: Pick<Collection, "get">, id: string) =>
  Effect.map(collection.get(id), Option.getOrNull)

/** A document's revision and the caller's part of it. */
export const shape = (document: StoredDocument | null) =>
  document === null ? null : [document._rev, canonical(fieldsOf(document))]

/** What `shape` gives of a document that is as it should be. */
export const wanted = (rev: number, fields: JsonObject) => [rev, canonical(fields)]

export const file =
  "the document: two-space indent, sorted keys, one newline; with `_id`, `_rev`, `_created_at`, `_updated_at`"

/** What is inserted is what is read, by every read of one document. */
export const roundTrip = drawnLaw(
  "roundTrip",
  store(
    "what is inserted is what is read",
    "reading",
    "`get`, `exists`, `list`, `count`, `page` and `findBy` read the branch's head."
  ),
  ({ fields, people, expectEqual }) =>
    Effect.forEach(fields.slice(0, 4), (given) =>
      Effect.gen(function* () {
        const id = yield* people.insert(given)
        const found = yield* read(people, id)
        yield* expectEqual("the document", shape(found), wanted(1, given))
        yield* expectEqual("its id", found?._id, id)
        yield* expectEqual("exists", yield* people.exists(id), true)
        yield* expectEqual("exists of another id", yield* people.exists(`${id}x`), false)
        yield* expectEqual("get of another id", yield* read(people, `${id}x`), null)
      })
    )
)

/** `update` and `upsert` merge at the top level, `replace` overwrites; the revision rises by one each time. */
export const revisions = drawnLaw(
  "revisions",
  operations(
    "each write raises the revision by one",
    "guarantees-and-the-test-that-shows-each",
    "`_rev` rises by one, `_created_at` stays"
  ),
  ({ fields, people, expectEqual }) =>
    Effect.gen(function* () {
      const [a = {}, b = {}, c = {}] = fields
      const id = yield* people.insert(a)
      const first = yield* read(people, id)
      yield* expectEqual("update merges", shape(yield* people.update(id, b)), wanted(2, { ...a, ...b }))
      yield* expectEqual("replace overwrites", shape(yield* people.replace(id, c)), wanted(3, c))
      const last = yield* people.upsert(id, a)
      yield* expectEqual("upsert merges", shape(last), wanted(4, { ...c, ...a }))
      yield* expectEqual("what a write answers is what is read", yield* read(people, id), last)
      yield* expectEqual("_created_at", last._created_at, first?._created_at)
      yield* expectEqual("upsert of a missing document", shape(yield* people.upsert("new", b)), wanted(1, b))
      yield* people.delete(id)
      yield* expectEqual("deleted", yield* read(people, id), null)
      yield* people.insert(b, { id })
      yield* expectEqual("_rev begins again", shape(yield* read(people, id)), wanted(1, b))
    })
)

/** A refused write leaves documents and history as they were. */
export const refusals = drawnLaw(
  "refusals",
  store(
    "a refused write changes nothing",
    "writing",
    "A write reads the document at the head on which its commit is based, checks `expectedRev` there"
  ),
  ({ fields, head, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const [a = {}, b = {}] = fields
      yield* people.insert(a, { id: "a" })
      const before = yield* read(people, "a")
      const at = yield* head
      const cases: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>, string]> = [
        ["insert of an existing id", people.insert(b, { id: "a" }), "ConflictError"],
        ["update of another revision", people.update("a", b, { expectedRev: 2 }), "ConflictError"],
        ["replace of another revision", people.replace("a", b, { expectedRev: 0 }), "ConflictError"],
        ["upsert of another revision", people.upsert("a", b, { expectedRev: 3 }), "ConflictError"],
        ["delete of another revision", people.delete("a", { expectedRev: 7 }), "ConflictError"],
        [
          "upsert of a missing document at a revision",
          people.upsert("b", b, { expectedRev: 1 }),
          "ConflictError"
        ],
        ["update of a missing document", people.update("b", b), "NotFoundError"],
        ["replace of a missing document", people.replace("b", b), "NotFoundError"],
        ["delete of a missing document", people.delete("b"), "NotFoundError"],
        ["insert of a bad id", people.insert(a, { id: "../b" }), "ValidationError"],
        ["insert of an id with a newline", people.insert(a, { id: "b\n" }), "ValidationError"],
        ["insert of a long id", people.insert(a, { id: "b".repeat(129) }), "ValidationError"],
        ["insert into a bad collection", store.collection("_people").insert(a), "ValidationError"],
        ["insert of what is no object", people.insert([1] as never), "ValidationError"],
        ["insert of undefined in a list", people.insert({ list: [undefined] } as never), "ValidationError"],
        ["insert of another _id", people.insert({ _id: "c" }, { id: "b" }), "ValidationError"],
        ["update to another _id", people.update("a", { _id: "c" }), "ValidationError"]
      ]
      for (const [what, effect, tag] of cases) yield* expectFailure(what, effect, tag)
      const conflict = yield* expectFailure(
        "update",
        people.update("a", b, { expectedRev: 9 }),
        "ConflictError"
      )
      yield* expectEqual(
        "a conflict holds both versions",
        conflict.conflicts.map((one: any) => [one.collection, one.id, one.expected?.rev, one.actual?.rev]),
        [["people", "a", 9, 1]]
      )
      yield* expectEqual("the document", yield* read(people, "a"), before)
      yield* expectEqual("the ids", yield* people.list(), ["a"])
      yield* expectEqual("the head", yield* head, at)
      yield* people.update("a", {}, { expectedRev: 1 })
      yield* people.delete("a", { expectedRev: 2 })
      yield* expectEqual("a delete of the expected revision", yield* read(people, "a"), null)
      yield* expectEqual("count", yield* people.count, 0)
    })
)

/** What the store writes on a document is its own; `_id` of an inserted document is its id. */
export const metadata = drawnLaw(
  "metadata",
  store("metadata is the store's", "files-in-the-repository", file),
  ({ fields, people, expectEqual }) =>
    Effect.gen(function* () {
      const [a = {}] = fields
      const lie: JsonObject = { ...a, _rev: 7, _created_at: "never", _updated_at: "never" }
      yield* people.insert(lie, { id: "a" })
      const first = yield* read(people, "a")
      yield* expectEqual("inserted", shape(first), wanted(1, a))
      yield* expectEqual("_created_at is the store's", first?._created_at === "never", false)
      yield* expectEqual("updated", shape(yield* people.update("a", { _rev: 70 })), wanted(2, a))
      yield* expectEqual("replaced", shape(yield* people.replace("a", { ...lie, _id: "a" })), wanted(3, a))
      yield* expectEqual("_created_at stays", (yield* read(people, "a"))?._created_at, first?._created_at)
    })
)

/** Generated ids rise, and name documents in the order of their inserts. */
export const generatedIds = law(
  "generatedIds",
  store(
    "generated ids begin with the time",
    "options",
    "Generated ids begin with the time: only `hash` spreads them"
  ),
  ({ people, expectEqual, store }) =>
    Effect.gen(function* () {
      const ids = yield* Effect.forEach([1, 2, 3, 4, 5], (n) => people.insert({ n }))
      const more = yield* store.batch({}, (batch) =>
        Effect.forEach(
          Array.from({ length: 20 }, (_, n) => n),
          (n) => batch.insert("people", { n: n + 6 })
        )
      )
      // A copy of a stored document has its id.
      const copied = { _id: ids[0]!, n: 0 }
      const copies = yield* store.batch({}, (batch) => batch.insert("people", copied))
      const all = [...ids, ...more.result, copies.result, yield* people.insert(copied)]
      yield* expectEqual("ids in the order of inserts", [...all].sort(), all)
      yield* expectEqual("ids that differ", new Set(all).size, all.length)
      yield* expectEqual("the listing", yield* people.list(), all)
    })
)

/** `_created_at` and `_updated_at` are times of Effect's clock, in UTC with milliseconds. */
export const timestamps = law(
  "timestamps",
  store("the times of a document", "files-in-the-repository", file),
  ({ people, expectEqual, store }) =>
    Effect.gen(function* () {
      const clock = (time: string): Clock.Clock => {
        const millis = () => Date.parse(time)
        return Object.assign(Object.create(Clock.make()), {
          unsafeCurrentTimeMillis: millis,
          unsafeCurrentTimeNanos: () => BigInt(millis()) * 1_000_000n,
          currentTimeMillis: Effect.sync(millis),
          currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n)
        })
      }
      const [first, second, third] = [
        "2031-01-02T03:04:05.006Z",
        "2031-01-02T03:04:05.007Z",
        "2032-12-31T23:59:59.000Z"
      ]
      yield* Effect.withClock(people.insert({ n: 1 }, { id: "a" }), clock(first!))
      const inserted = yield* read(people, "a")
      yield* expectEqual("inserted", [inserted?._created_at, inserted?._updated_at], [first, first])
      const updated = yield* Effect.withClock(people.update("a", { n: 2 }), clock(second!))
      yield* expectEqual("updated", [updated._created_at, updated._updated_at], [first, second])
      const batch = store.batch({}, (it) => it.put("people", "a", { n: 3 }))
      yield* Effect.withClock(batch, clock(third!))
      const put = yield* read(people, "a")
      yield* expectEqual("put by a batch", [put?._created_at, put?._updated_at], [first, third])
    })
)

/** Messages, authors and committers of commits are those that the caller gives. */
export const messages = law(
  "messages",
  operations(
    "commits say what was done, and who did it",
    "batch-many-operations-one-commit",
    "Every write of a store is a commit."
  ),
  ({ commits, open, people, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1 }, { id: "a" })
      yield* people.update("a", { n: 2 })
      yield* people.replace("a", { n: 3 })
      yield* people.upsert("a", { n: 4 })
      yield* people.upsert("b", { n: 4 })
      yield* people.delete("b")
      yield* store.batch({}, (batch) =>
        Effect.all([batch.put("people", "c", {}), batch.put("people", "d", {})])
      )
      yield* store.writer({}, (writer) => writer.put("people", "e", {}))
      yield* people.update("a", { n: 5 }, { message: "of the caller\n\nwith a body" })
      const said = yield* commits
      yield* expectEqual(
        "messages",
        said
          .map(({ message }) => message.split("\n\nChainstore-Write")[0]!.trim())
          .reverse()
          // GitHub begins an empty repository with one file alone, and a first commit of several stands on that.
          .filter((message, index) => index > 0 || message !== "first commit of an empty repository"),
        [
          "insert people/a",
          "update people/a",
          "replace people/a",
          "update people/a",
          "insert people/b",
          "delete people/b",
          "batch: 2 operations",
          "writer: 1 operations",
          "of the caller\n\nwith a body"
        ]
      )
      const author = { name: "Ada Lovelace", email: "ada@example.org" }
      const committer = { name: "A Machine", email: "machine@example.org" }
      const signed = yield* Effect.either(open({ author, committer }))
      if (signed._tag === "Left") return
      yield* signed.right.collection("people").insert({}, { id: "signed" })
      const [last] = yield* commits
      const seen = [last?.author.name, last?.author.email, last?.committer.name, last?.committer.email]
      yield* expectEqual("signatures", seen, [author.name, author.email, committer.name, committer.email])
      const [entry] = yield* people.history("signed")
      yield* expectEqual(
        "history",
        [entry?.author, entry?.message, entry?.sha],
        [author.name, "insert people/signed", last?.commit]
      )
    })
)

/** A refused write tells which version was expected, and the one that is stored. */
export const conflictVersions = law(
  "conflictVersions",
  promiseOf("errors")(
    "a conflict has both versions",
    "errors-and-retries",
    "read and decide again; `conflicts` has both versions"
  ),
  ({ head, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1 }, { id: "a" })
      const first = (yield* head)!
      yield* people.update("a", { n: 2 })
      const stored = yield* Effect.flatten(people.version("a"))
      const expectedRev = 5
      const refused: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
        update: people.update("a", {}, { expectedRev }),
        replace: people.replace("a", {}, { expectedRev }),
        upsert: people.upsert("a", {}, { expectedRev }),
        delete: people.delete("a", { expectedRev }),
        restore: people.restore("a", first, { expectedRev }),
        batch: store.batch({}, (batch) =>
          Effect.zipRight(batch.expect("people", "a", { rev: 5 }), batch.put("people", "a", {}))
        )
      }
      for (const [name, write] of Object.entries(refused)) {
        const error = yield* expectFailure(name, write, "ConflictError")
        const [conflict, ...more] = error.conflicts
        yield* expectEqual(
          `the conflict of ${name}`,
          [conflict?.id, conflict?.expected?.rev, more.length],
          ["a", 5, 0]
        )
        const { document, rev, sha } = conflict?.actual ?? {}
        yield* expectEqual(
          `the stored version of ${name}`,
          [rev, sha, shape(document ?? null)],
          [2, stored.sha, wanted(2, { n: 2 })]
        )
      }
    })
)
