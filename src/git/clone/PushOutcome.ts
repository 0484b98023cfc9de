import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { AmbiguousWriteError, RemoteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { actualOid, isLocked, type PushCommand, type PushReport } from "../protocol/ReceivePack.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { Origin } from "./Origin.js"

/** A requested move of a ref. */
export interface RefMove extends PushCommand {
  /** Whether nobody else can move the ref to the same commit. A ref that is there already was then moved by this push. */
  readonly unique: boolean
}

/** The outcome of a push for one ref. */
export type Outcome =
  | { readonly _tag: "Done" }
  /** The ref is at another commit, and this push did not move it. */
  | { readonly _tag: "Moved"; readonly actual: Oid | undefined }
  /** The server refused the move or could not be reached. This push did not move the ref. */
  | { readonly _tag: "Refused"; readonly failure: ServerFailure }
  | { readonly _tag: "Unknown"; readonly failure: AmbiguousWriteError }

/** Which of two commits is met first in the history of a head: the pushed commit or the base that it was built on. */
export type FirstMet = "commit" | "base" | "neither"

/** Fails if the ref was not moved. */
export const failUnlessDone = (
  outcome: Outcome,
  { from, name }: RefMove
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

export interface OutcomeOptions {
  readonly url: string
  readonly origin: Pick<Origin, "listRefs">
  /** Which of `commit` and `base` is met first in the history of `head`. */
  readonly firstMet: (head: Oid, commit: Oid, base: Oid | undefined) => Effect.Effect<FirstMet, ServerFailure>
}

const operation = "GitHost.push"

export const done: Outcome = { _tag: "Done" }
const moved = (actual: Oid | undefined): Outcome => ({ _tag: "Moved", actual })
export const refused = (failure: ServerFailure): Outcome => ({ _tag: "Refused", failure })

/** Determines the outcome of a push from its report, from the current refs and from their histories. */
export const makeOutcomes = ({ firstMet, origin, url }: OutcomeOptions) => {
  const denied = (move: RefMove, reason: string, { messages, unpack }: PushReport) => {
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

  const unknown = (move: RefMove, because: string, cause: unknown): Outcome => ({
    _tag: "Unknown",
    failure: new AmbiguousWriteError({
      operation,
      path: url,
      message: `it is unknown whether ${move.name} was moved: ${because}`,
      hint: "look at the branch before writing again",
      cause
    })
  })

  const lookUp = (move: RefMove): Effect.Effect<Oid | undefined, ServerFailure> =>
    Effect.map(origin.listRefs([move.name]), (refs) => refs.find(({ name }) => name === move.name)?.oid)

  /** Decides by the current head of the ref. `lost` is set if one delivery of the push may have taken effect. */
  const outcomeAt = (
    move: RefMove,
    head: Oid | undefined,
    lost: RemoteError | undefined,
    refusal: Outcome
  ): Effect.Effect<Outcome, ServerFailure> => {
    if (head === move.to && (move.unique || lost !== undefined)) return Effect.succeed(done)
    if (head === move.from) {
      // A replica that is behind would report the same head.
      return Effect.succeed(lost === undefined ? refusal : unknown(move, lost.message, lost))
    }
    if (move.to === undefined || head === undefined) {
      return Effect.succeed(lost === undefined ? moved(head) : unknown(move, "the ref is gone", lost))
    }
    if (!move.unique && lost === undefined) return Effect.succeed(moved(head))
    return Effect.map(firstMet(head, move.to, move.from), (met) => {
      if (met === "commit") return done
      return met === "base" || lost === undefined
        ? moved(head)
        : unknown(move, `it is at ${head}, which does not descend from ${move.from ?? "nothing"}`, lost)
    })
  }

  /** Determines the outcome of a move that was not confirmed. `reportedHead` is the head that the refusal named. */
  const resolve = (
    move: RefMove,
    reportedHead: Oid | undefined,
    lost: RemoteError | undefined,
    refusal: Outcome
  ): Effect.Effect<Outcome> =>
    Effect.flatMap(reportedHead === undefined ? lookUp(move) : Effect.succeed(reportedHead), (head) =>
      outcomeAt(move, head, lost, refusal)
    ).pipe(
      Effect.catchAll((failure) =>
        Effect.succeed(
          lost === undefined && refusal._tag !== "Refused"
            ? refused(failure)
            : unknown(move, failure.message, failure)
        )
      )
    )

  /** Determines the outcome of a move from a report. */
  const fromReport = (
    report: PushReport,
    move: RefMove,
    lost: RemoteError | undefined
  ): Effect.Effect<Outcome> => {
    const reason = report.unpack ?? report.refs.get(move.name)
    if (reason !== undefined) {
      const actual = actualOid(move.name, reason, report.messages)
      return resolve(move, actual, lost, refused(denied(move, reason, report)))
    }
    if (report.refs.has(move.name)) return Effect.succeed(done)
    const unreported = new RemoteError({
      operation,
      reason: "Corrupt",
      path: url,
      message: `the server's report leaves out ${move.name}`
    })
    return resolve(move, undefined, lost ?? unreported, refused(unreported))
  }

  return {
    resolve,
    fromReport,
    /** Whether a ref was not moved because another process holds its lock on the server. */
    isRefLocked: ({ messages, refs, unpack }: PushReport, { name }: RefMove): boolean =>
      unpack === undefined && isLocked(name, refs.get(name) ?? "", messages)
  } as const
}
