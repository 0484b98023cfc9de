import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ConflictError, type WriteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Merged, MergeOptions } from "../../Branches.js"
import type { Proposal } from "../../Proposals.js"
import type { PullRequest, PullRequests } from "../../remote/GitRemote.js"
import { backOff } from "../commit/Backoff.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { type MergeHooks, unmergedError } from "../merge/MergeBranches.js"
import { makeResolutions } from "../merge/MergeResolutions.js"
import { branchGone, proposalMoved } from "./ProposalErrors.js"

interface HostMergeDependencies {
  readonly core: StoreCore
  readonly requests: PullRequests
  readonly merge: (
    from: string,
    options: MergeOptions,
    checks: MergeHooks
  ) => Effect.Effect<Merged, WriteError>
  /** Merges the target into the proposal. */
  readonly rebased: (
    found: Proposal,
    options: MergeOptions,
    checks: MergeHooks
  ) => Effect.Effect<Merged, WriteError>
  /** The head of the proposal's branch. */
  readonly headOf: (operation: string) => Effect.Effect<Oid, WriteError>
}

/**
 * Merges a pull request through the host. The target is merged into the proposal first, so that the host's merge has no
 * conflicts.
 */
export const mergeByHost = (
  { core, headOf, merge, rebased, requests }: HostMergeDependencies,
  found: Proposal,
  options: MergeOptions,
  message: string,
  expected: string
): Effect.Effect<Merged, WriteError> =>
  Effect.gen(function* () {
    const operation = "Proposal.accept"
    const { branch, id } = found
    const request = yield* requests.find(branch)
    if (Option.isNone(request)) return yield* branchGone(operation, branch)
    let head = expected
    const resolutions = makeResolutions(options.onConflict)
    let decided: Merged["conflicts"] = []
    for (let attempt = 0; ; attempt++) {
      const shown = yield* merge(
        head,
        { ...options, into: found.into, fastForward: false, dryRun: true },
        { resolutions }
      )
      if (shown.conflicts.length > 0) return yield* unmergedError(shown.conflicts)
      const { commitSha, conflicts } = yield* rebased(found, options, { resolutions, isSwapped: true })
      // In the next attempt these conflicts are already resolved.
      decided = [...decided, ...conflicts]
      const at = Option.getOrElse(commitSha, () => head)
      const before = at === head ? head : yield* firstParent(core, at as Oid)
      if (before !== head) return yield* proposalMoved(operation, found, head, before)
      const done = yield* mergePullRequest(requests, request.value, at as Oid, message)
      if (Option.isSome(done)) return { ...shown, kind: "merge", commitSha: done, conflicts: decided }
      head = yield* headOf(operation)
      // The merge of the target is this process's own; any other commit on the branch has not been reviewed.
      if (head !== at) return yield* proposalMoved(operation, found, at, head)
      if (attempt >= core.options.batchRetries) {
        return yield* new ConflictError({
          operation,
          message: `the host refused to merge the proposal ${id} ${attempt + 1} times`,
          hint: "nothing was merged: try again",
          conflicts: []
        })
      }
      yield* backOff(attempt, 100)
    }
  })

const firstParent = (core: StoreCore, commit: Oid) =>
  Effect.map(core.remote.commitInfo(commit), (info) =>
    Option.getOrElse(
      Option.flatMapNullable(info, ({ parents }) => parents[0]),
      () => commit
    )
  )

/** Merges the pull request; none if the host reports another head. */
const mergePullRequest = (requests: PullRequests, request: PullRequest, at: Oid, message: string) =>
  requests.merge(request, at, message).pipe(
    Effect.asSome,
    Effect.catchTag("RefMoved", () => Effect.succeedNone)
  )
