import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Oid } from "../../domain/Oid.js"
import { AmbiguousWriteError, RemoteError } from "../../domain/StoreError.js"
import type { Advertisement } from "../protocol/Advertisement.js"
import { joined } from "../protocol/PktLine.js"
import {
  type Command,
  commandsOf,
  movedTo,
  parseReport,
  pushCapabilities,
  type Report
} from "../protocol/ReceivePack.js"
import { LostReply, type ServerFailure, type Transport, translated } from "../protocol/Transport.js"
import type { Origin } from "./Origin.js"
import { makePost } from "./PushPost.js"

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

export interface PushOptions {
  readonly url: string
  readonly transport: Transport
  readonly origin: Origin
  readonly agent: string
  /** How a commit stands to a later head: `above` and `base` are told apart on the way back from the head. */
  readonly reaches: (head: Oid, above: Oid, base: Oid | undefined) => Effect.Effect<Reached, ServerFailure>
  /** Deliveries after the first one whose reply was lost. */
  readonly maxRetries: number
  /** A pack without objects: what a push has that only moves refs. */
  readonly emptyPack: () => ReadonlyArray<Uint8Array>
}

/** What is met first on the way back from a head. */
export type Reached = "above" | "base" | "neither"

const operation = "GitHost.push"

const done: Outcome = { _tag: "Done" }
const moved = (actual: Oid | undefined): Outcome => ({ _tag: "Moved", actual })
const refused = (failure: ServerFailure): Outcome => ({ _tag: "Refused", failure })

/** Before the same push is sent once more. */
const pause = (attempt: number) => Effect.sleep(Math.min(200 * 2 ** attempt, 5_000))

export type Push = Effect.Effect.Success<ReturnType<typeof make>>

/**
 * Pushes, and tells truly what became of each ref. A push whose reply is lost is sent again: it names where its refs
 * are expected, so it takes effect once. A refusal after that is believed only where the history of the ref proves it.
 */
export const make = ({ agent, emptyPack, transport, maxRetries, origin, reaches, url }: PushOptions) =>
  Effect.gen(function* () {
    const denied = (move: Move, reason: string, { messages, unpack }: Report) =>
      new RemoteError({
        operation,
        reason: "Denied",
        path: url,
        message: [
          `the server refused to move ${move.name}: ${reason || (unpack ?? "it gives no reason")}`,
          messages
        ]
          .filter((text) => text !== "")
          .join("\n"),
        hint: "its hooks and its protected branches decide what may be pushed"
      })

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
        : settle(
            move,
            movedTo(move.name, reason, report.messages),
            lost,
            refused(denied(move, reason, report))
          )
    }

    const post = makePost({ transport, url, origin })

    const deliver = (
      moves: ReadonlyArray<Move>,
      body: Uint8Array,
      sideBand: boolean,
      attempt: number,
      lost: RemoteError | undefined
    ): Effect.Effect<ReadonlyArray<Outcome>> =>
      post(body).pipe(
        Effect.flatMap((bytes) =>
          Effect.try({
            try: () => parseReport(bytes, sideBand),
            catch: (error) =>
              new LostReply(
                new RemoteError({
                  operation,
                  reason: "Corrupt",
                  path: url,
                  message: String(error),
                  cause: error
                })
              )
          })
        ),
        Effect.matchEffect({
          onSuccess: (report) => Effect.forEach(moves, (move) => reported(report, move, lost)),
          onFailure: (failure): Effect.Effect<ReadonlyArray<Outcome>> => {
            const isLost = failure instanceof LostReply
            const reason = isLost ? failure.failure : failure
            const doubt = isLost && failure.isSent ? failure.failure : lost
            if (isLost && attempt < maxRetries) {
              return Effect.zipRight(pause(attempt), deliver(moves, body, sideBand, attempt + 1, doubt))
            }
            return doubt === undefined
              ? Effect.succeed(moves.map(() => refused(reason)))
              : Effect.forEach(moves, (move) => settle(move, undefined, doubt, refused(reason)))
          }
        })
      )

    /**
     * Some servers report `ok` for an update that they have refused, so that a stale write would be acknowledged and lost
     * (Dulwich 0.21). An update of a branch that does not exist, from a commit to the same commit, tells them: it does no
     * harm, and has to be refused. Stock Git, which GitHub's agent names too, is known to refuse it.
     */
    const probed = (receiver: Advertisement): Effect.Effect<void, ServerFailure> =>
      Effect.gen(function* () {
        const [commit] = receiver.refs.values()
        if (receiver.capabilities.get("agent")?.startsWith("git/") === true || commit === undefined) return
        const digits = yield* Random.nextIntBetween(0, 2 ** 32)
        const move = { name: `refs/heads/chainstore-probe-${digits.toString(16)}`, from: commit, to: commit }
        const asked = pushCapabilities(agent, receiver.capabilities, { atomic: false })
        const body = joined([commandsOf([move], asked), ...emptyPack()])
        const report = yield* post(body).pipe(
          Effect.mapError((error) => (error instanceof LostReply ? error.failure : error)),
          Effect.flatMap((bytes) =>
            Effect.try({
              try: () => parseReport(bytes, asked.includes("side-band-64k")),
              catch: (error) => translated(operation, url, error)
            })
          )
        )
        if (report.unpack !== undefined || report.refs.get(move.name) !== undefined) return
        return yield* new RemoteError({
          operation,
          reason: "Unsupported",
          path: url,
          message:
            "the server reports updates as done that it has refused: a write could be lost without notice",
          hint: "use a server that runs Git itself"
        })
      })

    const trusted = yield* Effect.cachedInvalidateWithTTL(Effect.tap(origin.receiver, probed), "365 days")
    const receiver = Effect.tapError(trusted[0], () => trusted[1])

    /** Refs that move together are moved where all of them are where they were to go: a proxy has delivered the push twice. */
    const together = (moves: ReadonlyArray<Move>, outcomes: ReadonlyArray<Outcome>) =>
      outcomes.every(({ _tag }) => _tag === "Done")
        ? Effect.succeed(outcomes)
        : origin.refs(moves.map(({ name }) => name)).pipe(
            Effect.map((refs) => new Map(refs.map(({ name, oid }) => [name, oid]))),
            Effect.map((places) =>
              moves.every(({ name, to }) => places.get(name) === to) ? moves.map(() => done) : outcomes
            ),
            Effect.orElseSucceed(() => outcomes)
          )

    /** Moves refs; with `atomic` all of them or none. */
    return (
      moves: ReadonlyArray<Move>,
      pack: (options: { readonly thin: boolean }) => Effect.Effect<ReadonlyArray<Uint8Array>> = () =>
        Effect.sync(emptyPack),
      options: { readonly atomic: boolean } = { atomic: false }
    ): Effect.Effect<ReadonlyArray<Outcome>> =>
      Effect.flatMap(Effect.either(receiver), (told) => {
        if (told._tag === "Left") return Effect.succeed(moves.map(() => refused(told.left)))
        const { capabilities } = told.right
        const lacks = !capabilities.has("report-status")
          ? "does not report what became of a push, so that a write could be lost without notice"
          : options.atomic && !capabilities.has("atomic")
            ? "cannot move several refs in one step"
            : !capabilities.has("delete-refs") && moves.some(({ to }) => to === undefined)
              ? "deletes no refs"
              : undefined
        if (lacks !== undefined) {
          const failure = new RemoteError({
            operation,
            reason: "Unsupported",
            path: url,
            message: `the server ${lacks}`,
            hint: "use a server that runs Git itself"
          })
          return Effect.succeed(moves.map(() => refused(failure)))
        }
        const asked = pushCapabilities(agent, capabilities, options)
        return Effect.flatMap(
          moves.every(({ to }) => to === undefined)
            ? Effect.succeed([])
            : pack({ thin: !capabilities.has("no-thin") }),
          (chunks) =>
            deliver(
              moves,
              joined([commandsOf(moves, asked), ...chunks]),
              asked.includes("side-band-64k"),
              0,
              undefined
            )
        ).pipe(
          Effect.flatMap((outcomes) =>
            options.atomic ? together(moves, outcomes) : Effect.succeed(outcomes)
          )
        )
      })
  })
