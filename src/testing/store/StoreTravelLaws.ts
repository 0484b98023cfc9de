import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Refusal } from "./StoreBracketLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { drawnLaw, law, promiseOf } from "./StoreLaw.js"

const operations = promiseOf("operations")
const travel = "restore-and-revert"

const restores =
  "writes that version exactly (if the document is still at that revision; `null`: if there is none): fields that were added later are removed, `_rev` keeps rising, `_created_at` stays."

/** A restored version is exact; its revision goes on rising. */
export const restoring = drawnLaw(
  "restoring",
  operations("restore brings a version back exactly", travel, restores),
  ({ fields, head, people, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      const [a = {}, b = {}] = fields
      const empty = yield* Effect.zipRight(people.insert({}, { id: "before" }), head)
      yield* people.insert(a, { id: "a" })
      const first = yield* head
      const created = (yield* read(people, "a"))?._created_at
      yield* people.update("a", { later: true, ...b })
      const back = yield* people.restore("a", first!)
      yield* expectEqual("the content", shape(back), wanted(3, a))
      yield* expectEqual("what is read", yield* read(people, "a"), back)
      yield* expectEqual("_created_at", back._created_at, created)
      yield* expectFailure(
        "another revision",
        people.restore("a", first!, { expectedRev: 2 }),
        "ConflictError"
      )
      yield* expectFailure(
        "an expected absence",
        people.restore("a", first!, { expectedRev: null }),
        "ConflictError"
      )
      yield* expectEqual(
        "the expected revision",
        shape(yield* people.restore("a", first!.slice(0, 12), { expectedRev: 3 })),
        wanted(4, a)
      )
      yield* people.delete("a")
      const restored = yield* people.restore("a", first!, { expectedRev: null })
      yield* expectEqual(
        "a missing document",
        [shape(restored), restored._created_at],
        [wanted(2, a), created]
      )
      yield* expectFailure("a version without the document", people.restore("a", empty!), "NotFoundError")
      yield* expectFailure(
        "a missing commit",
        people.restore("a", "0123456789012345678901234567890123456789"),
        "NotFoundError"
      )
    })
)

const reverts =
  "reverts the documents of a commit, of any size, in a new commit, together with indexes and manifests."

/** A revert undoes the documents of one commit, and overwrites nothing that came later unless it is told to. */
export const reverting = drawnLaw(
  "reverting",
  operations("revert undoes the documents of a commit", travel, reverts),
  ({ fields, head, people, push, expectFailure, remote, root, expectEqual, store }) =>
    Effect.gen(function* () {
      const [a = {}, b = {}] = fields
      yield* store.batch({}, (batch) =>
        Effect.all([
          batch.put("people", "changed", a),
          batch.put("people", "deleted", b),
          batch.put("people", "other", b)
        ])
      )
      const created = (yield* read(people, "deleted"))?._created_at
      const { commitSha } = yield* store.batch({}, (batch) =>
        Effect.all([
          batch.put("people", "changed", b),
          batch.delete("people", "deleted"),
          batch.put("people", "made", a)
        ])
      )
      const commit = Option.getOrThrow(commitSha)
      yield* people.update("other", { n: 1 })
      const reverted = yield* store.revert(commit)
      yield* expectEqual("its commit", reverted.commitSha, yield* head)
      yield* expectEqual("its documents", reverted.documents.map(({ id }) => id).sort(), [
        "changed",
        "deleted",
        "made"
      ])
      yield* expectEqual("what changed", shape(yield* read(people, "changed")), wanted(3, a))
      const again = yield* read(people, "deleted")
      yield* expectEqual("what was deleted", [shape(again), again?._created_at], [wanted(2, b), created])
      yield* expectEqual("what was made", yield* read(people, "made"), null)
      yield* expectEqual("what is not of the commit", (yield* read(people, "other"))?.["n"], 1)
      yield* people.update("changed", { n: 2 })
      const at = yield* head
      const error = yield* expectFailure(
        "a document changed again",
        store.revert(reverted.commitSha),
        "ConflictError"
      )
      yield* expectEqual(
        "the documents in conflict",
        error.conflicts.map((one: any) => one.id),
        ["changed"]
      )
      yield* expectEqual("nothing was written", yield* head, at)
      yield* store.revert(reverted.commitSha, { force: true })
      yield* expectEqual(
        "force",
        [shape(yield* read(people, "changed")), yield* read(people, "deleted")],
        [wanted(5, b), null]
      )
      const file = yield* push({ "notes.txt": "of somebody" })
      yield* expectFailure("a commit without documents", store.revert(file), "ValidationError")
      const mixed = yield* push({ "notes.txt": "changed", "people/by-hand.json": '{"n":1}\n' })
      const partly = yield* store.revert(mixed)
      yield* expectEqual("files that are no documents", partly.skipped, [`${root}/notes.txt`])
      yield* expectEqual("the document beside them", yield* read(people, "by-hand"), null)
      const orphan = `orphan-${root.replaceAll("/", "-")}`
      const begun = yield* remote.commit(orphan, Option.none(), {
        message: "begins a history",
        changes: [{ _tag: "Put", path: `${root}/people/a.json`, content: new TextEncoder().encode("{}") }]
      })
      const onOrphan = store.onBranch(orphan)
      yield* expectFailure("the first commit of a history", onOrphan.revert(begun.commit), "ValidationError")
      yield* remote.deleteBranch(orphan)
      yield* expectFailure(
        "a missing commit",
        store.revert("0123456789012345678901234567890123456789"),
        "NotFoundError"
      )
    }),
  { shardDepth: 0 }
)

/** The history of a document has its commits and no others, newest first. */
export const histories = law(
  "histories",
  operations(
    "history has the commits of a document",
    "guarantees",
    "An acknowledged write is in the history exactly once"
  ),
  ({ people, push, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const shas: Array<string> = []
      for (const n of [1, 2, 3]) {
        const { commitSha } = yield* store.batch({ message: `version ${n}` }, (batch) =>
          batch.put("people", "a", { n })
        )
        shas.unshift(Option.getOrThrow(commitSha))
        yield* people.upsert("b", { n })
      }
      yield* people.delete("a", { message: "gone" })
      const all = yield* people.history("a")
      yield* expectEqual(
        "its messages",
        all.map(({ message }) => message),
        ["gone", "version 3", "version 2", "version 1"]
      )
      yield* expectEqual(
        "its commits",
        all.slice(1).map(({ sha }) => sha),
        shas
      )
      yield* expectEqual(
        "its times",
        all.every(({ date }) => !Number.isNaN(Date.parse(date))),
        true
      )
      const two = yield* people.history("a", { limit: 2 })
      yield* expectEqual(
        "limit",
        two.map(({ message }) => message),
        ["gone", "version 3"]
      )
      yield* expectEqual("of a missing document", yield* people.history("never"), [])
      yield* expectFailure("a limit of 0", people.history("a", { limit: 0 }), "ValidationError")
      for (const [at, { sha }] of all.slice(1).entries()) {
        const view = yield* store.at(sha)
        const found = yield* Effect.flatten(view.collection("people").get("a"))
        yield* expectEqual("the document at each commit", shape(found), wanted(3 - at, { n: 3 - at }))
      }
      for (let n = 0; n < 31; n++) yield* push({ "people/c.json": `{"n":${n}}\n` })
      yield* expectEqual("30 entries without a limit", (yield* people.history("c")).length, 30)
    }),
  { shardDepth: 0 }
)

const previews =
  "runs its body up to the first commit, which is not made, and returns what it would contain: the message, and every file with its content, including index and manifest files"

/** A preview shows the commit that a write would make, and writes nothing. */
export const previewing = law(
  "previewing",
  operations("a preview makes no commit", "preview-what-a-write-would-commit", previews),
  ({ file, head, people, expectFailure, root, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ city: "London" }, { id: "a" })
      const at = yield* head
      const shown = Option.getOrThrow(
        yield* store.preview((dry) =>
          dry.collection("people").update("a", { city: "Rome" }, { message: "move" })
        )
      )
      yield* expectEqual(
        "nothing was written",
        [yield* head, shape(yield* read(people, "a"))],
        [at, wanted(1, { city: "London" })]
      )
      yield* expectEqual("its message", shown.message, "move")
      const paths = shown.changes.map((change) => `${change._tag} ${change.path.slice(root.length + 1)}`)
      const files = ["Put _index/people/city.json", "Put _manifest/people.json", "Put people/a.json"]
      yield* expectEqual("its files", [...paths].sort(), files)
      const [change] = shown.changes.filter(({ path }) => path.endsWith("people/a.json"))
      const content =
        change?._tag === "Put" ? JSON.parse(new TextDecoder().decode(change.content)) : undefined
      yield* expectEqual("its content", [content?.city, content?._rev], ["Rome", 2])
      yield* people.update("a", { city: "Rome" })
      const before = JSON.parse((yield* file("people/a.json"))!)
      yield* expectEqual(
        "what the write then holds",
        { ...before, _updated_at: "" },
        { ...content, _updated_at: "" }
      )
      const first = yield* store.preview((dry) =>
        Effect.zipRight(
          Effect.ignore(dry.collection("people").insert({}, { id: "first" })),
          dry.collection("people").insert({}, { id: "second" })
        )
      )
      yield* expectEqual("the first of two commits", Option.getOrThrow(first).message, "insert people/first")
      const nothing = store.preview((dry) => dry.batch({}, () => Effect.void))
      yield* expectEqual("where nothing would be written", Option.isNone(yield* nothing), true)
      yield* expectFailure(
        "a write that would fail",
        store.preview((dry) => dry.collection("people").insert({}, { id: "a" })),
        "ConflictError"
      )
      yield* expectFailure(
        "a body that fails",
        store.preview(() => new Refusal()),
        "Refusal"
      )
    }),
  { format: 1, indexes: { people: ["city"] }, manifests: ["people"], shardDepth: 0 }
)
