import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { AmbiguousWriteError } from "../../../../domain/errors/StoreError.js"
import { type ApiFailure, isAmbiguous } from "./ApiFailure.js"
import type { CallFailure } from "./Client.js"
import { ambiguous, type ErrorContext } from "./ErrorTranslation.js"
import { timeLeft } from "./OperationContext.js"
import type { Settings } from "./Options.js"
import { waitFor, whileReplicaLags, whileReplicaLagsBriefly } from "./Retry.js"

/** What a look at the host proves of a write. */
export type Proof<A, E> =
  | { readonly _tag: "Done"; readonly value: A }
  | { readonly _tag: "NotDone"; readonly refusal: E }
  | {
      readonly _tag: "Unproved"
      /** A machine behind the others would answer this: a later look may prove more. */
      readonly stale: boolean
      /** The write's base is still there to see: where nothing else comes, one more request tells. */
      readonly unchanged?: boolean | undefined
      /** What a refusal means after which nothing more can be seen, where no reply was lost before it. */
      readonly refusal?: E | undefined
    }

/** What a refusal that is the write's first reply is worth: a proxy may have delivered the request before. */
export interface Refusal<E> {
  /** `"never"`: nothing was done. `"once"`, `"patiently"`: the host is looked at, again while replicas may lag. */
  readonly look: "never" | "once" | "patiently"
  /** The error where the look proves nothing. Default: `AmbiguousWriteError`. */
  readonly otherwise?: E | CallFailure | undefined
}

/** One write, as its carrier knows it. */
export interface WriteAttempt<A, E> {
  readonly context: ErrorContext
  /** One request, which has no effect where an earlier delivery of it took effect. */
  readonly send: Effect.Effect<A, CallFailure | E>
  /** `lost`: whether the reply of one delivery was lost. */
  readonly look: (lost: boolean, refusal: ApiFailure) => Effect.Effect<Proof<A, E>, CallFailure>
  readonly refused: (failure: ApiFailure) => Refusal<E>
}

const done = <A>(value: A): Proof<A, never> => ({ _tag: "Done", value })
const notDone = <E>(refusal: E): Proof<never, E> => ({ _tag: "NotDone", refusal })
const unchanged: Proof<never, never> = { _tag: "Unproved", stale: true, unchanged: true }
const stale = <E = never>(refusal?: E): Proof<never, E> => ({ _tag: "Unproved", stale: true, refusal })
const elsewhere = <E>(refusal: E): Proof<never, E> => ({ _tag: "Unproved", stale: false, refusal })

/** Makers of proofs. `unchanged`, `behind`: a later look may prove more. `elsewhere`: no look can. */
export const Proof = { done, notDone, unchanged, behind: stale, elsewhere }

const isFailure = (error: unknown): error is ApiFailure =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "ApiFailure"

const unproved = (place: ErrorContext, lost: ApiFailure | undefined, refusal: ApiFailure) =>
  lost !== undefined
    ? ambiguous(place, lost)
    : new AmbiguousWriteError({
        ...place,
        message: `the write was refused (${refusal.message}), and whether an earlier delivery of the request took effect could not be told`,
        hint: "read the document before writing it again",
        status: refusal.status,
        cause: refusal.cause
      })

/**
 * A write that takes effect at most once and is never reported wrongly: a request whose reply is lost is repeated, and
 * any refusal after that stands only where the carrier's look at the host proves it. What stays unproved is an
 * `AmbiguousWriteError`.
 */
export const writeOnce = <A, E extends { readonly _tag: string }>(
  settings: Pick<Settings, "maxRetries" | "maxWait" | "backoffFactor">,
  { look, context: place, refused, send }: WriteAttempt<A, E>
): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> => {
  const prove = (
    lost: boolean,
    refusal: ApiFailure,
    patient: boolean
  ): Effect.Effect<Proof<A, E>, CallFailure> =>
    look(lost, refusal).pipe(
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
    { look: how, otherwise }: Refusal<E>
  ): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> =>
    prove(lost !== undefined, refusal, how === "patiently").pipe(
      Effect.mapError(() => unproved(place, lost, refusal)),
      Effect.flatMap((proof): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> => {
        if (proof._tag === "Done") return Effect.succeed(proof.value)
        if (proof._tag === "NotDone") return Effect.fail(proof.refusal)
        const last = lost === undefined ? (proof.refusal ?? otherwise) : undefined
        if (last !== undefined) return Effect.fail(last)
        const uncertain = unproved(place, lost, refusal)
        return proof.unchanged === true ? Effect.mapError(send, () => uncertain) : Effect.fail(uncertain)
      })
    )

  /** Before the request is sent again. */
  const wait = (count: number, lost: ApiFailure) =>
    waitFor(settings, lost, Duration.toMillis(settings.backoffFactor) * 2 ** count)

  const patiently: Refusal<E> = { look: "patiently" }

  const attempt = (
    count: number,
    lost: ApiFailure | undefined
  ): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> =>
    Effect.catchAll(send, (error): Effect.Effect<A, CallFailure | E | AmbiguousWriteError> => {
      if (isFailure(error) && isAmbiguous(error)) {
        if (count >= settings.maxRetries) return settle(error, error, patiently)
        return Effect.flatMap(wait(count, error), (inTime) =>
          inTime ? attempt(count + 1, error) : settle(error, error, patiently)
        )
      }
      if (lost !== undefined) return settle(lost, lost, patiently)
      if (!isFailure(error)) return Effect.fail(error)
      const refusal = refused(error)
      return refusal.look === "never"
        ? Effect.fail(refusal.otherwise ?? error)
        : settle(undefined, error, refusal)
    })

  return attempt(0, undefined)
}
