import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { law, promiseOf } from "./StoreLaw.js"

const proposing = promiseOf("proposals")

const mine = { _tag: "Mine" as const }

/** What is proposed is seen by nobody until it is accepted, and then all of it. */
export const proposals = law(
  "proposals",
  proposing(
    "a proposal is accepted as a whole, or not at all",
    "proposals",
    "Edits that fail, are interrupted or write nothing leave no proposal. `update` adds all of its edits or none."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, head, people, expectFailure, remote, expectEqual, store } = given
      yield* people.insert({ a: 1, b: 1 }, { id: "x" })
      const before = yield* head
      const listed = Effect.map(store.proposals({ state: "all" }), (all) => all.map(({ id }) => id))
      const others = yield* listed
      yield* expectFailure(
        "edits that fail",
        store.propose({ title: "none", into: branch }, (draft) =>
          Effect.zipRight(draft.collection("people").update("x", { a: 9 }), Effect.fail(mine))
        ),
        "Mine"
      )
      yield* expectEqual("what failed", yield* listed, others)
      const { proposal, result } = yield* store.propose({ title: "two", into: branch }, (draft) =>
        Effect.gen(function* () {
          const drafted = draft.collection("people")
          yield* drafted.update("x", { a: 2 })
          yield* drafted.insert({ a: 3 }, { id: "y" })
          return yield* drafted.list()
        })
      )
      yield* expectEqual("what the edits read", result, ["x", "y"])
      yield* expectEqual("nothing was written", yield* head, before)
      const it = store.proposal(proposal.id)
      yield* expectFailure(
        "an update that fails",
        it.update((draft) => Effect.zipRight(draft.collection("people").delete("y"), Effect.fail(mine))),
        "Mine"
      )
      const shown = yield* Stream.runCollect(it.compare())
      yield* expectEqual(
        "what it proposes",
        Array.from(shown, ({ id, kind }) => [id, kind]),
        [
          ["x", "changed"],
          ["y", "added"]
        ]
      )
      yield* people.update("x", { b: 2 })
      const merged = yield* it.accept()
      yield* expectEqual(
        "the commit",
        Option.getOrUndefined(merged.commitSha),
        Option.getOrThrow(yield* remote.head(branch)).commit
      )
      yield* expectEqual("both changes", shape(yield* read(people, "x")), wanted(3, { a: 2, b: 2 }))
      yield* expectEqual("the documents", yield* people.list(), ["x", "y"])
      yield* expectFailure("another time", it.accept(), "ConflictError")
      yield* store.deleteBranch(proposal.branch)
    })
)
