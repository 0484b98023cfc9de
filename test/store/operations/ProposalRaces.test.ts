import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber } from "effect"
import { RemoteError } from "../../../src/domain/errors/StoreError.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import { intercepted } from "../../../src/store/remote/Interception.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { connect, remotes } from "../core/Remotes.js"

const on = (remote: GitRemoteService, options: StoreOptions = {}) =>
  Effect.provideService(Store.make(options), GitRemote, remote)

const proposed = (options: { readonly into?: string } = {}) =>
  Effect.gen(function* () {
    const remote = yield* connect(remotes[0]![1])
    const store = yield* on(remote)
    const notes = store.collection("notes")
    yield* notes.insert({ n: 1 }, { id: "a" })
    if (options.into !== undefined) yield* store.createBranch(options.into)
    const { proposal } = yield* store.propose({ title: "Title", ...options }, (draft) =>
      draft.collection("notes").insert({ n: 2 }, { id: "b" })
    )
    return { remote, store, notes, proposal, handle: store.proposal(proposal.id) }
  })

/** An update that ends only after something else was done. */
const updating = (
  { handle }: Effect.Effect.Success<ReturnType<typeof proposed>>,
  meanwhile: Effect.Effect<unknown, unknown>
) =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const running = yield* Effect.fork(
      Effect.either(
        handle.update((draft) =>
          Effect.zipRight(
            draft.collection("notes").insert({ n: 3 }, { id: "c" }),
            Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(go))
          )
        )
      )
    )
    yield* Deferred.await(begun)
    yield* meanwhile
    yield* Deferred.succeed(go, undefined)
    return yield* Fiber.join(running)
  })

describe("proposals", () => {
  it.scopedLive("are open again if the merge fails at its last step", () =>
    Effect.gen(function* () {
      const { proposal, remote } = yield* proposed()
      let faults = 0
      const faulty = intercepted(remote, {
        onRead: () => Effect.void,
        onWrite: (_, point, branch) =>
          point === "built" && branch === "main" && faults++ === 0
            ? new RemoteError({ operation: "test", message: "no", reason: "Denied" })
            : Effect.void
      })
      const handle = (yield* on(faulty)).proposal(proposal.id)
      assert.strictEqual((yield* Effect.flip(handle.accept()))._tag, "RemoteError")
      assert.strictEqual((yield* handle.get()).state, "open")
      yield* handle.update((draft) => draft.collection("notes").insert({ n: 3 }, { id: "c" }))
      yield* handle.accept()
      assert.strictEqual((yield* handle.get()).state, "accepted")
      assert.strictEqual(faults, 2)
    })
  )

  it.scopedLive("that are accepted while an update runs take no more edits, and stay accepted", () =>
    Effect.gen(function* () {
      const made = yield* proposed()
      const updated = yield* updating(made, made.handle.accept())
      assert.strictEqual((yield* made.handle.get()).state, "accepted")
      assert.isTrue(Either.isLeft(updated))
    })
  )

  it.scopedLive("that are closed while an update runs take no more edits", () =>
    Effect.gen(function* () {
      const made = yield* proposed()
      const updated = yield* updating(made, made.handle.close())
      assert.isTrue(Either.isLeft(updated))
    })
  )

  it.scopedLive("are either accepted or closed where both are asked for at once", () =>
    Effect.gen(function* () {
      const { handle } = yield* proposed()
      const [accepted, closed] = yield* Effect.all(
        [Effect.either(handle.accept()), Effect.either(handle.close())],
        { concurrency: "unbounded" }
      )
      const { state } = yield* handle.get()
      assert.deepStrictEqual(
        [Either.isRight(accepted), Either.isRight(closed)],
        [state === "accepted", state === "closed"]
      )
    })
  )

  it.scopedLive(
    "are still there after a rebase onto a target with many new commits",
    () =>
      Effect.gen(function* () {
        const { handle, notes, proposal, store } = yield* proposed()
        for (let n = 0; n < 1_001; n++) yield* notes.update("a", { n: n + 10 })
        yield* handle.rebase()
        assert.deepStrictEqual(
          (yield* store.proposals()).map(({ id }) => id),
          [proposal.id]
        )
        assert.strictEqual((yield* handle.get()).state, "open")
      }),
    60_000
  )

  it.scopedLive("that were accepted stay so when the branch that they were made for is deleted", () =>
    Effect.gen(function* () {
      const { handle, store } = yield* proposed({ into: "next" })
      yield* handle.accept()
      yield* store.merge("next")
      yield* store.deleteBranch("next")
      assert.deepStrictEqual(yield* store.proposals(), [])
      assert.strictEqual((yield* handle.get()).state, "accepted")
    })
  )
})
