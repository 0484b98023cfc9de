import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { StoreService } from "../../store/StoreService.js"
import { nameOf } from "./StoreBranchLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { aDayLater } from "./StoreForeignCommit.js"
import { type LawContext, law, promiseOf, type WrapRemote } from "./StoreLaw.js"

const proposing = promiseOf("proposals")

/** A proposal to change one document. */
const proposed = ({ branch, people, store }: LawContext, id: string) =>
  Effect.gen(function* () {
    yield* people.insert({ n: 1 }, { id })
    const edit = (draft: Pick<StoreService, "collection">) => draft.collection("people").update(id, { n: 2 })
    return (yield* store.propose({ title: id, into: branch }, edit)).proposal
  })

/** Something happens once, after a commit of the branch is built and before it is made. */
const beforeCommit =
  (branch: string, happens: Effect.Effect<unknown, unknown>): WrapRemote =>
  (remote) => {
    let isDone = false
    return {
      ...remote,
      commitNext: (name, edit) =>
        remote.commitNext(name, (snapshot) =>
          Effect.tap(edit(snapshot), ({ commit }) => {
            if (isDone || name !== branch || Option.isNone(commit)) return Effect.void
            isDone = true
            return happens as Effect.Effect<unknown>
          })
        )
    }
  }

/** Whoever stops in the middle of an `accept` locks the proposal for as long as the `accept` might have taken. */
export const interruptedAccepts = law(
  "interruptedAccepts",
  proposing(
    "an interrupted accept holds the proposal until the deadline",
    "proposals",
    "after an interrupted `accept` it can be changed again when the store's `deadline` has passed."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, head, open, people, store } = given
      const proposal = yield* proposed(given, "x")
      const before = yield* head
      const stopped = (yield* open({}, beforeCommit(branch, Effect.interrupt))).proposal(proposal.id)
      const exit = yield* Effect.exit(stopped.accept())
      yield* expectEqual("the accept is interrupted", Exit.isInterrupted(exit), true)
      yield* expectEqual("nothing was merged", yield* head, before)
      const it = store.proposal(proposal.id)
      yield* expectEqual("it is open", (yield* it.get()).state, "open")
      const update = it.update((draft) => draft.collection("people").update("x", { m: 1 }))
      // The state of a pull request is the host's, and no accept marks it.
      if (proposal.number === undefined) {
        yield* expectFailure("an update meanwhile", update, "ConflictError")
        yield* expectFailure("a rebase meanwhile", it.rebase(), "ConflictError")
        yield* expectFailure("close meanwhile", it.close(), "ConflictError")
        yield* expectFailure("accept meanwhile", it.accept(), "ConflictError")
        const failure = new RemoteError({
          operation: "law",
          reason: "Denied",
          message: "the law's own failure"
        })
        const failing = yield* open({}, beforeCommit(branch, Effect.fail(failure)))
        yield* expectFailure(
          "an accept that fails",
          aDayLater(failing.proposal(proposal.id).accept()),
          "RemoteError"
        )
      }
      const { proposal: newer } = yield* aDayLater(update)
      yield* expectEqual("it is open afterwards", newer.state, "open")
      yield* aDayLater(it.accept({ commitSha: newer.commitSha }))
      yield* expectEqual("what is merged", shape(yield* read(people, "x")), wanted(3, { n: 2, m: 1 }))
      yield* store.deleteBranch(proposal.branch)
    })
)

/** Of operations on one proposal that race, one ends it. */
export const proposalRaces = law(
  "proposalRaces",
  proposing(
    "operations on one proposal that race know of each other",
    "proposals",
    "only one of an `accept` and a `close` succeeds, and an accepted or closed proposal takes no more edits."
  ),
  (given) =>
    Effect.gen(function* () {
      const { expectEqual, expectFailure, head, open, people, store } = given
      const first = yield* proposed(given, "a")
      // GitHub may take both, and closes pull requests by requests of their own.
      if (first.number === undefined) {
        const racing = (one: typeof first, happens: Effect.Effect<unknown, unknown>) =>
          Effect.map(open({}, beforeCommit(one.branch, happens)), (other) => other.proposal(one.id))
        const before = yield* head
        const accepting = yield* racing(first, store.proposal(first.id).close())
        yield* expectFailure("accept while it is closed", accepting.accept(), "ConflictError")
        yield* expectEqual("nothing was merged", yield* head, before)
        yield* expectEqual("it is closed", (yield* accepting.get()).state, "closed")
        const second = yield* proposed(given, "b")
        const closing = yield* racing(second, store.proposal(second.id).accept())
        yield* expectFailure("close while it is accepted", closing.close(), "ConflictError")
        yield* expectEqual("it is accepted", (yield* closing.get()).state, "accepted")
        const third = yield* proposed(given, "c")
        const edit = store
          .proposal(third.id)
          .update((draft) => draft.collection("people").update("c", { later: 1 }))
        const at = yield* head
        const unseen = yield* racing(third, edit)
        yield* expectFailure("accept while it is edited", unseen.accept(), "ConflictError")
        yield* expectEqual("nothing was merged", yield* head, at)
        yield* expectEqual("it stays open", (yield* unseen.get()).state, "open")
        yield* people.update("c", { own: 1 })
        const rebasing = yield* racing(third, store.proposal(third.id).close())
        yield* expectFailure("rebase while it is closed", rebasing.rebase(), "ConflictError")
        for (const one of [second, third]) yield* store.deleteBranch(one.branch)
      }
      yield* store.deleteBranch(first.branch)
    })
)

/** A proposal is for one branch, which may go and come back. */
export const proposalTargets = law(
  "proposalTargets",
  proposing(
    "a proposal is for its target, and stays what it is without it",
    "what-fails",
    "no such proposal, its branch or its target is gone | `NotFoundError`"
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, head, people, remote, root, store } = given
      yield* people.insert({ n: 1 }, { id: "x" })
      const name = nameOf(root, "target")
      const from = (yield* store.createBranch(name)) as Oid
      const edit = (draft: Pick<StoreService, "collection">) =>
        draft.collection("people").update("x", { n: 2 })
      const target = store.onBranch(name)
      const { proposal } = yield* target.propose({ title: "one" }, edit)
      yield* expectEqual("the default target", proposal.into, name)
      const it = store.proposal(proposal.id)
      for (const [what, call] of [
        ["propose", store.propose({ title: "two", into: branch }, edit)],
        ["accept", it.accept()],
        ["close", it.close()],
        ["rebase", it.rebase()]
      ] as const) {
        const inside = store.withTransaction(Effect.asVoid(call as Effect.Effect<unknown, unknown>))
        yield* expectFailure(`${what} in a transaction`, inside, "ValidationError")
      }
      const isHosted = proposal.number !== undefined
      const before = yield* head
      yield* store.deleteBranch(name)
      yield* expectEqual("without its target", (yield* it.get()).state, isHosted ? "closed" : "open")
      yield* expectFailure("to accept it", it.accept(), isHosted ? "ConflictError" : "NotFoundError")
      yield* store.createBranch(name, { from })
      if (!isHosted) {
        const merged = yield* it.accept({ message: "Accepted at last" })
        yield* expectEqual("its target is back", merged.kind, "merge")
        yield* expectEqual(
          "what is merged",
          shape(yield* read(target.collection("people"), "x")),
          wanted(2, { n: 2 })
        )
        const commit = Option.getOrThrow(merged.commitSha) as Oid
        const { message } = Option.getOrThrow(yield* remote.commitInfo(commit))
        const trailers = `Chainstore-Proposal: ${proposal.id}\nChainstore-Proposal-State: accepted`
        const paragraphs = message.trimEnd().split("\n\n")
        yield* expectEqual("the merge's message", paragraphs[0], "Accepted at last")
        yield* expectEqual("the trailers of the merge", paragraphs.at(-1), trailers)
        yield* store.deleteBranch(name)
        yield* expectEqual("accepted, without its target", (yield* it.get()).state, "accepted")
      }
      yield* expectEqual("another branch", yield* head, before)
      yield* store.deleteBranch(proposal.branch)
      if (!isHosted) {
        for (const call of [it.get(), it.accept(), it.close(), it.update(edit)])
          yield* expectFailure("its branch is gone", call, "NotFoundError")
      }
    })
)
