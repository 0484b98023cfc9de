import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { Browse } from "../../../src/store/browse/index.js"
import { type Change, GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { file } from "../core/ForeignCommit.js"
import { hosted, remotes } from "../core/Remotes.js"
import { type StorePair, storePair } from "./StorePair.js"

const timelineOf = (it: StorePair) =>
  Effect.flatMap(
    Browse.make({ store: it.store, remote: it.remote, readOnly: false }),
    ({ timeline }) => timeline
  )

const submodule = (path: string, digit: string): Change => ({
  _tag: "Link",
  path,
  oid: digit.repeat(40) as Oid,
  mode: "160000"
})

const gone = (path: string): Change => ({ _tag: "Remove", path })

describe("a submodule that is named like a document", () => {
  const withSubmodule = Effect.gen(function* () {
    const it = yield* storePair()
    yield* it.store.collection("notes").insert({ n: 0 }, { id: "x" })
    yield* it.store.collection("notes").update("x", { n: 1 })
    const head = Option.getOrThrow(yield* it.remote.head("main"))
    const commit = (branch: string, digit: string) =>
      Effect.flatMap(it.remote.head(branch), (head) =>
        it.remote.commit(branch, head, {
          message: "submodule",
          changes: [
            submodule("data/notes/sub.json", digit),
            {
              _tag: "Put",
              path: "data/notes/x.json",
              content: new TextEncoder().encode(`{"_id":"x","_rev":2,"n":"${digit} on ${branch}"}`)
            }
          ]
        })
      )
    return { ...it, head, commit }
  })

  it.live("is not a document of a commit that changes it", () =>
    Effect.gen(function* () {
      const it = yield* withSubmodule
      const made = yield* it.commit("main", "5")
      assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["x"])
      const timeline = yield* timelineOf(it)
      const changes = yield* timeline.changes(made.commit, 0)
      assert.deepStrictEqual(
        changes.documents.map(({ id }) => id),
        ["x"]
      )
    })
  )

  it.live("does not keep the commit that changed it from being reverted", () =>
    Effect.gen(function* () {
      const it = yield* withSubmodule
      yield* it.commit("main", "5")
      const made = yield* it.commit("main", "6")
      const { documents, skipped } = yield* it.store.revert(made.commit)
      assert.deepStrictEqual(
        documents.map(({ id }) => id),
        ["x"]
      )
      assert.include(skipped, "data/notes/sub.json")
    })
  )

  it.live("is a conflict where both branches changed it", () =>
    Effect.gen(function* () {
      const it = yield* withSubmodule
      yield* it.commit("main", "5")
      yield* it.store.createBranch("draft")
      yield* it.commit("main", "6")
      yield* it.commit("draft", "7")
      const { conflicts } = yield* it.store.merge("draft", { dryRun: true })
      assert.include(
        conflicts.map(({ kind, path }) => `${kind} ${path}`),
        "file data/notes/sub.json"
      )
    })
  )

  it.live("is taken from the side that changed it where the collection has an index", () =>
    Effect.gen(function* () {
      const it = yield* storePair({ indexes: { notes: ["n"] }, manifests: { notes: ["n"] } })
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "x" })
      yield* it.store.createBranch("draft")
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "y" })
      yield* Effect.flatMap(it.remote.head("draft"), (head) =>
        it.remote.commit("draft", head, {
          message: "submodule",
          changes: [submodule("data/notes/sub.json", "5")]
        })
      )
      yield* it.store.merge("draft")
      const head = Option.getOrThrow(yield* it.remote.head("main"))
      const { entries } = Option.getOrThrow(yield* it.remote.tree(head, "data/notes"))
      assert.deepStrictEqual(
        entries.map(({ mode, path }) => `${mode} ${path}`),
        ["160000 sub.json", "100644 x.json", "100644 y.json"]
      )
    })
  )
})

describe.each([...remotes, ...hosted])("submodules on %s", (_name, layer) => {
  const test = (
    title: string,
    options: StoreOptions,
    body: (it: {
      readonly store: Store.Store["Type"]
      readonly commit: (branch: string, ...changes: ReadonlyArray<Change>) => Effect.Effect<unknown, unknown>
      readonly files: Effect.Effect<ReadonlyArray<string>, unknown>
    }) => Effect.Effect<void, unknown>
  ) =>
    it.live(
      title,
      () =>
        Effect.gen(function* () {
          const remote = yield* GitRemote
          const store = yield* Store.make(options)
          const commit = (branch: string, ...changes: ReadonlyArray<Change>) =>
            Effect.flatMap(remote.head(branch), (head) =>
              remote.commit(branch, head, { message: "by hand", changes })
            )
          const files = Effect.gen(function* () {
            const head = Option.getOrThrow(yield* remote.head("main"))
            const { entries } = Option.getOrThrow(yield* remote.tree(head, "", { recursive: true }))
            return entries
              .filter(({ kind, path }) => kind !== "tree" && !path.startsWith("data/_"))
              .map(({ mode, path }) => `${mode} ${path}`)
              .sort()
          })
          yield* body({ store: store as never, commit, files })
        }).pipe(Effect.provide(Layer.fresh(layer))),
      60_000
    )

  test("are taken by a merge, and what becomes of them", {}, ({ commit, files, store }) =>
    Effect.gen(function* () {
      yield* store.collection("notes").insert({ n: 0 }, { id: "x" })
      yield* commit("main", { _tag: "Put", path: "run", content: new TextEncoder().encode("#!/bin/sh") })
      yield* commit("main", submodule("sub", "5"))
      yield* store.createBranch("draft")
      yield* store.collection("notes").update("x", { n: 1 })
      yield* commit("draft", submodule("sub", "6"), gone("run"))
      yield* store.merge("draft")
      assert.deepStrictEqual(yield* files, ["100644 data/notes/x.json", "160000 sub"])
      const inside: Change = {
        _tag: "Put",
        path: "sub/file",
        content: new TextEncoder().encode("no submodule")
      }
      yield* commit("draft", gone("sub"), inside)
      yield* store.collection("notes").update("x", { n: 2 })
      yield* store.merge("draft")
      assert.deepStrictEqual(yield* files, ["100644 data/notes/x.json", "100644 sub/file"])
    })
  )

  test(
    "named like documents do not keep an index from being caught up with",
    { format: 2, indexes: { notes: ["n"] }, manifests: { notes: ["n"] } },
    ({ commit, store }) =>
      Effect.gen(function* () {
        const notes = store.collection("notes")
        yield* notes.insert({ n: 1 }, { id: "x" })
        yield* commit("main", submodule("data/notes/sub.json", "5"))
        yield* notes.insert({ n: 2 }, { id: "y" })
        assert.deepStrictEqual(
          (yield* notes.findBy("n", 2)).map(({ _id }) => _id),
          ["y"]
        )
        assert.isTrue((yield* notes.explainQuery({ where: { n: 2 } })).current)
      })
  )

  for (const format of [1, 2] as const) {
    test(
      `take the places of documents and give them back where a merge keeps an index of format ${format}`,
      { format, indexes: { notes: ["n"] } },
      ({ commit, files, store }) =>
        Effect.gen(function* () {
          const notes = store.collection("notes")
          yield* notes.insert({ n: 1 }, { id: "x" })
          yield* notes.insert({ n: 1 }, { id: "y" })
          yield* store.createBranch("draft")
          yield* notes.update("y", { n: 2 })
          yield* commit("draft", submodule("data/notes/x.json", "5"))
          yield* store.merge("draft")
          assert.deepStrictEqual(yield* files, ["100644 data/notes/y.json", "160000 data/notes/x.json"])
          assert.deepStrictEqual(yield* notes.findBy("n", 1), [])
          yield* notes.update("y", { n: 3 })
          const document = file("notes/x.json", { _id: "x", _rev: 1, n: 7 })
          yield* commit("draft", { ...document, replacesSubmodule: true } as Change)
          yield* store.merge("draft")
          assert.deepStrictEqual(yield* files, ["100644 data/notes/x.json", "100644 data/notes/y.json"])
          assert.deepStrictEqual(
            (yield* notes.findBy("n", 7)).map(({ _id }) => _id),
            ["x"]
          )
          const bad = (yield* store.doctorWith({ deep: true })).filter(({ severity }) => severity === "error")
          assert.deepStrictEqual(bad, [])
        })
    )
  }

  test(
    "in the place of a document that the other branch changed are a conflict, and nothing is written",
    {},
    ({ commit, files, store }) =>
      Effect.gen(function* () {
        const notes = store.collection("notes")
        yield* notes.insert({ n: 1 }, { id: "x" })
        yield* store.createBranch("draft")
        yield* notes.update("x", { n: 2 })
        yield* commit("draft", submodule("data/notes/x.json", "5"))
        for (const onConflict of [undefined, "ours", "theirs"] as const) {
          const merged = yield* Effect.either(store.merge("draft", { ...(onConflict && { onConflict }) }))
          assert.isTrue(Either.isLeft(merged), String(onConflict))
          assert.deepStrictEqual(yield* files, ["100644 data/notes/x.json"])
        }
      })
  )
})

const commitTo = (it: StorePair, branch: string, ...changes: ReadonlyArray<Change>) =>
  Effect.flatMap(it.remote.head(branch), (head) =>
    it.remote.commit(branch, head, { message: "by hand", changes })
  )

const files = (it: StorePair) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* it.remote.head("main"))
    const { entries } = Option.getOrThrow(yield* it.remote.tree(head, "data/notes", { recursive: true }))
    return entries.map(({ mode, path }) => `${mode} ${path}`).sort()
  })

describe("a submodule of ours in the place of a document that theirs changed", () => {
  const begun = Effect.gen(function* () {
    const it = yield* storePair()
    yield* it.store.collection("notes").insert({ n: 1 }, { id: "x" })
    yield* it.store.collection("notes").insert({ n: 1 }, { id: "y" })
    yield* it.store.createBranch("draft")
    yield* it.store.onBranch("draft").collection("notes").update("x", { n: 2 })
    yield* commitTo(it, "main", submodule("data/notes/x.json", "5"))
    return it
  })
  for (const onConflict of ["ours", "theirs", () => null, () => ({ n: 7 })] as const) {
    it.live(`is not lost where ${String(onConflict)} is taken`, () =>
      Effect.gen(function* () {
        const it = yield* begun
        yield* Effect.either(it.store.merge("draft", { onConflict }))
        assert.include((yield* files(it)).join(), "160000 x.json")
      })
    )
  }
})
