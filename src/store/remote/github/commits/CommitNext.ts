import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { KeyedMutex } from "../../../../domain/concurrency/KeyedMutex.js"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import { branchRef } from "../../../../git/Names.js"
import type {
  Committed,
  CreatedCommit,
  EditResult,
  GitRemoteService,
  Head,
  NewCommit,
  PrefetchRequest,
  RemoteFailure,
  RemoteSnapshot,
  WriteFailure
} from "../../GitRemote.js"
import type { Client } from "../client/Client.js"
import { currentOperation, uninterruptibleOnceSent, withOperation } from "../client/OperationContext.js"
import type { RemoteOperation, WriteCheck } from "../client/RemoteOperation.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { GraphqlPrefetch } from "../heads/GraphqlPrefetch.js"
import type { HeadLookup } from "../heads/HeadLookup.js"
import { prefersWholeTree } from "../objects/TreeReader.js"
import type { BranchSnapshot, BranchSnapshots } from "../reads/BranchSnapshots.js"
import { needsHead } from "./CommitCarrier.js"
import type { makeContentsCommit } from "./ContentsCommit.js"
import type { LostRaces } from "./LostRaces.js"

interface Dependencies {
  readonly client: Client
  readonly branchHeads: BranchHeads
  readonly headLookup: HeadLookup
  readonly graphqlPrefetch: GraphqlPrefetch
  readonly snapshots: BranchSnapshots
  readonly lostRaces: LostRaces
  readonly commitContents: ReturnType<typeof makeContentsCommit>
  readonly commitOnHead: GitRemoteService["commit"]
  readonly asOperation: RemoteOperation
  readonly checkWrite: WriteCheck
  readonly withLock: KeyedMutex["withLock"]
}

type Edit<A, E> = (snapshot: RemoteSnapshot) => Effect.Effect<EditResult<A, E>, E>

/**
 * The outcome of one run of an edit, and what the caller gets if no further attempt follows. `NoCommit`: the edit failed or
 * returned no commit. `RaceLost`: the branch or the file had changed.
 */
interface Attempt<A, E> {
  readonly _tag: "NoCommit" | "RaceLost" | "Failed" | "Committed"
  readonly result: Effect.Effect<
    { readonly committed: Option.Option<Pick<Committed, "commit" | "blobs">>; readonly result: A },
    E | WriteFailure
  >
}

const moved = (branch: string) =>
  new RefMoved({ ref: branchRef(branch), expected: Option.none(), actual: Option.none() })

const isSameCommit = Option.getEquivalence<Head>((a, b) => a.commit === b.commit)

/**
 * The port's `commitNext`. The first attempt runs the edit on cached data: the cached head, or assumptions and recent reads
 * by branch name. Only if that attempt writes nothing, a further attempt runs the edit on what the host returns now. So a
 * commit usually needs no read, and neither a failure nor a lost race is reported from a cache alone.
 */
export const makeCommitNext = ({
  asOperation,
  branchHeads,
  checkWrite,
  client,
  commitContents,
  commitOnHead,
  graphqlPrefetch,
  headLookup,
  lostRaces,
  snapshots,
  withLock
}: Dependencies): GitRemoteService["commitNext"] => {
  const currentHead = (branch: string, prefetch?: PrefetchRequest) =>
    asOperation("head")(headLookup.currentHead(branch, prefetch))

  /** Reads the part of a prefetch request that is not cached for a cached head. */
  const prefetchMissing = (head: Head, prefetch: PrefetchRequest | undefined) => {
    if (!headLookup.canPrefetch || prefetch === undefined) return Effect.void
    const missing = graphqlPrefetch.missing(head, prefetch)
    if (missing.files.length + missing.directories.length === 0) return Effect.void
    return Effect.asVoid(asOperation("head")(headLookup.prefetchByGraphql({ commit: head.commit }, missing)))
  }

  /** Lets an edit check a commit whose only precondition was its file. Fails if that commit was reverted. */
  const verify = <A, E>(branch: string, { verifyCommit }: EditResult<A, E>, created: CreatedCommit) =>
    verifyCommit === undefined
      ? Effect.void
      : Effect.locally(verifyCommit(created), currentOperation, undefined).pipe(
          // Recent reads proved to be outdated, even if the commit could not be corrected.
          Effect.onExit((exit) =>
            Effect.sync(() => {
              if (exit._tag === "Failure" || exit.value !== "valid") snapshots.forgetBranch(branch)
            })
          ),
          Effect.filterOrFail(
            (verdict) => verdict !== "reverted",
            () => moved(branch)
          )
        )

  const send = <A, E>(
    branch: string,
    snapshot: BranchSnapshot,
    edited: EditResult<A, E>,
    commit: NewCommit
  ) =>
    Effect.gen(function* () {
      const { changes, ...text } = commit
      const [change] = changes
      if (snapshot.isPinned() || change === undefined || change._tag === "Link") {
        return yield* commitOnHead(branch, yield* snapshot.head, commit)
      }
      const expected = snapshot.filesByName.get(change.path) ?? Option.none()
      const sent = Effect.tapErrorTag(commitContents({ branch, change, expected, text }), "RefMoved", () =>
        lostRaces.record(branch, Option.none())
      )
      // The commit is verified even if the caller is interrupted meanwhile.
      return yield* uninterruptibleOnceSent(Effect.tap(sent, (created) => verify(branch, edited, created)))
    })

  /**
   * Checks that the cached head of a merge is current. GitHub accepts the update of a ref to any descendant of its commit. A
   * merge commit descends from every commit of the merged branch, so a head that is one of these would be overwritten.
   */
  const checkMergeHead = (branch: string, cachedHead: Option.Option<Head>) =>
    Effect.gen(function* () {
      const head = yield* currentHead(branch)
      if (isSameCommit(head, cachedHead)) return
      yield* lostRaces.record(branch, head)
      return yield* moved(branch)
    })

  const attempt = <A, E>(
    branch: string,
    snapshot: BranchSnapshot,
    edit: Edit<A, E>,
    cachedHead: Option.Option<Head> = Option.none()
  ): Effect.Effect<Attempt<A, E>, RemoteFailure> =>
    Effect.gen(function* () {
      const run = Effect.either(Effect.locally(edit(snapshot), prefersWholeTree, true))
      let edited = yield* run
      if (
        edited._tag === "Right" &&
        Option.exists(edited.right.commit, (commit) => needsHead(client.settings, snapshot, commit))
      ) {
        yield* snapshot.head
        edited = yield* run
      }
      if (edited._tag === "Left") return { _tag: "NoCommit", result: Effect.fail(edited.left) }
      const { commit, result } = edited.right
      if (Option.isNone(commit)) {
        return { _tag: "NoCommit", result: Effect.succeed({ committed: Option.none(), result }) }
      }
      const isMerge = (commit.value.merges ?? []).length > 0
      const sent = yield* Effect.either(
        Effect.zipRight(
          isMerge && Option.isSome(cachedHead) ? checkMergeHead(branch, cachedHead) : Effect.void,
          send(branch, snapshot, edited.right, commit.value)
        )
      )
      if (sent._tag === "Left") {
        return { _tag: sent.left instanceof RefMoved ? "RaceLost" : "Failed", result: Effect.fail(sent.left) }
      }
      lostRaces.forget(branch)
      return {
        _tag: "Committed",
        result: Effect.succeed({ committed: Option.some(sent.right), result })
      }
    })

  /** Repeats an attempt that read by branch name, first without assumptions, then without recent reads. */
  const retryByName = <A, E>(
    branch: string,
    edit: Edit<A, E>,
    first: Attempt<A, E>,
    firstSnapshot: BranchSnapshot
  ) =>
    Effect.gen(function* () {
      const findHead = (prefetch?: PrefetchRequest) => currentHead(branch, prefetch)
      let last = first
      let snapshot = firstSnapshot
      if (firstSnapshot.assumedFiles.size > 0) {
        snapshot = snapshots.snapshot(branch, { findHead })
        last = yield* attempt(branch, snapshot, edit)
      }
      if (last._tag !== "NoCommit" || !snapshot.usedRecentReads()) return last
      return yield* attempt(branch, snapshots.snapshot(branch, { ignoreRecent: true, findHead }), edit)
    })

  /** Repeats an attempt on the cached head if the branch has moved since. */
  const retryOnCurrentHead = <A, E>(
    branch: string,
    edit: Edit<A, E>,
    first: Attempt<A, E>,
    cachedHead: Option.Option<Head>
  ) =>
    Effect.gen(function* () {
      const afterRace = first._tag === "RaceLost" ? lostRaces.headAfter(branch) : Option.none<Head>()
      const head = Option.isSome(afterRace) ? afterRace : yield* currentHead(branch)
      if (Option.isSome(head) && isSameCommit(head, cachedHead)) return first
      const snapshot = snapshots.snapshot(branch, { findHead: () => Effect.succeed(head) })
      yield* snapshot.head
      return yield* attempt(branch, snapshot, edit)
    })

  return (branch, edit) =>
    checkWrite("commitNext", branch).pipe(
      Effect.zipRight(
        Effect.gen(function* () {
          const cachedHead = branchHeads.cachedHead(branch) ?? Option.none()
          const headAfterRace = yield* lostRaces.take(branch)
          const snapshot = snapshots.snapshot(branch, {
            useAssumptions: headAfterRace === undefined,
            findHead: (prefetch) =>
              Option.isNone(cachedHead)
                ? currentHead(branch, prefetch)
                : Effect.as(prefetchMissing(cachedHead.value, prefetch), cachedHead)
          })
          const first = yield* attempt(branch, snapshot, edit, cachedHead)
          if (first._tag === "Committed" || first._tag === "Failed") return yield* first.result
          if (!snapshot.isPinned()) {
            return yield* (yield* retryByName(branch, edit, first, snapshot)).result
          }
          const isCached = (head: Head | undefined) =>
            Option.exists(cachedHead, ({ commit }) => commit === head?.commit)
          const wasLookedUp =
            !isCached(snapshot.knownHead()) ||
            (first._tag === "RaceLost" &&
              headAfterRace !== undefined &&
              isCached(Option.getOrUndefined(headAfterRace)))
          if (wasLookedUp) return yield* first.result
          return yield* (yield* retryOnCurrentHead(branch, edit, first, cachedHead)).result
        })
      ),
      withLock(branch),
      withOperation("commitNext", client.settings.deadline)
    )
}
