import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { Advertisement } from "../protocol/Advertisement.js"
import { joined } from "../protocol/PktLine.js"
import { commandsOf, parseReport, pushCapabilities } from "../protocol/ReceivePack.js"
import { LostReply, type ServerFailure, type Transport, translated } from "../protocol/Transport.js"
import type { Origin } from "./Origin.js"
import { done, type JudgeOptions, type Move, makeJudge, type Outcome, refused } from "./PushOutcome.js"
import { makePost } from "./PushPost.js"

export interface PushOptions extends JudgeOptions {
  readonly transport: Transport
  readonly origin: Origin
  readonly agent: string
  /** Deliveries after the first one whose reply was lost. */
  readonly maxRetries: number
  /** A pack without objects: what a push has that only moves refs. */
  readonly emptyPack: () => ReadonlyArray<Uint8Array>
}

const operation = "GitHost.push"

/** A push that is delivered, again where that may help. */
interface Delivery {
  readonly sideBand: boolean
  readonly atomic: boolean
  readonly bodyOf: (moves: ReadonlyArray<Move>) => Uint8Array
}

/** Before the same push is sent once more. */
const pause = (attempt: number) => Effect.sleep(Math.min(200 * 2 ** attempt, 5_000))

export type Push = Effect.Effect.Success<ReturnType<typeof make>>

/**
 * Pushes, and tells truly what became of each ref. A push whose reply is lost is sent again: it names where its refs
 * are expected, so it takes effect once. A refusal after that is believed only where the history of the ref proves it.
 */
export const make = ({ agent, emptyPack, transport, maxRetries, origin, reaches, url }: PushOptions) =>
  Effect.gen(function* () {
    const { isHeld, reported, settle } = makeJudge({ url, origin, reaches })
    const post = makePost({ transport, url, origin })

    const deliver = (
      delivery: Delivery,
      moves: ReadonlyArray<Move>,
      attempt: number,
      lost: RemoteError | undefined
    ): Effect.Effect<ReadonlyArray<Outcome>> =>
      post(delivery.bodyOf(moves)).pipe(
        Effect.flatMap((bytes) =>
          Effect.try({
            try: () => parseReport(bytes, delivery.sideBand),
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
          onSuccess: (report): Effect.Effect<ReadonlyArray<Outcome>> => {
            const held = moves.filter((move) => isHeld(report, move))
            if (held.length === 0 || attempt >= maxRetries) {
              return Effect.forEach(moves, (move) => reported(report, move, lost))
            }
            // Another push may be moving them, or this one, whose reply was lost.
            const again = delivery.atomic ? moves : held
            return Effect.zipWith(
              Effect.forEach(moves, (move) =>
                again.includes(move) ? Effect.succeed(undefined) : reported(report, move, lost)
              ),
              Effect.zipRight(pause(attempt), deliver(delivery, again, attempt + 1, lost)),
              (now, later) => moves.map((move, at) => now[at] ?? later[again.indexOf(move)]!)
            )
          },
          onFailure: (failure): Effect.Effect<ReadonlyArray<Outcome>> => {
            const isLost = failure instanceof LostReply
            const reason = isLost ? failure.failure : failure
            const doubt = isLost && failure.isSent ? failure.failure : lost
            if (isLost && attempt < maxRetries) {
              return Effect.zipRight(pause(attempt), deliver(delivery, moves, attempt + 1, doubt))
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
              {
                sideBand: asked.includes("side-band-64k"),
                atomic: options.atomic,
                bodyOf: (some) => joined([commandsOf(some, asked), ...chunks])
              },
              moves,
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
