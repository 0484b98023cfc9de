import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { type ReadError, RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { GitRemoteService, NewCommit } from "../../remote/GitRemote.js"
import type { StoreService } from "../../StoreService.js"
import { runBody } from "../calls/Guard.js"
import * as Core from "../commit/MakeCore.js"
import type { StoreCore } from "../commit/StoreCore.js"

/** The failure of writes inside a preview; only the preview sees it. */
const stopped = new RemoteError({
  operation: "Store.preview",
  reason: "Unsupported",
  message: "a preview writes nothing",
  hint: "make one write inside, and do not catch its failure"
})

const refused = () =>
  new ValidationError({
    operation: "Store.preview",
    message: "a preview shows one commit: it creates no branches",
    hint: "preview a write, a batch, a revert or a reindex"
  })

/** A remote that reports commits instead of making them. */
const showing = (remote: GitRemoteService, show: (commit: NewCommit) => void): GitRemoteService => ({
  ...remote,
  commit: (_branch, _expected, commit) =>
    Effect.suspend(() => {
      show(commit)
      return Effect.fail(stopped)
    }),
  commitNext: (branch, build) =>
    Effect.gen(function* () {
      const snapshot = remote.snapshot(branch)
      // No commit follows that would check assumed or cached reads, so the head is read.
      yield* snapshot.head
      const { commit, result } = yield* build(snapshot)
      if (Option.isNone(commit)) return { committed: Option.none(), result }
      show(commit.value)
      return yield* stopped
    }),
  createBranch: refused,
  deleteBranch: () => Effect.void,
  advance: refused
})

/** Previews over a core; `open` makes a store of a core. */
export const makePreview =
  (core: StoreCore, open: (core: StoreCore) => StoreService): StoreService["preview"] =>
  <A, E, R>(body: (store: StoreService) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      let shown = Option.none<NewCommit>()
      const remote = showing(core.remote, (commit) => {
        shown = Option.orElse(shown, () => Option.some(commit))
      })
      const { options, transaction } = core
      const made = yield* Core.makeCore(remote, { ...options, cache: options.viewCache() })
      // The transaction depends on what the preview reads.
      const at = transaction === undefined ? made : made.onFork(core.branch, transaction.readSet)
      const exit = yield* Effect.exit(runBody("Store.preview", body, open(at)))
      if (Option.isSome(shown)) return shown
      return yield* Effect.as(exit as Exit.Exit<A, E | ReadError>, Option.none<NewCommit>())
    })
