import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { makeKeyedMutex } from "../../domain/concurrency/KeyedMutex.js"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { RemoteError, StoreError } from "../../domain/errors/StoreError.js"
import { LruCache } from "../../domain/runtime/LruCache.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"
import type { Head } from "../Commit.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import type { BranchFlush, FlushOutcome } from "../disk/writes/Flush.js"
import { branchRef } from "../Names.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { Repository } from "../Repository.js"
import type { Fetching } from "./Fetching.js"
import type { LocalCommits } from "./LocalCommits.js"
import type { Push } from "./Push.js"
import type { PushPace } from "./PushPace.js"
import type { Sight } from "./Sight.js"

export interface CommitsOptions {
  readonly engine: GitRepository
  readonly objects: Pick<Fetching, "bring" | "fetching" | "lost" | "place">
  readonly bringReferenced: LocalCommits["bringReferenced"]
  readonly push: Push
  readonly sight: Sight
  readonly pace: PushPace
}

/** Branches of which it is remembered that a push was split: a commit looks at that after its own push. */
const mostBranches = 4_096

type CommitNext = Repository<ServerFailure>["commitNext"]

/** A commit was in a push that was split: it lost no race to anybody, and is made again. */
class PushSplit extends Data.TaggedError("PushSplit") {}

/** Whether a server refuses what was pushed, not who pushes or how often. */
const isForItself = (failure: ServerFailure): boolean =>
  failure._tag === "RemoteError" && failure.reason === "Denied"

/** The error of the server below what the engine made of it. */
const underlying = <E>(error: E): E | ServerFailure =>
  error instanceof RemoteError && error.cause instanceof StoreError ? (error.cause as ServerFailure) : error

const isRefMoved = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.failureOption(cause), (error) => error instanceof RefMoved)

/** Commits that are made in a clone and pushed, those of all callers that wait in one push. */
export const make = ({
  bringReferenced,
  engine,
  objects: { bring, fetching, lost, place },
  pace,
  push,
  sight
}: CommitsOptions) => {
  /** Commits of pushes that were split which still go by themselves. */
  let apart = 0
  const { withLock } = makeKeyedMutex()
  /** How often a push of a branch was split. */
  const splits = new LruCache<number>(mostBranches)

  const publish = (
    portions: ReadonlyArray<BranchFlush>,
    pack: (how: { readonly thin: boolean }) => Effect.Effect<ReadonlyArray<Uint8Array>>
  ): Effect.Effect<ReadonlyArray<FlushOutcome>> =>
    Effect.gen(function* () {
      yield* pace.began
      const outcomes = yield* push(
        portions.map(({ base, branch, tip }) => ({
          name: branchRef(branch),
          from: base,
          to: tip,
          unique: true
        })),
        pack
      )
      const together = portions.reduce((sum, { commits }) => sum + commits, 0)
      sight.pushed()
      const lostAt = yield* Monotonic.millis
      return outcomes.map((outcome, at): FlushOutcome => {
        const { base, branch, commits, tip } = portions[at]!
        switch (outcome._tag) {
          case "Done":
            sight.set(branch, tip)
            return { _tag: "Done" }
          case "Moved":
            sight.lostRace(branch, outcome.actual, lostAt)
            return { _tag: "Moved", actual: outcome.actual }
          case "Unknown":
            sight.forget(branch)
            return outcome.failure
          case "Refused":
            if (together > 1 && isForItself(outcome.failure)) {
              // One of them is to blame: each is pushed by itself, and the others do not fail with it.
              apart += commits
              splits.set(branch, (splits.get(branch) ?? 0) + 1)
              return { _tag: "Moved", actual: base }
            }
            return new RemoteError({
              operation: "Repository.commitNext",
              reason: "Server",
              message: outcome.failure.message,
              cause: outcome.failure
            })
        }
      })
    })

  /** Puts a branch of the clone where the server's was seen, with what a commit on it needs. */
  const follow = (branch: string): Effect.Effect<void, ServerFailure> =>
    Effect.gen(function* () {
      const at = sight.has(branch) ? sight.at(branch) : yield* sight.branchToWrite(branch)
      if (at !== undefined && !(yield* bring(at))) return yield* lost(at)
      yield* place(branchRef(branch), at)
    })

  const commitOn = <A, E>(...[branch, build]: Parameters<typeof engine.commitNext<A, E>>) =>
    Effect.gen(function* () {
      const isNews = yield* sight.isNews(branch)
      let looked = !sight.has(branch)
      for (;;) {
        yield* follow(branch)
        const before = sight.at(branch)
        const split = splits.get(branch)
        let judged = false
        const judge = (is: boolean) =>
          Effect.sync(() => {
            judged = is
          })
        const building = (head: Option.Option<Head>) =>
          build(head).pipe(
            Effect.tap(({ commit }) => (Option.isNone(commit) ? Effect.void : bringReferenced(commit.value))),
            Effect.tapErrorCause(() => judge(true)),
            Effect.tap(({ commit }) => judge(Option.isNone(commit)))
          )
        const answer = yield* Effect.exit(
          Effect.mapError(fetching(engine.commitNext(branch, building)), underlying)
        )
        const isLost = Exit.isFailure(answer) && isRefMoved(answer.cause)
        if (isLost && splits.get(branch) !== split) return yield* Effect.fail(new PushSplit())
        // The head was believed, not looked at: what was refused, changed nothing or lost a race is judged once more.
        if (looked || !(judged || isLost) || (Exit.isFailure(answer) && Exit.isInterrupted(answer))) {
          return yield* answer
        }
        if (isLost && isNews) return yield* answer
        looked = true
        if (isLost && sight.has(branch)) continue
        if ((yield* sight.branch(branch)) === before) return yield* answer
      }
    })

  const commitNext: CommitNext = (branch, build) =>
    Effect.suspend(() => {
      if (apart === 0) return commitOn(branch, build)
      apart--
      return withLock("")(commitOn(branch, build))
    }).pipe(
      Effect.catchIf(
        (error) => error instanceof PushSplit,
        () => commitNext(branch, build)
      )
    )

  return { publish, commitNext } as const
}
