import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import { branchRef } from "../Names.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { RefUpdate, Repository } from "../Repository.js"
import type { LocalBranches } from "./LocalBranches.js"
import type { LocalCommits } from "./LocalCommits.js"
import type { ObjectFetcher } from "./ObjectFetcher.js"
import type { Push } from "./Push.js"
import { failUnlessDone, type Outcome, type RefMove } from "./PushOutcome.js"
import type { PushThrottle } from "./PushThrottle.js"
import type { ServerHeads } from "./ServerHeads.js"

export interface RefUpdatesOptions {
  readonly engine: GitRepository
  readonly local: LocalBranches
  readonly localCommits: LocalCommits
  readonly push: Push
  readonly setRef: ObjectFetcher["setRef"]
  readonly heads: ServerHeads
  readonly throttle: PushThrottle
}

type UpdateRef = Parameters<Parameters<GitRepository["withRefMutex"]>[1]>[0]

/**
 * A ref that is updated and found at its new commit counts as moved by this push. A ref that is created may be the creation of
 * another writer, unless its name is unique.
 */
const toRefMove = ({ expected, name, next }: RefUpdate, unique: boolean): RefMove => ({
  name,
  from: Option.getOrUndefined(expected),
  to: Option.getOrUndefined(next),
  unique: unique || Option.isSome(expected)
})

/** Updates of refs without new commits: branches are created, deleted and fast-forwarded. */
export const make = ({
  engine,
  heads,
  local,
  localCommits: { mutex, packFor, publish },
  push,
  setRef,
  throttle
}: RefUpdatesOptions): Required<Pick<Repository<ServerFailure>, "updateRef" | "updateRefs">> => {
  const branchOf = (name: string): string | undefined =>
    name.startsWith(branchRef("")) ? name.slice(branchRef("").length) : undefined

  const isLocal = ({ name }: RefUpdate) => local.has(branchOf(name) ?? "")

  /** Runs an effect after every commit that was queued for these refs has been pushed. It may update them in the clone. */
  const withRefMutexes = <A, E>(
    [name, ...others]: ReadonlyArray<string>,
    effect: (update: UpdateRef) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | RemoteError> =>
    engine.withRefMutex(
      name!,
      (update): Effect.Effect<A, E | RemoteError> =>
        others.length === 0 ? effect(update) : withRefMutexes(others, effect)
    )

  /** Records the outcomes before the next commits of the branches are built. */
  const record = (moves: ReadonlyArray<RefMove>, outcomes: ReadonlyArray<Outcome>, update: UpdateRef) =>
    Effect.forEach(
      moves,
      ({ name, to }, at) => {
        const branch = branchOf(name)
        if (branch === undefined) return Effect.void
        const isDone = outcomes[at]!._tag === "Done"
        if (isDone && to !== undefined) heads.record(branch, to)
        else heads.forget(branch)
        return isDone
          ? Effect.ignore(
              Effect.flatMap(engine.ref(name), (current) => update(name, current, Option.fromNullable(to)))
            )
          : Effect.void
      },
      { discard: true }
    )

  const pushMoves = (moves: ReadonlyArray<RefMove>, atomic: boolean) =>
    Effect.gen(function* () {
      const pack = packFor(moves.flatMap(({ to }) => to ?? []))
      const outcomes = yield* withRefMutexes([...new Set(moves.map(({ name }) => name))].sort(), (update) =>
        Effect.zipRight(throttle.recordPush, push(moves, pack, { atomic })).pipe(
          Effect.tap(() => Effect.sync(() => heads.recordPush())),
          Effect.tap((outcomes) => record(moves, outcomes, update))
        )
      )
      // If an atomic push fails, the ref that had moved is the reason why all others were refused.
      const moved = outcomes.findIndex(({ _tag }) => _tag === "Moved")
      const failed = moved < 0 ? outcomes.findIndex(({ _tag }) => _tag !== "Done") : moved
      if (failed >= 0) yield* failUnlessDone(outcomes[failed]!, moves[failed]!)
    })

  /** Fails unless local branches are at their expected commits. */
  const requireExpected = (updates: ReadonlyArray<RefUpdate>): Effect.Effect<void, RefMoved> =>
    Effect.forEach(
      updates,
      ({ expected, name }) => {
        const actual = Option.fromNullable(local.tip(branchOf(name)!))
        return Option.getOrUndefined(actual) === Option.getOrUndefined(expected)
          ? Effect.void
          : Effect.fail(new RefMoved({ ref: name, expected, actual }))
      },
      { discard: true }
    )

  const updateLocally = ({ name, next }: RefUpdate) =>
    Effect.suspend(() => {
      const branch = branchOf(name)!
      if (Option.isNone(next)) local.delete(branch)
      else if (local.has(branch)) local.fastForward(branch, next.value)
      else local.create(branch, next.value)
      // The branches of the server may have moved already, and the ref is set again before the next commit.
      return Effect.ignore(setRef(name, Option.getOrUndefined(next)))
    })

  /** Updates the branches of the server first, and then the local ones, which no other client can see. */
  const updateAll = (
    updates: ReadonlyArray<RefUpdate>,
    updateOnServer: (updates: ReadonlyArray<RefUpdate>) => ReturnType<typeof pushMoves>
  ) => {
    const localUpdates = updates.filter(isLocal)
    if (localUpdates.length === 0) return updateOnServer(updates)
    const serverUpdates = updates.filter((update) => !isLocal(update))
    const updateLocalBranches = mutex(
      Effect.zipRight(
        requireExpected(localUpdates),
        Effect.forEach(localUpdates, updateLocally, { discard: true })
      )
    )
    if (serverUpdates.length === 0) return updateLocalBranches
    return requireExpected(localUpdates).pipe(
      Effect.zipRight(updateOnServer(serverUpdates)),
      // The caller may keep the local branches as the record of a conflict, so other clients need them.
      Effect.tapErrorTag("RefMoved", () =>
        Effect.forEach(localUpdates, ({ name }) => publish(branchOf(name)!), { discard: true })
      ),
      Effect.zipRight(updateLocalBranches)
    )
  }

  return {
    updateRef: (name, expected, next, options) =>
      Effect.suspend(() => {
        const update = { name, expected, next }
        return options?.temporary === true && branchOf(name) !== undefined && !isLocal(update)
          ? mutex(updateLocally(update))
          : updateAll([update], ([one]) => pushMoves([toRefMove(one!, options?.unique === true)], false))
      }),

    updateRefs: (updates) =>
      Effect.catchTag(
        updateAll(updates, (serverUpdates) =>
          serverUpdates.length === 1
            ? pushMoves([toRefMove(serverUpdates[0]!, false)], false)
            : pushMoves(
                // `Push` decides the outcome of an atomic push by the heads of all of its refs.
                serverUpdates.map((update) => ({ ...toRefMove(update, false), unique: false })),
                true
              )
        ),
        "RemoteError",
        (error) =>
          error.reason === "Denied" &&
          updates.some((update) => Option.isNone(update.next) && !isLocal(update))
            ? // The server may forbid deletions. The caller can then move the other branches without them.
              new RemoteError({
                ...error,
                reason: "Unsupported",
                message: error.message,
                operation: error.operation
              })
            : error
      )
  }
}
