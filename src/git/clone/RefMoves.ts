import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../domain/Ref.js"
import { type AmbiguousWriteError, RemoteError } from "../../domain/StoreError.js"
import type { GitRepository } from "../disk/GitRepository.js"
import { branchRef } from "../Names.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { RefUpdate, Repository } from "../Repository.js"
import type { Fetching } from "./Fetching.js"
import type { Push } from "./Push.js"
import type { Move, Outcome } from "./PushOutcome.js"
import type { PushPace } from "./PushPace.js"
import type { Sight } from "./Sight.js"

export interface RefMovesOptions {
  readonly engine: GitRepository
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

const failed = (
  outcome: Outcome,
  { from, name }: Move
): Effect.Effect<void, RefMoved | ServerFailure | AmbiguousWriteError> => {
  switch (outcome._tag) {
    case "Done":
      return Effect.void
    case "Moved":
      return Effect.fail(
        new RefMoved({
          ref: name,
          expected: Option.fromNullable(from),
          actual: Option.fromNullable(outcome.actual)
        })
      )
    case "Refused":
    case "Unknown":
      return Effect.fail<ServerFailure | AmbiguousWriteError>(outcome.failure)
  }
}

/** Moving refs of the server without commits: branches that are made, deleted and moved forward. */
export const make = ({
  engine,
  pace,
  place,
  push,
  sight
}: RefMovesOptions): Required<Pick<Repository<ServerFailure>, "updateRef" | "updateRefs">> => {
  /** Runs an effect when every commit that was queued for these refs has been pushed. */
  const inTurns = <A, E>(moves: ReadonlyArray<Move>, effect: Effect.Effect<A, E>) =>
    [...new Set(moves.map(({ name }) => name))]
      .sort()
      .reduceRight<Effect.Effect<A, E | RemoteError>>(
        (inner, name) => engine.inTurn(name, () => inner),
        effect
      )

  const moveRefs = (moves: ReadonlyArray<Move>, atomic: boolean) =>
    Effect.gen(function* () {
      const outcomes = yield* inTurns(moves, Effect.zipRight(pace.began, push(moves, undefined, { atomic })))
      sight.pushed()
      for (const [at, { name, to }] of moves.entries()) {
        if (!name.startsWith(branchRef(""))) continue
        const branch = name.slice(branchRef("").length)
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

  return {
    updateRef: (name, expected, next, how) =>
      moveRefs([moveOf({ name, expected, next }, how?.unique === true)], false),

    updateRefs: (updates) =>
      Effect.catchTag(
        moveRefs(
          // `Push` judges refs that move together by all of their places.
          updates.map((update) => ({ ...moveOf(update, false), unique: false })),
          true
        ),
        "RemoteError",
        (error) =>
          error.reason === "Denied" && updates.some(({ next }) => Option.isNone(next))
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
