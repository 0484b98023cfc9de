import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { AmbiguousWriteError, RemoteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { type Command, isLocked, movedTo, type Report } from "../protocol/ReceivePack.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { Origin } from "./Origin.js"

/** A ref that is to move. */
export interface Move extends Command {
  /** Whether it counts as moved where it already is there: a proxy may have delivered the push before. */
  readonly unique: boolean
}

/** What became of one ref. */
export type Outcome =
  | { readonly _tag: "Done" }
  /** It is elsewhere, and this push has not moved it. */
  | { readonly _tag: "Moved"; readonly actual: Oid | undefined }
  /** The server would not, or cannot be asked: it has not moved. */
  | { readonly _tag: "Refused"; readonly failure: ServerFailure }
  | { readonly _tag: "Unknown"; readonly failure: AmbiguousWriteError }

/** What is met first on the way back from a head. */
export type Reached = "above" | "base" | "neither"

/** Fails as an outcome says that a ref did not move. */
export const failed = (
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

export interface JudgeOptions {
  readonly url: string
  readonly origin: Pick<Origin, "refs">
  /** How a commit stands to a later head: `above` and `base` are told apart on the way back from the head. */
  readonly reaches: (head: Oid, above: Oid, base: Oid | undefined) => Effect.Effect<Reached, ServerFailure>
}

const operation = "GitHost.push"

export const done: Outcome = { _tag: "Done" }
const moved = (actual: Oid | undefined): Outcome => ({ _tag: "Moved", actual })
export const refused = (failure: ServerFailure): Outcome => ({ _tag: "Refused", failure })

/** Tells what became of the refs of a push from its report, from where they are, and from their histories. */
export const makeJudge = ({ origin, reaches, url }: JudgeOptions) => {
  const denied = (move: Move, reason: string, { messages, unpack }: Report) => {
    const locked = isLocked(move.name, reason, messages)
    return new RemoteError({
      operation,
      reason: locked ? "Locked" : "Denied",
      path: url,
      message: [
        `the server refused to move ${move.name}: ${reason || (unpack ?? "it gives no reason")}`,
        messages
      ]
        .filter((text) => text !== "")
        .join("\n"),
      hint: locked
        ? "another push holds the lock, or was killed with it: then remove the file on the server"
        : "its hooks and its protected branches decide what may be pushed"
    })
  }

  const unknown = (move: Move, because: string, cause: unknown): Outcome => ({
    _tag: "Unknown",
    failure: new AmbiguousWriteError({
      operation,
      path: url,
      message: `whether ${move.name} was moved could not be told: ${because}`,
      hint: "look at the branch before writing again",
      cause
    })
  })

  const look = (move: Move): Effect.Effect<Oid | undefined, ServerFailure> =>
    Effect.map(origin.refs([move.name]), (refs) => refs.find(({ name }) => name === move.name)?.oid)

  /** What the place of a ref proves of a push. `lost`: one delivery of it may have taken effect. */
  const judged = (
    move: Move,
    head: Oid | undefined,
    lost: RemoteError | undefined,
    refusal: Outcome
  ): Effect.Effect<Outcome, ServerFailure> => {
    if (head === move.to && (move.unique || lost !== undefined)) return Effect.succeed(done)
    if (head === move.from) {
      // A machine that is behind would show the same.
      return Effect.succeed(lost === undefined ? refusal : unknown(move, lost.message, lost))
    }
    if (move.to === undefined || head === undefined) {
      return Effect.succeed(lost === undefined ? moved(head) : unknown(move, "it is gone", lost))
    }
    if (!move.unique && lost === undefined) return Effect.succeed(moved(head))
    return Effect.map(reaches(head, move.to, move.from), (reached) => {
      if (reached === "above") return done
      return reached === "base" || lost === undefined
        ? moved(head)
        : unknown(move, `it is at ${head}, which does not descend from ${move.from ?? "nothing"}`, lost)
    })
  }

  const settle = (
    move: Move,
    told: Oid | undefined,
    lost: RemoteError | undefined,
    refusal: Outcome
  ): Effect.Effect<Outcome> =>
    Effect.flatMap(told === undefined ? look(move) : Effect.succeed(told), (head) =>
      judged(move, head, lost, refusal)
    ).pipe(
      Effect.catchAll((failure) =>
        Effect.succeed(
          lost === undefined && refusal._tag !== "Refused"
            ? refused(failure)
            : unknown(move, failure.message, failure)
        )
      )
    )

  const reported = (report: Report, move: Move, lost: RemoteError | undefined): Effect.Effect<Outcome> => {
    const reason =
      report.unpack ?? (report.refs.has(move.name) ? report.refs.get(move.name) : "no report of it")
    return reason === undefined
      ? Effect.succeed(done)
      : settle(move, movedTo(move.name, reason, report.messages), lost, refused(denied(move, reason, report)))
  }

  return {
    settle,
    reported,
    /** Whether a ref did not move because somebody else holds its lock on the server. */
    isHeld: ({ messages, refs, unpack }: Report, { name }: Move): boolean =>
      unpack === undefined && isLocked(name, refs.get(name) ?? "", messages)
  } as const
}
