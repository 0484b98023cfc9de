import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { RemoteError, StoreError } from "../../domain/errors/StoreError.js"
import { LruCache } from "../../domain/runtime/LruCache.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"
import type { Head } from "../Commit.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import { type BranchFlush, type FlushOutcome, RefusedCommits } from "../disk/writes/Flush.js"
import { branchRef } from "../Names.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { Repository } from "../Repository.js"
import type { LocalCommits } from "./LocalCommits.js"
import type { ObjectFetcher } from "./ObjectFetcher.js"
import type { Push } from "./Push.js"
import * as PushGroups from "./PushGroups.js"
import type { PushThrottle } from "./PushThrottle.js"
import type { ServerHeads } from "./ServerHeads.js"

export interface PushedCommitsOptions {
  readonly engine: GitRepository
  readonly objects: Pick<
    ObjectFetcher,
    "announce" | "fetchCommit" | "fetchingMissing" | "leavingForMissing" | "missingOnServer" | "setRef"
  >
  readonly fetchReferenced: LocalCommits["fetchReferenced"]
  readonly push: Push
  readonly heads: ServerHeads
  readonly throttle: PushThrottle
}

/** The largest number of branches whose last split push is remembered. */
const maxBranches = 4_096

type CommitNext = Repository<ServerFailure>["commitNext"]

/** Whether the server refused the content of a push, as opposed to the credentials or the rate of requests. */
const isContentRefused = (failure: ServerFailure): boolean =>
  failure._tag === "RemoteError" && failure.reason === "Denied"

/** The server's error, which the engine wraps. */
const unwrapped = <E>(error: E): E | ServerFailure =>
  error instanceof RemoteError && error.cause instanceof StoreError ? (error.cause as ServerFailure) : error

/** The outcome for the commits of a refused push, with the server's error as the cause. */
const refusal = (failure: ServerFailure): FlushOutcome => {
  const error = new RemoteError({
    operation: "Repository.commitNext",
    reason: "Server",
    message: failure.message,
    cause: failure
  })
  return isContentRefused(failure) ? new RefusedCommits({ error }) : error
}

const isRefMoved = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Option.exists(Cause.failureOption(exit.cause), (error) => error instanceof RefMoved)

/** Builds commits in a clone and pushes them. The commits of all waiting callers share one push. */
export const make = ({
  engine,
  fetchReferenced,
  heads,
  objects: { announce, fetchCommit, fetchingMissing, leavingForMissing, missingOnServer, setRef },
  push,
  throttle
}: PushedCommitsOptions) => {
  const groups = PushGroups.make()
  /** The last push of each branch that was split. */
  const splits = new LruCache<PushGroups.SplitPush>(maxBranches)

  const publish = (
    flushes: ReadonlyArray<BranchFlush>,
    pack: (options: { readonly thin: boolean }) => Effect.Effect<ReadonlyArray<Uint8Array>>
  ): Effect.Effect<ReadonlyArray<FlushOutcome>> =>
    Effect.gen(function* () {
      const outcomes = yield* push(
        flushes.map(({ base, branch, tip }) => ({
          name: branchRef(branch),
          from: base,
          to: tip,
          unique: true
        })),
        (how) => Effect.zipLeft(pack(how), throttle.recordAcquiredPush)
      )
      const commitCount = flushes.reduce((sum, { commits }) => sum + commits, 0)
      // If the server accepted another branch, it judged each branch by itself.
      const isJudgedByBranch = outcomes.some(({ _tag }) => _tag === "Done")
      const whole = { limit: Math.ceil(commitCount / 2) }
      heads.recordPush()
      const endedAt = yield* Monotonic.millis
      return outcomes.map((outcome, at): FlushOutcome => {
        const { base, branch, commits, tip } = flushes[at]!
        switch (outcome._tag) {
          case "Done":
            heads.record(branch, tip)
            return { _tag: "Done" }
          case "Moved":
            heads.recordLostRace(branch, outcome.actual, endedAt)
            return { _tag: "Moved", actual: outcome.actual }
          case "Unknown":
            heads.forget(branch)
            return outcome.failure
          case "Refused":
            if ((isJudgedByBranch ? commits : commitCount) > 1 && isContentRefused(outcome.failure)) {
              // One of the commits caused the refusal. They are pushed in smaller groups, until only that one fails.
              splits.set(branch, isJudgedByBranch ? { limit: Math.ceil(commits / 2) } : whole)
              return { _tag: "Moved", actual: base }
            }
            return refusal(outcome.failure)
        }
      })
    })

  /** The last known head of the server's branch, whose commit is fetched. */
  const fetchHead = (branch: string) =>
    Effect.tap(heads.requireHeadToWrite(branch), ({ head }) =>
      head === undefined
        ? Effect.void
        : Effect.filterOrElse(fetchCommit(head), identity, () => missingOnServer(head))
    )

  const commitOn = <A, E>(...[branch, build]: Parameters<typeof engine.commitNext<A, E>>) =>
    Effect.gen(function* () {
      const lostRaceBefore = yield* heads.takeRecentLostRace(branch)
      let lookedUp = false
      for (;;) {
        const { head: headBefore, isCurrent } = yield* fetchHead(branch)
        if (isCurrent) lookedUp = true
        const splitBefore = splits.get(branch)
        /** Whether `build` failed or made no commit. */
        let isWithoutCommit = false
        /** Whether `build` itself expects another head: the cached one may be outdated. */
        let expectsOther = false
        const buildWithReferences = (head: Option.Option<Head>) =>
          leavingForMissing(build(head)).pipe(
            Effect.tap(({ commit }) => (Option.isNone(commit) ? Effect.void : fetchReferenced(commit.value))),
            Effect.onExit((built) =>
              Effect.sync(() => {
                isWithoutCommit = Exit.isFailure(built) || Option.isNone(built.value.commit)
                expectsOther = isRefMoved(built)
              })
            )
          )
        // The builds of concurrent callers run one after the other. What they lack is fetched together.
        const commit = announce((withdraw) =>
          Effect.zipRight(
            setRef(branchRef(branch), headBefore),
            fetchingMissing(
              engine
                .commitNext(branch, (head) => Effect.ensuring(buildWithReferences(head), withdraw))
                .pipe(Effect.ensuring(withdraw))
            )
          )
        )
        const exit = yield* Effect.exit(Effect.mapError(commit, unwrapped))
        const split = splits.get(branch)
        // Also an edit without a commit is built again: the commit that it was based on may be the refused one.
        if (isRefMoved(exit) && split !== undefined && split !== splitBefore)
          return yield* new PushGroups.PushSplit({ push: split, isWithoutCommit })
        const isRaceLost = isRefMoved(exit) && !expectsOther
        // A commit that was made on the cached head needs no lookup. Every other result is confirmed on the current head.
        if (
          lookedUp ||
          !(isWithoutCommit || isRaceLost) ||
          (Exit.isFailure(exit) && Exit.isInterrupted(exit))
        ) {
          return yield* exit
        }
        if (isRaceLost && lostRaceBefore) return yield* exit
        lookedUp = true
        if (isRaceLost && heads.isKnown(branch)) continue
        if ((yield* heads.fetchHead(branch)) === headBefore) return yield* exit
      }
    })

  const commitNext: CommitNext = (branch, build) => groups.run(commitOn(branch, build))

  return { publish, commitNext } as const
}
