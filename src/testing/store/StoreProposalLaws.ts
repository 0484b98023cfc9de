import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConflictError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Proposal } from "../../store/Proposals.js"
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
      const nothing = store.propose({ title: "none", into: branch }, (draft) =>
        draft.collection("people").get("x")
      )
      yield* expectFailure("edits that write nothing", nothing, "ValidationError")
      yield* expectEqual("what wrote nothing", yield* listed, others)
      const stopped = store.propose({ title: "none", into: branch }, (draft) =>
        Effect.zipRight(draft.collection("people").update("x", { a: 9 }), Effect.interrupt)
      )
      yield* expectEqual("edits that are interrupted", Exit.isInterrupted(yield* Effect.exit(stopped)), true)
      yield* expectEqual("what was interrupted", yield* listed, others)
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

/** What of a proposal does not change when it is accepted or closed. */
const textOf = ({ author, body, branch, id, into, labels, title }: Proposal) => ({
  author,
  body,
  branch,
  id,
  into,
  labels,
  title
})

const reviewed = "accept({ commitSha }) // fails if it has moved since; `it.close()` rejects it"

/** A proposal is what was proposed, in each of its states, and is listed by its state. */
export const proposalStates = law(
  "proposalStates",
  proposing(
    "a proposal says what was proposed, before and after it is accepted or closed",
    "proposals",
    reviewed
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, head, open, people, remote, store } = given
      yield* people.insert({ a: 1 }, { id: "x" })
      const headOf = (name: string) =>
        Effect.map(remote.head(name), (found) => Option.getOrNull(found)?.commit ?? null)
      const body = "Why this, and why now.\n\n- one thing\n- another\n\nThat is all."
      const propose = (of: typeof store, options: { title: string; body?: string; labels?: Array<string> }) =>
        of.propose({ into: branch, ...options }, (draft) =>
          draft.collection("people").insert({ of: options.title }, { id: options.title })
        )
      const labels = ["spring", "all prices", "review: soon"]
      const { proposal: first } = yield* propose(store, { title: "first", body, labels })
      const signed = yield* Effect.either(open({ author: { name: "Ada", email: "ada@example.org" } }))
      const { proposal: second } = yield* propose(
        Either.getOrElse(signed, () => store),
        { title: "second" }
      )
      const { proposal: third } = yield* propose(store, { title: "third", body: "One paragraph." })
      yield* expectEqual(
        "what was proposed",
        [first, second, third].map((one) => [one.into, one.title, one.body, one.labels, one.state]),
        [
          [branch, "first", body, labels, "open"],
          [branch, "second", "", [], "open"],
          [branch, "third", "One paragraph.", [], "open"]
        ]
      )
      for (const one of [first, second, third]) {
        yield* expectEqual("its branch", one.branch, `chainstore-proposal/${one.id}`)
        yield* expectEqual("its commit", one.commitSha, yield* headOf(one.branch))
        yield* expectEqual("get", yield* store.proposal(one.id).get(), one)
        if (one.number !== undefined) continue
        yield* expectEqual("its author has an address", /^.+ <.+>$/.test(one.author), true)
        const { message } = Option.getOrThrow(yield* remote.commitInfo(one.commitSha as Oid))
        const trailers = [
          ["", one.id],
          ["-Title", one.title],
          ["-Into", branch],
          ...one.labels.map((label) => ["-Label", label]),
          ["-State", "open"]
        ].map(([token, value]) => `Chainstore-Proposal${token}: ${value}`)
        const lines = message.trimEnd().split("\n\n").at(-1)!.split("\n")
        const isAuthor = (line: string) => line.startsWith("Chainstore-Proposal-Author: ")
        yield* expectEqual("its trailers", lines.filter((line) => !isAuthor(line)).sort(), trailers.sort())
      }
      if (Either.isRight(signed) && second.number === undefined)
        yield* expectEqual("its author", second.author, "Ada <ada@example.org>")
      const names = new Map([first, second, third].map(({ id, title }) => [id, title]))
      const listed = (state?: "open" | "accepted" | "closed" | "all") =>
        Effect.map(store.proposals(state === undefined ? undefined : { state }), (all) =>
          all.flatMap(({ id, title }) => (names.has(id) ? [title] : []))
        )
      yield* expectEqual("closed", (yield* store.proposal(third.id).close()).state, "closed")
      const it = store.proposal(first.id)
      const { proposal: newer } = yield* it.update((draft) =>
        draft.collection("people").update("x", { a: 2 })
      )
      yield* expectEqual("an update", textOf(newer), textOf(first))
      yield* expectEqual("its commit", newer.commitSha, yield* headOf(first.branch))
      const before = yield* head
      const unseen = it.accept({ commitSha: first.commitSha })
      yield* expectFailure("a commit that is not its newest", unseen, "ConflictError")
      yield* expectEqual("nothing was merged", yield* head, before)
      yield* expectEqual("it stays open", (yield* it.get()).state, "open")
      const differences = Effect.map(Stream.runCollect(it.compare()), (found) =>
        Array.from(found, ({ id, kind }) => [id, kind])
      )
      const changed = [
        ["first", "added"],
        ["x", "changed"]
      ]
      yield* expectEqual("what it changes", yield* differences, changed)
      const preview = yield* it.preview()
      yield* expectEqual(
        "a preview",
        preview.documents.map(({ id, kind }) => [id, kind]),
        changed
      )
      yield* expectEqual("it is the merge that accept would make", preview.kind, "merge")
      yield* expectEqual("a preview writes nothing", yield* head, before)
      const merged = yield* it.accept({ commitSha: newer.commitSha })
      yield* expectEqual("it is a merge", merged.kind, "merge")
      const accepted = yield* it.get()
      yield* expectEqual("accepted", [accepted.state, accepted.commitSha], ["accepted", newer.commitSha])
      yield* expectEqual("what was accepted", textOf(accepted), textOf(first))
      yield* expectEqual("what it has changed", yield* differences, changed)
      yield* people.update("x", { a: 3 })
      yield* expectEqual("what it has changed, later", yield* differences, changed)
      const closed = yield* store.proposal(third.id).get()
      yield* expectEqual("what was closed", [closed.state, textOf(closed)], ["closed", textOf(third)])
      yield* expectEqual("open ones, in order", yield* listed(), ["second"])
      yield* expectEqual("open", yield* listed("open"), ["second"])
      yield* expectEqual("accepted", yield* listed("accepted"), ["first"])
      yield* expectEqual("closed", yield* listed("closed"), ["third"])
      yield* expectEqual("all, oldest first", yield* listed("all"), ["first", "second", "third"])
      for (const { id } of [first, third]) {
        const done = store.proposal(id)
        const more = done.update((draft) => draft.collection("people").insert({}))
        yield* expectFailure("more edits", more, "ConflictError")
        yield* expectFailure("accept", done.accept(), "ConflictError")
        yield* expectFailure("rebase", done.rebase(), "ConflictError")
        yield* expectFailure("close", done.close(), "ConflictError")
      }
      const none = store.proposal("01ARZ3NDEKTSV4RRFFQ69G5FAV")
      yield* expectFailure("no such proposal", none.get(), "NotFoundError")
      yield* expectFailure("to accept none", none.accept(), "NotFoundError")
      for (const one of [first, second, third]) yield* store.deleteBranch(one.branch)
    })
)

/** A proposal that conflicts says so, and takes the target's changes when it is told to. */
export const proposalConflicts = law(
  "proposalConflicts",
  proposing(
    "a proposal that conflicts with its target is not accepted, until it is decided",
    "proposals",
    "conflicts that `onConflict` does not resolve fail with a `ConflictError` with all of them in `unmerged`."
  ),
  ({ branch, expectEqual, expectFailure, head, people, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ a: 1, b: 1 }, { id: "x" })
      yield* people.insert({ n: 1 }, { id: "y" })
      const { proposal } = yield* store.propose({ title: "both", into: branch }, (draft) =>
        Effect.zipRight(
          draft.collection("people").update("x", { a: 2 }),
          draft.collection("people").update("y", { n: 2 })
        )
      )
      yield* people.update("x", { a: 3, b: 3 })
      yield* people.update("y", { n: 4 })
      const before = yield* head
      const it = store.proposal(proposal.id)
      const rules = { people: { fields: { n: "counter" } } } as const
      const idsOf = (found: ReadonlyArray<{ readonly id?: string | undefined }>) => found.map(({ id }) => id)
      yield* expectEqual("a preview", idsOf((yield* it.preview()).conflicts), ["x", "y"])
      yield* expectEqual("with rules", idsOf((yield* it.preview({ rules })).conflicts), ["x"])
      const decided = yield* it.preview({ rules, onConflict: "ours" })
      yield* expectEqual("with a decision", idsOf(decided.conflicts), [])
      const error: ConflictError = yield* expectFailure("accept", it.accept(), "ConflictError")
      yield* expectEqual("its conflicts", idsOf(error.unmerged ?? []), ["x", "y"])
      yield* expectEqual("nothing was merged", yield* head, before)
      yield* expectEqual("it is open again", (yield* it.get()).state, "open")
      yield* expectFailure("a rebase", it.rebase({ rules }), "ConflictError")
      yield* it.rebase({ rules, onConflict: "ours" })
      yield* expectEqual("a rebase merges nothing into the target", yield* head, before)
      const draft = store.onBranch(proposal.branch).collection("people")
      yield* expectEqual("ours is the proposal", shape(yield* read(draft, "x")), wanted(3, { a: 2, b: 3 }))
      yield* expectEqual("what is merged", shape(yield* read(draft, "y")), wanted(3, { n: 5 }))
      yield* expectEqual("then it is clean", idsOf((yield* it.preview()).conflicts), [])
      yield* people.update("x", { a: 4 })
      yield* people.update("y", { n: 6 })
      yield* it.accept({ rules, onConflict: "ours" })
      yield* expectEqual("ours is the target", (yield* read(people, "x"))?.["a"], 4)
      yield* expectEqual("rules of accept", (yield* read(people, "y"))?.["n"], 7)
      yield* store.deleteBranch(proposal.branch)
    })
)
