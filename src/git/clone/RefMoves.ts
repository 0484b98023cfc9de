import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import { branchRef } from "../Names.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { RefUpdate, Repository } from "../Repository.js"
import type { Fetching } from "./Fetching.js"
import type { LocalBranches } from "./LocalBranches.js"
import type { LocalCommits } from "./LocalCommits.js"
import type { Push } from "./Push.js"
import { failed, type Move } from "./PushOutcome.js"
import type { PushPace } from "./PushPace.js"
import type { Sight } from "./Sight.js"

export interface RefMovesOptions {
  readonly engine: GitRepository
  readonly local: LocalBranches
  readonly localCommits: LocalCommits
  readonly push: Push
  readonly place: Fetching["place"]
  readonly sight: Sight
  readonly pace: PushPace
}

/** Whoever finds a branch that was to move where it was to go finds it moved; one that was to be made may be another's. */
const moveOf = ({ expected, name, next }: RefUpdate, unique: boolean): Move => ({
  name,
  from: Option.getOrUndefined(expected),
  to: Option.getOrUndefined(next),
  unique: unique || Option.isSome(expected)
})

/** Moving refs without commits: branches that are made, deleted and moved forward. */
export const make = ({
  engine,
  local,
  localCommits: { exclusively, packFor, pushOut },
  pace,
  place,
  push,
  sight
}: RefMovesOptions): Required<Pick<Repository<ServerFailure>, "updateRef" | "updateRefs">> => {
  const branchOf = (name: string): string | undefined =>
    name.startsWith(branchRef("")) ? name.slice(branchRef("").length) : undefined

  const isLocal = ({ name }: RefUpdate) => local.has(branchOf(name) ?? "")

  /** Runs an effect when every commit that was queued for these refs has been pushed. */
  const inTurns = <A, E>(moves: ReadonlyArray<Move>, effect: Effect.Effect<A, E>) =>
    [...new Set(moves.map(({ name }) => name))]
      .sort()
      .reduceRight<Effect.Effect<A, E | RemoteError>>(
        (inner, name) => engine.withRefMutex(name, () => inner),
        effect
      )

  const moveRefs = (moves: ReadonlyArray<Move>, atomic: boolean) =>
    Effect.gen(function* () {
      const pack = packFor(moves.flatMap(({ to }) => to ?? []))
      const outcomes = yield* inTurns(moves, Effect.zipRight(pace.began, push(moves, pack, { atomic })))
      sight.pushed()
      for (const [at, { name, to }] of moves.entries()) {
        const branch = branchOf(name)
        if (branch === undefined) continue
        const isDone = outcomes[at]!._tag === "Done"
        if (isDone && to !== undefined) sight.set(branch, to)
        else sight.forget(branch)
        if (isDone && to === undefined) yield* Effect.ignore(place(name, undefined))
      }
      // Of several that move together the one that is elsewhere says why none did.
      const first = outcomes.findIndex(({ _tag }) => _tag === "Moved")
      const at = first < 0 ? outcomes.findIndex(({ _tag }) => _tag !== "Done") : first
      if (at >= 0) yield* failed(outcomes[at]!, moves[at]!)
    })

  const requirePlaces = (updates: ReadonlyArray<RefUpdate>): Effect.Effect<void, RefMoved> =>
    Effect.forEach(
      updates,
      ({ expected, name }) => {
        const actual = Option.fromNullable(local.at(branchOf(name)!))
        return Option.getOrUndefined(actual) === Option.getOrUndefined(expected)
          ? Effect.void
          : Effect.fail(new RefMoved({ ref: name, expected, actual }))
      },
      { discard: true }
    )

  const moveLocally = ({ name, next }: RefUpdate) =>
    Effect.suspend(() => {
      const branch = branchOf(name)!
      if (Option.isNone(next)) local.delete(branch)
      else if (local.has(branch)) local.move(branch, next.value)
      else local.create(branch, next.value)
      return place(name, Option.getOrUndefined(next))
    })

  /** Moves branches of the server first: the others nobody else sees. */
  const moveAll = (
    updates: ReadonlyArray<RefUpdate>,
    served: (moves: ReadonlyArray<RefUpdate>) => ReturnType<typeof moveRefs>
  ) => {
    const here = updates.filter(isLocal)
    if (here.length === 0) return served(updates)
    const there = updates.filter((update) => !isLocal(update))
    const movedHere = exclusively(
      Effect.zipRight(requirePlaces(here), Effect.forEach(here, moveLocally, { discard: true }))
    )
    if (there.length === 0) return movedHere
    return requirePlaces(here).pipe(
      Effect.zipRight(served(there)),
      // Who is refused may have to leave to others what was made.
      Effect.tapErrorTag("RefMoved", () =>
        Effect.forEach(here, ({ name }) => pushOut(branchOf(name)!), { discard: true })
      ),
      Effect.zipRight(movedHere)
    )
  }

  return {
    updateRef: (name, expected, next, how) =>
      Effect.suspend(() => {
        const update = { name, expected, next }
        return how?.temporary === true && branchOf(name) !== undefined && !isLocal(update)
          ? exclusively(moveLocally(update))
          : moveAll([update], ([one]) => moveRefs([moveOf(one!, how?.unique === true)], false))
      }),

    updateRefs: (updates) =>
      Effect.catchTag(
        moveAll(updates, (moves) =>
          moves.length === 1
            ? moveRefs([moveOf(moves[0]!, false)], false)
            : moveRefs(
                // `Push` judges refs that move together by all of their places.
                moves.map((update) => ({ ...moveOf(update, false), unique: false })),
                true
              )
        ),
        "RemoteError",
        (error) =>
          error.reason === "Denied" &&
          updates.some((update) => Option.isNone(update.next) && !isLocal(update))
            ? // Where branches may not be deleted, the others can move without it.
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
