import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import { branchRef } from "../../../../git/Names.js"
import type { GitRemoteService, Head } from "../../GitRemote.js"
import type { CallFailure } from "../client/Client.js"
import type { RemoteOperation, WriteCheck } from "../client/RemoteOperation.js"
import { whileReplicaLags } from "../client/Retry.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { HeadLookup } from "../heads/HeadLookup.js"
import type { ObjectCache } from "../objects/ObjectCache.js"
import type { BranchCaches } from "../reads/BranchCaches.js"
import type { SendCommit } from "./CommitCarrier.js"
import type { DeriveTrees } from "./DerivedTrees.js"
import type { LostRaces } from "./LostRaces.js"

interface Dependencies {
  readonly cache: ObjectCache
  readonly branchHeads: BranchHeads
  readonly headLookup: HeadLookup
  readonly branchCaches: BranchCaches
  readonly lostRaces: LostRaces
  readonly sendCommit: SendCommit
  readonly deriveTrees: DeriveTrees
  readonly asOperation: RemoteOperation
  readonly checkWrite: WriteCheck
}

/** The port's `commit`: one commit on an expected head, which updates the caches of the branch. */
export const makeCommitOnHead = ({
  asOperation,
  branchCaches,
  branchHeads,
  cache,
  checkWrite,
  deriveTrees,
  headLookup,
  lostRaces,
  sendCommit
}: Dependencies): GitRemoteService["commit"] => {
  /** Looks up the head after a lost race. Replicas may still show the expected head. */
  const withActualHead = (branch: string, lost: RefMoved): Effect.Effect<RefMoved, CallFailure> =>
    Effect.gen(function* () {
      const expected = Option.getOrUndefined(lost.expected)
      branchHeads.forget(branch)
      const head = yield* headLookup.currentHead(branch).pipe(
        Effect.flatMap((found) =>
          expected !== undefined && Option.isSome(found) && found.value.commit === expected
            ? Effect.fail("stale" as const)
            : Effect.succeed(found)
        ),
        Effect.retry({ schedule: whileReplicaLags, while: (error) => error === "stale" }),
        Effect.catchAll((error) =>
          error === "stale" ? Effect.succeed(Option.none<Head>()) : Effect.fail(error)
        )
      )
      yield* lostRaces.record(branch, head)
      return new RefMoved({ ...lost, actual: Option.map(head, ({ commit }) => commit) })
    })

  return (branch, expected, commit) =>
    checkWrite("commit", branch, ...commit.changes.map(({ path }) => path)).pipe(
      Effect.zipRight(
        Effect.flatMap(branchHeads.now, (begun) => {
          // The caller may reuse its buffers once the effect has started.
          const changes = commit.changes.map((change) =>
            change._tag === "Put" ? { ...change, content: change.content.slice() } : change
          )
          const context = { operation: "GitRemote.commit" }
          return Effect.tap(sendCommit(context, branch, expected, { ...commit, changes }), (created) => {
            for (const change of changes) {
              const oid = created.blobs.get(change.path)
              if (change._tag === "Put" && oid !== undefined) cache.putBlob(oid, change.content)
            }
            deriveTrees(Option.getOrUndefined(expected), changes, created)
            return branchCaches.recordCommit(branch, expected, changes, created, begun)
          })
        })
      ),
      branchCaches.invalidateOnFailure(branch),
      Effect.catchTag("RefMoved", (lost) => Effect.flatMap(withActualHead(branch, lost), Effect.fail)),
      Effect.catchTag("ConflictError", () => {
        const lost = new RefMoved({
          ref: branchRef(branch),
          expected: Option.map(expected, (at) => at.commit),
          actual: Option.none()
        })
        return Effect.flatMap(withActualHead(branch, lost), Effect.fail)
      }),
      asOperation("commit")
    )
}
