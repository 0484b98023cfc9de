import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { KeyedMutex } from "../../../../domain/concurrency/KeyedMutex.js"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import * as Monotonic from "../../../../domain/time/MonotonicClock.js"
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
import type { CallFailure, Client } from "../client/Client.js"
import { currentOperation, uninterruptibleOnceSent, withOperation } from "../client/OperationContext.js"
import type { RemoteOperation, WriteCheck } from "../client/RemoteOperation.js"
import { whileReplicaLags } from "../client/Retry.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { GraphqlPrefetch } from "../heads/GraphqlPrefetch.js"
import type { HeadLookup } from "../heads/HeadLookup.js"
import type { ObjectCache } from "../objects/ObjectCache.js"
import { prefersWholeTree } from "../objects/TreeReader.js"
import type { BranchCaches } from "../reads/BranchCaches.js"
import type { BranchSnapshot, BranchSnapshots } from "../reads/BranchSnapshots.js"
import type { makeCommitCarriers } from "./CommitCarrier.js"
import type { makeContentsCommit } from "./ContentsCommit.js"
import type { DeriveTrees } from "./DerivedTrees.js"

interface Parts {
  readonly client: Client
  readonly cache: ObjectCache
  readonly remember: BranchCaches
  readonly derive: DeriveTrees
  readonly branches: BranchHeads
  readonly heads: HeadLookup
  readonly bring: GraphqlPrefetch
  readonly snapshots: BranchSnapshots
  readonly commitFile: ReturnType<typeof makeContentsCommit>
  readonly commitNow: ReturnType<typeof makeCommitCarriers>
  readonly told: RemoteOperation
  readonly writable: WriteCheck
  readonly withLock: KeyedMutex["withLock"]
}

/** A head that was looked up after a lost race is news for so many milliseconds: whoever loses it lost a race again. */
const lookedFor = 5_000

type Edit<A, E> = (snapshot: RemoteSnapshot) => Effect.Effect<EditResult<A, E>, E>

/** What came of one try: the edit made nothing of the snapshot, what it stood on did not hold, or it is decided. */
interface Tried<A, E> {
  readonly _tag: "Refused" | "Lost" | "Failed" | "Committed"
  readonly answer: Effect.Effect<
    { readonly committed: Option.Option<Pick<Committed, "commit" | "blobs">>; readonly result: A },
    E | WriteFailure
  >
}

const moved = (branch: string) =>
  new RefMoved({ ref: branchRef(branch), expected: Option.none(), actual: Option.none() })

/** Commits in their branch's turn, built on what is remembered of it or assumed as long as that proves true. */
export const makeCommitOperations = ({
  branches,
  bring,
  cache,
  client,
  commitFile,
  commitNow,
  withLock,
  heads,
  derive,
  remember,
  snapshots,
  told,
  writable
}: Parts): Pick<GitRemoteService, "commit" | "commitNext"> => {
  const looked = new Map<string, { readonly head: Option.Option<Head>; readonly at: number }>()

  /** After a lost race: where the branch is by now. Replicas may still tell the old place. */
  const lookAgain = (branch: string, lost: RefMoved): Effect.Effect<RefMoved, CallFailure> =>
    Effect.gen(function* () {
      const before = Option.getOrUndefined(lost.expected)
      branches.forget(branch)
      const now = yield* heads.currentHead(branch).pipe(
        Effect.flatMap((found) =>
          before !== undefined && Option.isSome(found) && found.value.commit === before
            ? Effect.fail("behind" as const)
            : Effect.succeed(found)
        ),
        Effect.retry({ schedule: whileReplicaLags, while: (error) => error === "behind" }),
        Effect.catchAll((error) =>
          error === "behind" ? Effect.succeed(Option.none<Head>()) : Effect.fail(error)
        )
      )
      looked.set(branch, { head: now, at: yield* Monotonic.millis })
      return new RefMoved({ ...lost, actual: Option.map(now, (found) => found.commit) })
    })

  /** The head that was looked up after a race was lost for the try that begins now; undefined: none was lost. */
  const lostLately = (branch: string) =>
    Effect.map(Monotonic.millis, (now) => {
      const found = looked.get(branch)
      looked.delete(branch)
      return found !== undefined && now - found.at < lookedFor ? found.head : undefined
    })

  const commit: GitRemoteService["commit"] = (branch, expected, wanted) =>
    writable("commit", branch, ...wanted.changes.map((change) => change.path)).pipe(
      Effect.zipRight(
        Effect.flatMap(branches.now, (begun) => {
          const changes = wanted.changes.map((change) =>
            change._tag === "Put" ? { ...change, content: change.content.slice() } : change
          )
          const place = { operation: "GitRemote.commit" }
          return Effect.tap(commitNow(place, branch, expected, { ...wanted, changes }), (made) => {
            for (const change of changes) {
              const oid = made.blobs.get(change.path)
              if (change._tag === "Put" && oid !== undefined) cache.putBlob(oid, change.content)
            }
            derive(Option.getOrUndefined(expected), changes, made)
            return remember.commit(branch, expected, changes, made, begun)
          })
        })
      ),
      remember.carefully(branch),
      Effect.catchTag("RefMoved", (lost) => Effect.flatMap(lookAgain(branch, lost), Effect.fail)),
      Effect.catchTag("ConflictError", () => {
        const lost = new RefMoved({
          ref: `refs/heads/${branch}`,
          expected: Option.map(expected, (at) => at.commit),
          actual: Option.none()
        })
        return Effect.flatMap(lookAgain(branch, lost), Effect.fail)
      }),
      told("commit")
    )

  const headNow = (branch: string) => told("head")(heads.currentHead(branch))

  /** What is brought along with a commit that is remembered. */
  const bringMissing = (head: Head, wants: PrefetchRequest | undefined) => {
    if (!heads.canPrefetch || wants === undefined) return Effect.void
    const missing = bring.missing(head, wants)
    if (missing.files.length + missing.directories.length === 0) return Effect.void
    return Effect.asVoid(told("head")(heads.prefetchByGraphql({ commit: head.commit }, missing)))
  }

  const lostFile = (branch: string) =>
    Effect.map(Monotonic.millis, (at) => void looked.set(branch, { head: Option.none(), at }))

  /** Lets an edit judge a commit that checked nothing but the file that it changes; fails where it was taken back. */
  const judge = <A, E>(branch: string, { verifyCommit: verify }: EditResult<A, E>, made: CreatedCommit) =>
    verify === undefined
      ? Effect.void
      : Effect.locally(verify(made), currentOperation, undefined).pipe(
          // What the commit was built on proved to be old, also where that could not be put right.
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

  /**
   * Sends what an edit has made of a snapshot: where that reads by the branch's name, the one file that it changes, on
   * the condition that the file is as it was answered to be.
   */
  const send = <A, E>(branch: string, snapshot: BranchSnapshot, built: EditResult<A, E>, next: NewCommit) =>
    Effect.gen(function* () {
      const { changes, ...text } = next
      const [change] = changes
      if (snapshot.isPinned() || change === undefined || change._tag === "Link") {
        return yield* commit(branch, yield* snapshot.head, next)
      }
      const expected = snapshot.filesByName.get(change.path) ?? Option.none()
      const sent = Effect.tapErrorTag(commitFile({ branch, change, expected, text }), "RefMoved", () =>
        lostFile(branch)
      )
      // An update that made a vanished file again is taken back, and a commit is judged, whoever is interrupted meanwhile.
      const judged = Effect.flatMap(sent, (made) => Effect.as(judge(branch, built, made), made))
      return yield* uninterruptibleOnceSent(judged)
    })

  /** Whether one request of the Contents API carries a commit: it checks the blob of the file that it writes. */
  const isOneFile = (
    { filesByName: answered, readDirectories: hasListed }: BranchSnapshot,
    { changes: [change, ...others], merges = [] }: NewCommit
  ): boolean =>
    others.length === 0 &&
    merges.length === 0 &&
    change !== undefined &&
    change._tag !== "Link" &&
    answered.size === 1 &&
    answered.has(change.path) &&
    !hasListed() &&
    (change._tag === "Remove" || change.content.length <= client.settings.contentsMaxBytes)

  /**
   * Fails where the branch is no longer where it is remembered. A merge has to ask before it is sent: the host takes it
   * for a fast-forward of every commit that the other branch stands on, so it would pass over a head that is one of these.
   */
  const confirm = (branch: string, remembered: Option.Option<Head>) =>
    Effect.gen(function* () {
      const now = yield* headNow(branch)
      if (Option.getEquivalence<Head>((a, b) => a.commit === b.commit)(now, remembered)) return
      looked.set(branch, { head: now, at: yield* Monotonic.millis })
      return yield* moved(branch)
    })

  const attempt = <A, E>(
    branch: string,
    snapshot: BranchSnapshot,
    edit: Edit<A, E>,
    remembered: Option.Option<Head> = Option.none()
  ): Effect.Effect<Tried<A, E>, RemoteFailure> =>
    Effect.gen(function* () {
      const run = Effect.either(Effect.locally(edit(snapshot), prefersWholeTree, true))
      let built = yield* run
      if (
        !snapshot.isPinned() &&
        built._tag === "Right" &&
        Option.exists(built.right.commit, (next) => !isOneFile(snapshot, next))
      ) {
        yield* snapshot.head
        built = yield* run
      }
      if (built._tag === "Left") return { _tag: "Refused", answer: Effect.fail(built.left) }
      const { commit: next, result } = built.right
      if (Option.isNone(next)) {
        return { _tag: "Refused", answer: Effect.succeed({ committed: Option.none(), result }) }
      }
      const isMerge = (next.value.merges ?? []).length > 0
      const confirmed = isMerge && Option.isSome(remembered) ? confirm(branch, remembered) : Effect.void
      const made = yield* Effect.either(
        Effect.zipRight(confirmed, send(branch, snapshot, built.right, next.value))
      )
      if (made._tag === "Left") {
        return { _tag: made.left instanceof RefMoved ? "Lost" : "Failed", answer: Effect.fail(made.left) }
      }
      looked.delete(branch)
      return {
        _tag: "Committed",
        answer: Effect.succeed({ committed: Option.some(made.right), result })
      }
    })

  const commitNext: GitRemoteService["commitNext"] = (branch, edit) =>
    writable("commitNext", branch).pipe(
      Effect.zipRight(
        Effect.gen(function* () {
          const remembered = branches.cachedHead(branch) ?? Option.none()
          const lost = yield* lostLately(branch)
          const isRemembered = (head: Head | undefined) =>
            Option.exists(remembered, ({ commit }) => commit === head?.commit)
          const first = snapshots.snapshot(branch, {
            useAssumptions: lost === undefined,
            findHead: (wants) =>
              Option.isNone(remembered)
                ? told("head")(heads.currentHead(branch, wants))
                : Effect.as(bringMissing(remembered.value, wants), remembered)
          })
          const tried = yield* attempt(branch, first, edit, remembered)
          if (tried._tag === "Committed" || tried._tag === "Failed") return yield* tried.answer
          // A refusal is never issued from memory alone, and a race that only memory lost is none.
          if (!first.isPinned()) {
            const find = (wants?: PrefetchRequest) => told("head")(heads.currentHead(branch, wants))
            let last = { tried, snapshot: first }
            if (first.assumedFiles.size > 0) {
              const looking = snapshots.snapshot(branch, { findHead: find })
              last = { tried: yield* attempt(branch, looking, edit), snapshot: looking }
            }
            if (last.tried._tag !== "Refused" || !last.snapshot.usedRecentReads())
              return yield* last.tried.answer
            const afresh = snapshots.snapshot(branch, { ignoreRecent: true, findHead: find })
            return yield* (yield* attempt(branch, afresh, edit)).answer
          }
          if (!isRemembered(first.knownHead())) return yield* tried.answer
          if (tried._tag === "Lost" && isRemembered(Option.getOrUndefined(lost ?? Option.none()))) {
            return yield* tried.answer
          }
          const news = tried._tag === "Lost" ? looked.get(branch)?.head : undefined
          const now = news !== undefined && Option.isSome(news) ? news : yield* headNow(branch)
          if (isRemembered(Option.getOrUndefined(now))) return yield* tried.answer
          const second = snapshots.snapshot(branch, { findHead: () => Effect.succeed(now) })
          yield* second.head
          return yield* (yield* attempt(branch, second, edit)).answer
        })
      ),
      withLock(branch),
      withOperation("commitNext", client.settings.deadline)
    )

  return { commit, commitNext }
}
