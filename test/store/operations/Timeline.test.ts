import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { AuthError } from "../../../src/domain/errors/StoreError.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { Browse } from "../../../src/store/browse/index.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { file, foreignCommit } from "../core/ForeignCommit.js"
import { document, type StorePair, storePair } from "./StorePair.js"

const put = ({ remote }: StorePair, branch: string, path: string, text: string) =>
  Effect.flatMap(remote.head(branch), (head) =>
    remote.commit(branch, head, {
      message: "by hand",
      changes: [{ _tag: "Put", path, content: new TextEncoder().encode(text) }]
    })
  )

const textOf = ({ remote }: StorePair, path: string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    return new TextDecoder().decode(Option.getOrThrow(yield* remote.file(head, path)).content)
  })

const timelineOf = (it: StorePair) =>
  Effect.flatMap(
    Browse.make({ store: it.store, remote: it.remote, readOnly: false }),
    ({ timeline }) => timeline
  )

type Item = { readonly id: string | number; readonly n: number }

const keyed = (ids: ReadonlyArray<string | number>, conflicted: string | number) =>
  Effect.gen(function* () {
    const it = yield* storePair({ merge: { notes: { items: { key: "id" } } } })
    const items = (n: number): ReadonlyArray<Item> => ids.map((id) => ({ id, n: id === conflicted ? n : 0 }))
    const notes = it.store.collection("notes")
    yield* notes.insert({ items: items(0) }, { id: "x" })
    yield* it.store.createBranch("draft")
    yield* notes.update("x", { items: items(1) })
    yield* it.store
      .onBranch("draft")
      .collection("notes")
      .update("x", { items: items(2) })
    const timeline = yield* timelineOf(it)
    const { conflicts } = yield* timeline.previewMerge("draft", [])
    const [conflict] = conflicts
    assert.isDefined(conflict)
    yield* timeline.merge("draft", [
      { path: conflict!.path, digest: conflict!.digest, take: conflict!.choices.map(() => "theirs" as const) }
    ])
    return (yield* document(it.other, "notes", "x"))!["items"]
  })

describe("a decision of a conflict", () => {
  // Timeline.ts, ConflictDecision: "A side for each of its choices"; MergeRules.ts: "in a list that is merged by a key, by the key of the item".
  it.live("takes their item of a list that is merged by a key which is a text", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* keyed(["a", "b"], "b"), [
        { id: "a", n: 0 },
        { id: "b", n: 2 }
      ])
    })
  )

  // The same: the key is a number, which is no place in the list.
  it.live(
    "takes their item of a list that is merged by a key which is a number, and leaves the others alone",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* keyed([1, 2, 3], 1), [
          { id: 1, n: 2 },
          { id: 2, n: 0 },
          { id: 3, n: 0 }
        ])
      })
  )

  // Timeline.ts, BranchConflict.digest: "Stands for both versions: a decision counts for these alone."
  it.live("counts for no other version of a file that cannot be read", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const path = "data/notes/x.json"
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "x" })
      yield* it.store.createBranch("draft")
      yield* put(it, "main", path, "{ one way to break it")
      yield* it.store.onBranch("draft").collection("notes").update("x", { n: 1 })
      const timeline = yield* timelineOf(it)
      const before = (yield* timeline.previewMerge("draft", [])).conflicts[0]!
      yield* put(it, "main", path, "{ another way to break it")
      const after = (yield* timeline.previewMerge("draft", [])).conflicts[0]!
      assert.notStrictEqual(before.digest, after.digest)
    })
  )
})

describe("a decision about a number that JavaScript cannot hold", () => {
  const decided = (ours: string, theirs: string) =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const path = "data/notes/x.json"
      const text = (n: string, title: string) =>
        `{"_id": "x", "_rev": 1, "n": ${n}, "title": "${title}", "big": 12345678901234567891}`
      yield* put(it, "main", path, text("1", "base"))
      yield* it.store.createBranch("draft")
      yield* put(it, "main", path, text(ours, "ours"))
      yield* put(it, "draft", path, text(theirs, "theirs"))
      const timeline = yield* timelineOf(it)
      const { conflicts } = yield* timeline.previewMerge("draft", [])
      const { choices, digest } = conflicts[0]!
      const take = choices.map(({ path: [name] }) => (name === "n" ? ("theirs" as const) : ("ours" as const)))
      yield* timeline.merge("draft", [{ path, digest, take }])
      return yield* textOf(it, path)
    })

  // Timeline.ts, ConflictDecision: "A side for each of its choices": the side's value, with the digits that it has.
  it.live("takes it with the digits of its side", () =>
    Effect.gen(function* () {
      const merged = yield* decided("2", "98765432109876543219")
      assert.include(merged, '"n": 98765432109876543219', merged)
      assert.include(merged, '"big": 12345678901234567891')
      assert.include(merged, "ours")
    })
  )

  // docs/store.md: numbers that nobody changed stay as they are: an object is written in the place of a number that no one decided about.
  it.live("leaves a number alone where another field is taken from theirs", () =>
    Effect.gen(function* () {
      const merged = yield* decided("2", "3")
      assert.include(merged, '"n": 3')
      assert.include(merged, '"big": 12345678901234567891')
    })
  )
})

describe("a function that decides about conflicts", () => {
  // Branches.ts, MergeOptions.onConflict and StoreError.ts, Unmerged: `ours`, `theirs` and `document` are the documents as JavaScript reads them.
  it.live("is given numbers as numbers, and what it returns is written as it is", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const path = "data/notes/x.json"
      const text = (title: string) =>
        `{"_id": "x", "_rev": 1, "big": 1.0, "deep": {"n": 2.0}, "title": "${title}"}`
      yield* put(it, "main", path, text("base"))
      yield* it.store.createBranch("draft")
      yield* put(it, "main", path, text("ours"))
      yield* put(it, "draft", path, text("theirs"))
      yield* it.store.merge("draft", {
        onConflict: ({ ours }) => ({ ...(ours as JsonObject), title: "both" })
      })
      const { big, deep, title } = (yield* document(it.other, "notes", "x"))!
      assert.deepStrictEqual({ big, deep, title }, { big: 1, deep: { n: 2 }, title: "both" })
    })
  )
})

describe("a preview of a merge", () => {
  // Timeline.ts, MergePreview: "What a merge of a branch would do, once what was decided is": what it shows as decided, the merge refuses.
  it.live("shows no conflict as decided that keeps the merge from being made", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "x" })
      yield* put(it, "main", "lib/a", "1")
      yield* it.store.createBranch("draft")
      yield* put(it, "main", "lib/new", "1")
      yield* Effect.flatMap(it.remote.head("draft"), (head) =>
        it.remote.commit("draft", head, {
          message: "by hand",
          changes: [
            { _tag: "Remove", path: "lib/a" },
            { _tag: "Put", path: "lib", content: new TextEncoder().encode("now a file") }
          ]
        })
      )
      const timeline = yield* timelineOf(it)
      const { conflicts } = yield* timeline.previewMerge("draft", [])
      assert.isAtLeast(conflicts.length, 1)
      const decisions = conflicts.map(({ choices, digest, path }) => ({
        path,
        digest,
        take: choices.map(() => "theirs" as const)
      }))
      const left = (yield* timeline.previewMerge("draft", decisions)).conflicts
      const merged = yield* Effect.either(timeline.merge("draft", decisions))
      assert.strictEqual(left.length === 0, merged._tag === "Right", `${left.length} left, ${String(merged)}`)
    })
  )

  // Timeline.ts, ConflictDecision: a decision is of one conflict, by its `path` and `digest`; two settings are two conflicts.
  it.live("distinguishes two conflicts of the settings", () =>
    Effect.gen(function* () {
      const made = yield* storePair({ merge: { notes: { n: "whole" }, plans: { n: "whole" } } })
      yield* made.store.collection("notes").insert({ n: 0 }, { id: "x" })
      const store = yield* Effect.provideService(Store.make(), GitRemote, made.remote)
      const it = { ...made, store }
      const path = "data/_chainstore.json"
      const recorded = JSON.parse(yield* textOf(it, path)) as { readonly [name: string]: unknown }
      const withRule = (n: string) => JSON.stringify({ ...recorded, merge: { notes: { n }, plans: { n } } })
      yield* store.createBranch("draft")
      yield* put(it, "main", path, withRule("counter"))
      yield* put(it, "draft", path, withRule("lines"))
      const timeline = yield* timelineOf(it)
      const { conflicts } = yield* timeline.previewMerge("draft", [])
      assert.lengthOf(conflicts, 2, JSON.stringify(conflicts))
      assert.lengthOf(new Set(conflicts.map(({ digest, path }) => `${path} ${digest}`)), 2)
    })
  )
})

describe("a timeline that can only be read", () => {
  // A right is missing (403), not a session (401), which a page answers by signing out.
  it.live("refuses to revert, to make a branch and to merge with 403", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "x" })
      const timeline = yield* Effect.flatMap(
        Browse.make({ store: it.store, remote: it.remote, readOnly: true }),
        ({ timeline }) => timeline
      )
      for (const write of [
        timeline.revert("main"),
        timeline.createBranch("draft", "main"),
        timeline.merge("draft", [])
      ]) {
        const error: { readonly _tag: string; readonly status?: unknown } = yield* Effect.flip(
          write as Effect.Effect<unknown, AuthError>
        )
        assert.strictEqual(error._tag, "AuthError")
        assert.strictEqual(error.status, 403)
      }
    })
  )
})

describe("a revert", () => {
  // Timeline.ts, RevertPreview.documents: "as they are, and as they would be": a file that is there is changed, not added.
  it.live("is previewed as a change of the broken file that it mends", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "x" })
      yield* foreignCommit(it.remote, file("notes/x.json", "{ broken"))
      const commit = Option.getOrThrow(yield* it.remote.head("main")).commit
      const timeline = yield* timelineOf(it)
      const preview = yield* timeline.previewRevert(commit)
      assert.isNull(preview.problem)
      assert.deepStrictEqual(
        preview.documents.map(({ kind, unreadable }) => ({ kind, unreadable })),
        [{ kind: "changed", unreadable: true }]
      )
    })
  )
})

describe("a decision of a conflict of two versions", () => {
  // Timeline.ts, BranchConflict.digest: "Stands for both versions: a decision counts for these alone."
  it.live("counts for no other version, also where only digits differ that JavaScript cannot hold", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const path = "data/notes/x.json"
      const text = (n: string) => `{"_id": "x", "_rev": 1, "n": ${n}}`
      yield* put(it, "main", path, text("1"))
      yield* it.store.createBranch("draft")
      yield* put(it, "main", path, text("2"))
      yield* put(it, "draft", path, text("12345678901234567891"))
      const timeline = yield* timelineOf(it)
      const { choices, digest } = (yield* timeline.previewMerge("draft", [])).conflicts[0]!
      yield* put(it, "draft", path, text("12345678901234567899"))
      const take = choices.map(() => "theirs" as const)
      const { conflicts } = yield* timeline.previewMerge("draft", [{ path, digest, take }])
      assert.lengthOf(conflicts, 1)
    })
  )
})
