import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { AmbiguousWriteError } from "../../../../domain/errors/StoreError.js"
import { type ApiFailure, isAmbiguous } from "./ApiFailure.js"
import type { CallFailure } from "./Client.js"
import { ambiguous, type ErrorContext } from "./ErrorTranslation.js"
import { timeLeft } from "./OperationContext.js"
import type { Settings } from "./Options.js"
import { waitFor, whileReplicaLags, whileReplicaLagsBriefly } from "./Retry.js"

/** What a check of the host proves of a write whose reply was lost or doubtful. */
export type Proof<A, E> =
  | { readonly _tag: "Done"; readonly value: A }
  | { readonly _tag: "NotDone"; readonly refusal: E }
  | {
      readonly _tag: "Unproved"
      /** A stale replica would reply the same: a later check may prove more. */
      readonly stale: boolean
      /** The host still shows the base of the write. Sending the request once more decides. */
      readonly unchanged?: boolean | undefined
      /** The error if no later check proves more and no reply was lost. */
      readonly refusal?: E | undefined
    }

/** How to treat a refusal that is the first reply. A proxy may have delivered the request twice, with the first reply lost. */
export interface RefusalHandling<E> {
  /** `never`: the refusal is final. `once`, `whileReplicasLag`: the host is checked once, or repeatedly. */
  readonly check: "never" | "once" | "whileReplicasLag"
  /** The error if the check proves nothing. Default: `AmbiguousWriteError`. */
  readonly otherwise?: E | CallFailure | undefined
}

/** One write of a carrier. */
export interface WriteAttempt<A, E> {
  readonly context: ErrorContext
  /** Sends the request. A second delivery has no further effect. */
  readonly send: Effect.Effect<A, CallFailure | E>
  /** Checks the host for the effect of the write. `lost`: whether a reply was lost. */
  readonly check: (lost: boolean, refusal: ApiFailure) => Effect.Effect<Proof<A, E>, CallFailure>
  readonly onRefusal: (failure: ApiFailure) => RefusalHandling<E>
}

const done = <A>(value: A): Proof<A, never> => ({ _tag: "Done", value })
const notDone = <E>(refusal: E): Proof<never, E> => ({ _tag: "NotDone", refusal })
const unchanged: Proof<never, never> = { _tag: "Unproved", stale: true, unchanged: true }
const stale = <E = never>(refusal?: E): Proof<never, E> => ({ _tag: "Unproved", stale: true, refusal })
const elsewhere = <E>(refusal: E): Proof<never, E> => ({ _tag: "Unproved", stale: false, refusal })

/** Constructors of proofs. `unchanged`, `stale`: a later check may prove more. `elsewhere`: no check can. */
export const Proof = { done, notDone, unchanged, stale, elsewhere }

const isFailure = (error: unknown): error is ApiFailure =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "ApiFailure"

const unproved = (context: ErrorContext, lost: ApiFailure | undefined, refusal: ApiFailure) =>
  lost !== undefined
    ? ambiguous(context, lost)
    : new AmbiguousWriteError({
        ...context,
        message: `the write was refused (${refusal.message}), and whether an earlier delivery of the request took effect could not be told`,
        hint: "read the document before writing it again",
        status: refusal.status,
        cause: refusal.cause
      })

/**
 * Sends a write that takes effect at most once. A request whose reply is lost is sent again. A refusal after that is final
 * only if a check of the host proves that the write did not happen. A write without proof is an `AmbiguousWriteError`.
 */
export const writeOnce = <A, E extends { readonly _tag: string }>(
  settings: Pick<Settings, "maxRetries" | "maxWait" | "backoffFactor">,
  { check, context, onRefusal, send }: WriteAttempt<A, E>
): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> => {
  const prove = (
    lost: boolean,
    refusal: ApiFailure,
    patient: boolean
  ): Effect.Effect<Proof<A, E>, CallFailure> =>
    check(lost, refusal).pipe(
      Effect.flatMap((proof) =>
        patient && proof._tag === "Unproved" && proof.stale ? Effect.fail(proof) : Effect.succeed(proof)
      ),
      Effect.retry({
        schedule: lost ? whileReplicaLags : whileReplicaLagsBriefly,
        while: (error) =>
          error._tag === "Unproved" ? Effect.map(timeLeft, (left) => left > 2_000) : Effect.succeed(false)
      }),
      Effect.catchIf(
        (error) => error._tag === "Unproved",
        (proof) => Effect.succeed(proof)
      )
    )

  const settle = (
    lost: ApiFailure | undefined,
    refusal: ApiFailure,
    { check: mode, otherwise }: RefusalHandling<E>
  ): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> =>
    prove(lost !== undefined, refusal, mode === "whileReplicasLag").pipe(
      Effect.mapError(() => unproved(context, lost, refusal)),
      Effect.flatMap((proof): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> => {
        if (proof._tag === "Done") return Effect.succeed(proof.value)
        if (proof._tag === "NotDone") return Effect.fail(proof.refusal)
        const last = lost === undefined ? (proof.refusal ?? otherwise) : undefined
        if (last !== undefined) return Effect.fail(last)
        const uncertain = unproved(context, lost, refusal)
        return proof.unchanged === true ? Effect.mapError(send, () => uncertain) : Effect.fail(uncertain)
      })
    )

  /** Waits before the request is sent again; false if there is no time left. */
  const wait = (count: number, lost: ApiFailure) =>
    waitFor(settings, lost, Duration.toMillis(settings.backoffFactor) * 2 ** count)

  const untilProved: RefusalHandling<E> = { check: "whileReplicasLag" }

  const attempt = (
    count: number,
    lost: ApiFailure | undefined
  ): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> =>
    Effect.catchAll(send, (error): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> => {
      if (isFailure(error) && isAmbiguous(error)) {
        if (count >= settings.maxRetries) return settle(error, error, untilProved)
        return Effect.flatMap(wait(count, error), (inTime) =>
          inTime ? attempt(count + 1, error) : settle(error, error, untilProved)
        )
      }
      if (lost !== undefined) return settle(lost, lost, untilProved)
      if (!isFailure(error)) return Effect.fail(error)
      const refusal = onRefusal(error)
      return refusal.check === "never"
        ? Effect.fail(refusal.otherwise ?? error)
        : settle(undefined, error, refusal)
    })

  return attempt(0, undefined)
}
