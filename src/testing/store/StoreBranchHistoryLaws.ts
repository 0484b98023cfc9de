import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ConflictError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { nameOf } from "./StoreBranchLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { aDayLater, filesAt, pushTo, textAt } from "./StoreForeignCommit.js"
import { law, promiseOf } from "./StoreLaw.js"

const branching = promiseOf("branches")

/** Branches that merged each other are merged again: a conflict that both decided equally is none. */
export const crossedMerges = law(
  "crossedMerges",
  branching(
    "histories that cross conflict only where their merges differ",
    "histories-that-cross",
    "if M1 and M2 resolved that conflict equally, there is no conflict; if not, there is a conflict without a `base`."
  ),
  ({ branch, expectEqual, expectFailure, head, people, remote, root, store }) =>
    Effect.gen(function* () {
      const put = (to: typeof store, a: number) =>
        to.batch({}, (batch) =>
          Effect.forEach(["x", "y"], (id) => batch.put("people", id, { a, b: 1, c: 1 }))
        )
      yield* put(store, 1)
      const name = nameOf(root, "crossing")
      yield* store.createBranch(name)
      const other = store.onBranch(name)
      yield* put(store, 2)
      yield* put(other, 3)
      const [ours, theirs] = [(yield* head)!, Option.getOrThrow(yield* remote.head(name)).commit]
      yield* store.merge(theirs, { onConflict: "ours" })
      yield* store.merge(ours, { into: name, onConflict: ({ id }) => (id === "x" ? "theirs" : "ours") })
      const bases = yield* remote.mergeBases(
        (yield* head)! as Oid,
        Option.getOrThrow(yield* remote.head(name)).commit
      )
      yield* expectEqual("the merge bases", [...bases].sort(), [ours, theirs].sort())
      for (const id of ["x", "y"]) {
        yield* people.update(id, { b: 2 })
        yield* other.collection("people").update(id, { c: 2 })
      }
      const error: ConflictError = yield* expectFailure("a merge", store.merge(name), "ConflictError")
      yield* expectEqual(
        "the conflicts",
        (error.unmerged ?? []).map(({ conflicts, id, kind }) => [id, kind, conflicts]),
        [["y", "changed", [{ path: ["a"], ours: 2, theirs: 3 }]]]
      )
      yield* store.merge(name, { onConflict: "theirs" })
      for (const [id, a] of [
        ["x", 2],
        ["y", 3]
      ] as const) {
        yield* expectEqual(
          `the merged ${id}`,
          shape(yield* read(people, id))?.[1],
          wanted(0, { a, b: 2, c: 2 })[1]
        )
      }
      yield* expectEqual(
        "the other way round",
        (yield* store.merge(branch, { into: name })).kind,
        "fastForward"
      )
    })
)

/** A merge depends on the two commits alone, also what it writes of revisions and times. */
export const repeatedMerges = law(
  "repeatedMerges",
  branching(
    "two clients merge alike",
    "guarantees",
    "Two clients that merge the same two commits make the same tree, at any time."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, open, people, root, store } = given
      const push = pushTo(given)
      /** Only documents that two people added have creations that differ. */
      const added = (rev: number, created: string, updated: string, fields: object) =>
        `${JSON.stringify({ _id: "added", _rev: rev, _created_at: created, _updated_at: updated, ...fields })}\n`
      yield* people.insert({ a: 1, b: 1 }, { id: "x" })
      const names = ["first", "second", "theirs"].map((name) => nameOf(root, name))
      const [first, second, theirs] = names as [string, string, string]
      yield* store.createBranch(theirs)
      yield* people.update("x", { a: 2 })
      yield* people.insert({ a: 3 }, { id: "ours" })
      const draft = store.onBranch(theirs).collection("people")
      yield* draft.update("x", { b: 2 })
      yield* draft.insert({ a: 3 }, { id: "theirs" })
      yield* push(branch, {
        "people/added.json": added(3, "2020-01-02T00:00:00.000Z", "2022-01-01T00:00:00.000Z", { a: 1, t: 1 })
      })
      yield* push(theirs, {
        "people/added.json": added(5, "2020-01-01T00:00:00.000Z", "2021-01-01T00:00:00.000Z", { b: 1, t: 2 }),
        "people/raw.json": '{"_id":"raw", "_rev":1}'
      })
      for (const name of [first, second]) yield* store.createBranch(name)
      const [here, there] = [yield* open({ branch: first }), yield* open({ branch: second })]
      const decide = { onConflict: "theirs" } as const
      yield* here.merge(theirs, decide)
      yield* aDayLater(there.merge(theirs, decide))
      const [one, other] = [yield* filesAt(given, first), yield* filesAt(given, second)]
      yield* expectEqual("the same files", one, other)
      const merged = yield* read(here.collection("people"), "added")
      yield* expectEqual("what both added", shape(merged), wanted(6, { a: 1, b: 1, t: 2 }))
      yield* expectEqual(
        "its times",
        [merged?._created_at, merged?._updated_at],
        ["2020-01-01T00:00:00.000Z", "2022-01-01T00:00:00.000Z"]
      )
      yield* expectEqual(
        "the bytes of one side",
        yield* textAt(given, first, "people/raw.json"),
        '{"_id":"raw", "_rev":1}'
      )
    }),
  { shardDepth: 0, indexes: { people: ["a"] }, manifests: { people: ["b"] } }
)
