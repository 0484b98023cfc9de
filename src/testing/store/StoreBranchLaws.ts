import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConflictError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { type LawContext, law, promiseOf } from "./StoreLaw.js"
import { betweenBuildAndCommit } from "./StoreRaceLaws.js"

const branching = promiseOf("branches")

/** A name that no other law has. */
export const nameOf = (root: string, name: string): string => `${name}-${root.replaceAll("/", "-")}`

/** Two documents, and a branch beside the store's own. */
const branched = ({ people, root, store }: LawContext) =>
  Effect.gen(function* () {
    yield* people.insert({ a: 1, b: 1 }, { id: "x" })
    yield* people.insert({ a: 2 }, { id: "y" })
    const name = nameOf(root, "draft")
    yield* store.createBranch(name)
    const draft = store.onBranch(name)
    return { name, draft, theirs: draft.collection("people") }
  })

const indexed = { indexes: { people: ["a"] }, manifests: { people: ["a"] } }

/** Branches come together as documents, and what is derived from these with them. */
export const branchMerges = law(
  "branchMerges",
  branching(
    "a merge has the changes of both branches",
    "what-a-merge-does",
    "They are derived from the merged documents, in the same commit, and unique indexes are checked as in any write"
  ),
  (given) =>
    Effect.gen(function* () {
      const { commits, open, people, remote, expectEqual, store } = given
      const { draft, name, theirs } = yield* branched(given)
      yield* theirs.update("x", { b: 2 })
      yield* theirs.delete("y")
      yield* theirs.insert({ a: 5 }, { id: "z" })
      yield* people.update("x", { a: 3 })
      const shown = yield* Stream.runCollect(store.compare(given.branch, name))
      const kinds = Array.from(shown, ({ id, kind }) => [id, kind])
      yield* expectEqual("the comparison", kinds, [
        ["x", "changed"],
        ["y", "removed"],
        ["z", "added"]
      ])
      const merged = yield* store.merge(name)
      yield* expectEqual("the kind", merged.kind, "merge")
      const other = yield* open()
      const found = other.collection("people")
      yield* expectEqual("a document of both", shape(yield* read(found, "x")), wanted(3, { a: 3, b: 2 }))
      yield* expectEqual("the documents", yield* found.list(), ["x", "z"])
      for (const [value, ids] of [
        [3, ["x"]],
        [5, ["z"]],
        [2, []],
        [1, []]
      ] as const) {
        const ones = yield* found.findBy("a", value)
        yield* expectEqual(
          `the index of ${value}`,
          Array.from(ones, ({ _id }) => _id),
          ids
        )
        yield* expectEqual(`its source`, (yield* found.explain("a", value)).source, "index")
      }
      const [commit] = yield* commits
      const tip = Option.getOrThrow(yield* remote.head(name)).commit
      yield* expectEqual("the parents", [commit?.parents.length, commit?.parents[1]], [2, tip])
      yield* expectEqual("the same again", (yield* store.merge(name)).kind, "upToDate")
      const forward = yield* store.merge(given.branch, { into: name })
      yield* expectEqual("the other way round", forward.kind, "fastForward")
      yield* expectEqual(
        "both branches",
        Option.getOrThrow(yield* remote.head(name)).commit,
        commit?.commit as Oid
      )
      yield* expectEqual(
        "a document of the other one",
        shape(yield* read(draft.collection("people"), "x")),
        wanted(3, { a: 3, b: 2 })
      )
      yield* store.deleteBranch(name)
    }),
  indexed
)

/** Nobody loses an edit by a merge: what cannot be merged is said, all of it. */
export const branchConflicts = law(
  "branchConflicts",
  branching(
    "conflicts fail a merge, all of them are told, and nothing is written",
    "what-a-merge-does",
    "A conflict fails the merge with a `ConflictError`. Its `unmerged` has every conflict"
  ),
  (given) =>
    Effect.gen(function* () {
      const { head, people, expectFailure, expectEqual, store } = given
      const { name, theirs } = yield* branched(given)
      yield* theirs.update("x", { a: 5, b: 5 })
      yield* theirs.update("y", { a: 6 })
      yield* theirs.insert({ a: 7 }, { id: "z" })
      yield* people.update("x", { a: 3, b: 3 })
      yield* people.delete("y")
      const before = yield* head
      const error: ConflictError = yield* expectFailure("a merge", store.merge(name), "ConflictError")
      const told = (error.unmerged ?? []).map(({ conflicts, id, kind }) => [
        id,
        kind,
        conflicts.map(({ path }) => path)
      ])
      yield* expectEqual("every conflict", told, [
        ["x", "changed", [["a"], ["b"]]],
        ["y", "deleted", []]
      ])
      const dry = yield* store.merge(name, { dryRun: true })
      yield* expectEqual("a dry run", dry.conflicts.length, 2)
      yield* expectEqual("nothing was written", yield* head, before)
      yield* store.merge(name, { onConflict: ({ id }) => (id === "x" ? "ours" : "theirs") })
      yield* expectEqual("ours", shape(yield* read(people, "x")), wanted(3, { a: 3, b: 3 }))
      yield* expectEqual("theirs", shape(yield* read(people, "y")), wanted(2, { a: 6 }))
      yield* expectEqual("the documents", yield* people.list(), ["x", "y", "z"])
    })
)

/** A merge that loses a race is planned again on what won it. */
export const branchRaces = law(
  "branchRaces",
  branching(
    "a merge keeps what others write meanwhile",
    "what-holds",
    "it is computed on the head of the branch, and again if the branch moves meanwhile."
  ),
  (given) =>
    Effect.gen(function* () {
      const { open, people, expectEqual } = given
      const { name, theirs } = yield* branched(given)
      yield* theirs.update("x", { b: 2 })
      yield* people.update("y", { a: 9 })
      const others = (yield* open()).collection("people")
      const racing = yield* open(
        {},
        betweenBuildAndCommit(2, (time) => others.update("x", { [`other${time}`]: time }))
      )
      const merged = yield* racing.merge(name)
      yield* expectEqual("the kind", merged.kind, "merge")
      yield* expectEqual(
        "the document",
        shape(yield* read(people, "x")),
        wanted(4, { a: 1, b: 2, other0: 0, other1: 1 })
      )
      yield* expectEqual("the other one", shape(yield* read(people, "y")), wanted(2, { a: 9 }))
      for (const id of ["x", "y"]) {
        yield* theirs.update(id, { a: 5 })
        yield* people.update(id, { a: 6 })
      }
      const asked: Array<string> = []
      yield* given.store.merge(name, {
        onConflict: (conflict) =>
          Effect.gen(function* () {
            const a = conflict.kind === "changed" ? conflict.ours?.["a"] : null
            asked.push(`${conflict.id}: ${a}`)
            if (conflict.id === "x" && a === 6) yield* Effect.orDie(people.update("x", { a: 7 }))
            return { a: `${a}!` }
          })
      })
      yield* expectEqual("onConflict is called again for what changed meanwhile", asked.sort(), [
        "x: 6",
        "x: 7",
        "y: 6"
      ])
      yield* expectEqual("the newest decision", (yield* read(people, "x"))?.["a"], "7!")
      yield* expectEqual("the only decision", (yield* read(people, "y"))?.["a"], "6!")
    })
)
