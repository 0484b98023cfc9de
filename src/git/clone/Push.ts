import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { Advertisement } from "../protocol/Advertisement.js"
import { concatBytes } from "../protocol/PktLine.js"
import { encodeCommands, parseReport, pushCapabilities } from "../protocol/ReceivePack.js"
import { LostReply, type ServerFailure, type Transport, toRemoteError } from "../protocol/Transport.js"
import type { Origin } from "./Origin.js"
import {
  done,
  makeOutcomes,
  type Outcome,
  type OutcomeOptions,
  type RefMove,
  refused
} from "./PushOutcome.js"
import { makePushRequest } from "./PushRequest.js"

export interface PushOptions extends OutcomeOptions {
  readonly transport: Transport
  readonly origin: Origin
  readonly agent: string
  /** The number of times a push is repeated after a lost reply. */
  readonly maxRetries: number
  /** A pack without objects, for a push that only moves refs. */
  readonly emptyPack: () => ReadonlyArray<Uint8Array>
}

const operation = "GitHost.push"

/** A push that may be sent several times. */
interface Delivery {
  readonly sideBand: boolean
  readonly atomic: boolean
  readonly bodyOf: (moves: ReadonlyArray<RefMove>) => Uint8Array
}

const backoff = (attempt: number) => Effect.sleep(Math.min(200 * 2 ** attempt, 5_000))

export type Push = Effect.Effect.Success<ReturnType<typeof make>>

/**
 * Pushes, and determines the outcome for each ref. A push whose reply is lost is sent again. It names the expected head of each
 * ref, so it takes effect at most once. A refusal after a lost reply counts only if the history of the ref proves it.
 */
export const make = ({ agent, emptyPack, firstMet, maxRetries, origin, transport, url }: PushOptions) =>
  Effect.gen(function* () {
    const { fromReport, isRefLocked, resolve } = makeOutcomes({ url, origin, firstMet })
    const sendRequest = makePushRequest({ transport, url, origin })

    const deliver = (
      delivery: Delivery,
      moves: ReadonlyArray<RefMove>,
      attempt: number,
      lost: RemoteError | undefined
    ): Effect.Effect<ReadonlyArray<Outcome>> =>
      sendRequest(delivery.bodyOf(moves)).pipe(
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
            const locked = moves.filter((move) => isRefLocked(report, move))
            if (locked.length === 0 || attempt >= maxRetries) {
              return Effect.forEach(moves, (move) => fromReport(report, move, lost))
            }
            // The lock belongs to another push, or to an earlier delivery of this one whose reply was lost.
            const repeated = delivery.atomic ? moves : locked
            return Effect.zipWith(
              Effect.forEach(moves, (move) =>
                repeated.includes(move) ? Effect.succeed(undefined) : fromReport(report, move, lost)
              ),
              Effect.zipRight(backoff(attempt), deliver(delivery, repeated, attempt + 1, lost)),
              (now, later) => moves.map((move, at) => now[at] ?? later[repeated.indexOf(move)]!)
            )
          },
          onFailure: (failure): Effect.Effect<ReadonlyArray<Outcome>> => {
            const isLost = failure instanceof LostReply
            const reason = isLost ? failure.failure : failure
            const newestLost = isLost && failure.isSent ? failure.failure : lost
            if (isLost && attempt < maxRetries) {
              return Effect.zipRight(backoff(attempt), deliver(delivery, moves, attempt + 1, newestLost))
            }
            return newestLost === undefined
              ? Effect.succeed(moves.map(() => refused(reason)))
              : Effect.forEach(moves, (move) => resolve(move, undefined, newestLost, refused(reason)))
          }
        })
      )

    /**
     * Some servers report `ok` for an update that they refused, so that a stale write would be acknowledged and lost
     * (Dulwich 0.21). The probe updates a branch that does not exist, from a commit to the same commit: a correct server
     * refuses it, and it changes nothing. Stock Git is known to refuse it and is not probed; the agent of GitHub names Git.
     */
    const probe = (receivePack: Advertisement): Effect.Effect<void, ServerFailure> =>
      Effect.gen(function* () {
        const [commit] = receivePack.refs.values()
        if (receivePack.capabilities.get("agent")?.startsWith("git/") === true || commit === undefined) return
        const digits = yield* Random.nextIntBetween(0, 2 ** 32)
        const move = { name: `refs/heads/chainstore-probe-${digits.toString(16)}`, from: commit, to: commit }
        const requested = pushCapabilities(agent, receivePack.capabilities, { atomic: false })
        const body = concatBytes([encodeCommands([move], requested), ...emptyPack()])
        const report = yield* sendRequest(body).pipe(
          Effect.mapError((error) => (error instanceof LostReply ? error.failure : error)),
          Effect.flatMap((bytes) =>
            Effect.try({
              try: () => parseReport(bytes, requested.includes("side-band-64k")),
              catch: (error) => toRemoteError(operation, url, error)
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

    const [probed, invalidate] = yield* Effect.cachedInvalidateWithTTL(
      Effect.tap(origin.receivePack, probe),
      "365 days"
    )
    const receivePack = Effect.tapError(probed, () => invalidate)

    /**
     * The outcomes of an atomic push. If every ref is at its new commit in spite of a refusal, a proxy delivered the push twice,
     * and it is done.
     */
    const atomicOutcomes = (moves: ReadonlyArray<RefMove>, outcomes: ReadonlyArray<Outcome>) =>
      outcomes.every(({ _tag }) => _tag === "Done")
        ? Effect.succeed(outcomes)
        : origin.listRefs(moves.map(({ name }) => name)).pipe(
            Effect.map((refs) => new Map(refs.map(({ name, oid }) => [name, oid]))),
            Effect.map((heads) =>
              moves.every(({ name, to }) => heads.get(name) === to) ? moves.map(() => done) : outcomes
            ),
            Effect.orElseSucceed(() => outcomes)
          )

    /** Moves refs; with `atomic` all of them or none. */
    return (
      moves: ReadonlyArray<RefMove>,
      pack: (options: { readonly thin: boolean }) => Effect.Effect<ReadonlyArray<Uint8Array>> = () =>
        Effect.sync(emptyPack),
      options: { readonly atomic: boolean } = { atomic: false }
    ): Effect.Effect<ReadonlyArray<Outcome>> =>
      Effect.flatMap(Effect.either(receivePack), (advertised) => {
        if (advertised._tag === "Left") return Effect.succeed(moves.map(() => refused(advertised.left)))
        const { capabilities } = advertised.right
        const lacks = !capabilities.has("report-status")
          ? "does not report the outcome of a push, so that a write could be lost without notice"
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
        const requested = pushCapabilities(agent, capabilities, options)
        return Effect.flatMap(
          moves.every(({ to }) => to === undefined)
            ? Effect.succeed([])
            : pack({ thin: !capabilities.has("no-thin") }),
          (chunks) =>
            deliver(
              {
                sideBand: requested.includes("side-band-64k"),
                atomic: options.atomic,
                bodyOf: (some) => concatBytes([encodeCommands(some, requested), ...chunks])
              },
              moves,
              0,
              undefined
            )
        ).pipe(
          Effect.flatMap((outcomes) =>
            options.atomic ? atomicOutcomes(moves, outcomes) : Effect.succeed(outcomes)
          )
        )
      })
  })
