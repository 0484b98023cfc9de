import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Option, Stream } from "effect"
import type { ConflictError } from "../../../src/domain/errors/StoreError.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { connect, directory, hosted, remotes } from "../core/Remotes.js"
import { expectFailure } from "./StorePair.js"

const on = (remote: GitRemoteService, options: StoreOptions = {}) =>
  Effect.provideService(Store.make(options), GitRemote, remote)

const wire = Effect.gen(function* () {
  const backend = yield* HttpBackend.make
  return yield* GitHost.scoped({ url: backend.create("proposals.git") })
})

const everywhere = [
  ...[...remotes, ...hosted].map(([name, layer]) => [name, connect(layer)] as const),
  ["Git's own protocol", wire] as const
]

const indexes = { notes: ["n"] }

/** Two documents with an index, and a proposal that changes one, adds one and deletes one. */
const proposed = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const store = yield* on(remote, { indexes })
    yield* store.batch({}, (batch) =>
      Effect.zipRight(
        batch.put("notes", "a", { n: 1, title: "A" }),
        batch.put("notes", "b", { n: 2, title: "B" })
      )
    )
    const { proposal, result } = yield* store.propose(
      { title: "Autumn prices", body: "Two changes.\n\nSigned-off-by: Ada", labels: ["prices"] },
      (draft) =>
        Effect.gen(function* () {
          const notes = draft.collection("notes")
          yield* notes.update("a", { n: 5 })
          yield* draft.batch({}, (batch) =>
            Effect.zipRight(batch.put("notes", "c", { n: 3 }), batch.delete("notes", "b"))
          )
          return (yield* notes.list()).length
        })
    )
    return { remote, store, proposal, result, handle: store.proposal(proposal.id) }
  })

const main = (remote: GitRemoteService, branch = "main") =>
  Effect.map(remote.head(branch), (head) => Option.getOrThrow(head).commit as string)

describe.each(everywhere)("proposals on %s", (_, connected) => {
  it.scopedLive("name the branch beside which theirs cannot be", () =>
    Effect.gen(function* () {
      const store = yield* on(yield* connected)
      yield* store.collection("notes").insert({ n: 1 }, { id: "a" })
      yield* store.createBranch("chainstore-proposal")
      const proposing = store.propose({ title: "one" }, (draft) =>
        draft.collection("notes").insert({ n: 2 }, { id: "b" })
      )
      const working = store.transaction({ branch: "chainstore-proposal/work" }, (tx) =>
        tx.collection("notes").delete("a")
      )
      for (const refused of [proposing, working] as ReadonlyArray<Effect.Effect<unknown, Error>>) {
        const { message } = yield* expectFailure<ConflictError>(refused, "ConflictError")
        assert.match(message, /beside the branch chainstore-proposal$/)
      }
      yield* store.deleteBranch("chainstore-proposal")
      yield* proposing
      yield* working
    })
  )

  it.scopedLive(
    "are made, listed, looked at and accepted as one merge commit",
    () =>
      Effect.gen(function* () {
        const { handle, proposal, remote, result, store } = yield* proposed(yield* connected)
        const before = yield* main(remote)
        assert.strictEqual(result, 2)
        assert.deepInclude(proposal, {
          branch: `chainstore-proposal/${proposal.id}`,
          into: "main",
          title: "Autumn prices",
          body: "Two changes.\n\nSigned-off-by: Ada",
          labels: ["prices"],
          state: "open"
        })
        // Nothing of it is seen elsewhere.
        assert.deepStrictEqual(yield* store.collection("notes").list(), ["a", "b"])
        assert.deepStrictEqual(yield* handle.get(), proposal)
        assert.deepStrictEqual(yield* store.proposals(), [proposal])
        assert.deepStrictEqual(yield* store.proposals({ state: "accepted" }), [])
        const changed = yield* Stream.runCollect(handle.compare())
        assert.deepStrictEqual(
          Chunk.toReadonlyArray(changed).map(({ id, kind }) => `${id} ${kind}`),
          ["a changed", "b removed", "c added"]
        )
        yield* store.collection("notes").update("a", { title: "changed meanwhile" })
        const shown = yield* handle.preview()
        assert.deepStrictEqual([shown.kind, shown.conflicts], ["merge", []])
        const merged = yield* handle.accept()
        assert.strictEqual(merged.kind, "merge")
        const at = Option.getOrThrow(merged.commitSha)
        assert.strictEqual(yield* main(remote), at)
        const info = Option.getOrThrow(yield* remote.commitInfo(at as never))
        assert.strictEqual(info.parents.length, 2)
        assert.strictEqual(info.parents[1], proposal.commitSha)
        assert.notStrictEqual(before, at)
        assert.match(info.message, /^accept: Autumn prices.*\n\nChainstore-Proposal: /)
        const notes = store.collection("notes")
        assert.deepInclude(Option.getOrThrow(yield* notes.get("a")), { n: 5, title: "changed meanwhile" })
        assert.deepStrictEqual(yield* notes.list(), ["a", "c"])
        assert.deepStrictEqual(
          (yield* notes.findBy("n", 5)).map(({ _id }) => _id),
          ["a"]
        )
        assert.strictEqual((yield* handle.get()).state, "accepted")
        yield* store.collection("notes").update("a", { title: "changed later" })
        assert.deepStrictEqual(
          Chunk.toReadonlyArray(yield* Stream.runCollect(handle.compare())).map(
            ({ id, kind }) => `${id} ${kind}`
          ),
          ["a changed", "b removed", "c added"],
          "what it has changed"
        )
        assert.deepStrictEqual(yield* store.proposals(), [])
        assert.deepStrictEqual(
          (yield* store.proposals({ state: "accepted" })).map(({ id }) => id),
          [proposal.id]
        )
        for (const write of [handle.accept(), handle.close(), handle.rebase()]) {
          const over = yield* expectFailure<ConflictError>(write, "ConflictError")
          assert.match(over.message, /accepted already/)
        }
      }),
    60_000
  )

  it.scopedLive(
    "take more edits, are rebased where they are in conflict, and are closed",
    () =>
      Effect.gen(function* () {
        const { handle, proposal, remote, store } = yield* proposed(yield* connected)
        const { commitSha } = proposal
        const updated = yield* handle.update((draft) =>
          draft.collection("notes").insert({ n: 9 }, { id: "d" })
        )
        assert.strictEqual(updated.result, "d")
        assert.strictEqual(updated.proposal.title, "Autumn prices")
        assert.notStrictEqual(updated.proposal.commitSha, commitSha)
        const late = yield* expectFailure<ConflictError>(handle.accept({ commitSha }), "ConflictError")
        assert.match(late.message, /it has changed since/)
        yield* expectFailure(
          handle.update((draft) =>
            Effect.zipRight(draft.collection("notes").delete("d"), Effect.fail({ _tag: "Mine" as const }))
          ),
          "Mine"
        )
        // Both change one field.
        yield* store.collection("notes").update("a", { n: 7 })
        const target = yield* main(remote)
        assert.lengthOf((yield* handle.preview()).conflicts, 1)
        const conflict = yield* expectFailure<ConflictError>(handle.accept(), "ConflictError")
        assert.deepStrictEqual(
          conflict.unmerged?.map(({ conflicts }) => conflicts.map(({ path }) => path.join("."))),
          [["n"]]
        )
        assert.strictEqual(yield* main(remote), target)
        assert.strictEqual((yield* handle.rebase({ onConflict: "ours" })).kind, "merge")
        assert.deepStrictEqual((yield* handle.preview()).conflicts, [])
        assert.strictEqual((yield* handle.get()).state, "open")
        const closed = yield* handle.close()
        assert.strictEqual(closed.state, "closed")
        assert.strictEqual((yield* handle.get()).state, "closed")
        assert.deepStrictEqual(yield* store.proposals(), [])
        assert.deepStrictEqual(
          (yield* store.proposals({ state: "all" })).map(({ state, title }) => [state, title]),
          [["closed", "Autumn prices"]]
        )
        yield* expectFailure(handle.accept(), "ConflictError")
        assert.strictEqual(yield* main(remote), target)
        const draft = store.onBranch(proposal.branch).collection("notes")
        assert.deepInclude(Option.getOrThrow(yield* draft.get("a")), { n: 5 })
        assert.isTrue(Option.isSome(yield* draft.get("d")))
      }),
    60_000
  )

  it.scopedLive(
    "leave nothing where their edits fail, write nothing or are interrupted",
    () =>
      Effect.gen(function* () {
        const remote = yield* connected
        const store = yield* on(remote)
        const empty = store.propose({ title: "x" }, () => Effect.void)
        yield* expectFailure(empty, "NotFoundError")
        yield* store.collection("notes").insert({ n: 1 }, { id: "a" })
        yield* expectFailure(empty, "ValidationError")
        yield* expectFailure(
          store.propose({ title: "x" }, (draft) =>
            Effect.zipRight(
              draft.collection("notes").update("a", { n: 2 }),
              Effect.fail({ _tag: "Mine" as const })
            )
          ),
          "Mine"
        )
        const reached = yield* Deferred.make<void>()
        const running = yield* Effect.fork(
          store.propose({ title: "x" }, (draft) =>
            draft
              .collection("notes")
              .update("a", { n: 3 })
              .pipe(Effect.zipRight(Deferred.succeed(reached, undefined)), Effect.zipRight(Effect.never))
          )
        )
        yield* Deferred.await(reached)
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual(
          (yield* store.branches).map(({ name }) => name),
          ["main"]
        )
        assert.deepStrictEqual(yield* store.proposals({ state: "all" }), [])
        for (const [options, tag] of [
          [{ title: "" }, "ValidationError"],
          [{ title: "two\nlines" }, "ValidationError"],
          [{ title: "x", labels: ["a\nb"] }, "ValidationError"],
          [{ title: "x", into: "nowhere" }, "NotFoundError"],
          [{ title: "x", titel: "y" }, "ValidationError"]
        ] as const) {
          yield* expectFailure(
            store.propose(options as never, (draft) => draft.collection("notes").update("a", { n: 2 })),
            tag
          )
        }
        yield* expectFailure(store.proposal("01J").get(), "NotFoundError")
        yield* expectFailure(store.proposal("a..b").get(), "ValidationError")
        yield* expectFailure(
          store.withTransaction(store.propose({ title: "x" }, () => Effect.void)),
          "ValidationError"
        )
      }),
    60_000
  )
})

describe("proposals", () => {
  it.scopedLive("are stored in trailers that stock Git reads, in a sound repository", () =>
    Effect.gen(function* () {
      const at = yield* directory
      const remote = yield* connect(LocalGit.layer({ directory: at, repo: "me/data" } as never))
      const { handle, proposal, store } = yield* proposed(remote)
      const bare = `${at}/${store.repository}.git`
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["--git-dir", bare, ...args], { encoding: "utf8" })
      const trailers = (commit: string) =>
        git("log", "-1", "--format=%(trailers:only=true,unfold=true)", commit).trim().split("\n")
      assert.deepStrictEqual(
        trailers(proposal.branch).filter((line) => !line.includes("-Author")),
        [
          `Chainstore-Proposal: ${proposal.id}`,
          "Chainstore-Proposal-Title: Autumn prices",
          "Chainstore-Proposal-Into: main",
          "Chainstore-Proposal-Label: prices",
          "Chainstore-Proposal-State: open"
        ]
      )
      yield* handle.accept()
      assert.deepStrictEqual(trailers("main"), [
        `Chainstore-Proposal: ${proposal.id}`,
        "Chainstore-Proposal-State: accepted"
      ])
      assert.include(git("log", "--merges", "--format=%s", "main"), "accept: Autumn prices")
      git("fsck", "--strict")
    })
  )

  it.scopedLive("without a branch, or without a common history with the target, fail with typed errors", () =>
    Effect.gen(function* () {
      const [, layer] = remotes[0]!
      const { handle, proposal, remote, store } = yield* proposed(yield* connect(layer))
      // The target is written anew.
      const other = yield* remote.commit("other", Option.none(), {
        message: "another history",
        changes: [{ _tag: "Put", path: "x", content: new Uint8Array() }]
      })
      yield* remote.deleteBranch("main")
      yield* remote.createBranch("main", other.commit)
      const unrelated = yield* expectFailure<Error>(handle.accept(), "ValidationError")
      assert.match(unrelated.message, /unrelated/)
      assert.strictEqual((yield* handle.get()).commitSha, proposal.commitSha)
      yield* remote.deleteBranch("main")
      yield* expectFailure(handle.accept(), "NotFoundError")
      assert.strictEqual((yield* handle.get()).state, "open")
      yield* store.deleteBranch(proposal.branch)
      yield* expectFailure(handle.accept(), "NotFoundError")
    })
  )
})
