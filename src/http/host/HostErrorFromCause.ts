import { Cause, Effect, Option } from "effect"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { RemoteError, ValidationError } from "../../domain/errors/StoreError.js"
import { HostError } from "./reply/HostError.js"
import type { HandlerFailure } from "./request/Route.js"

const diskFull = new HostError({
  status: 507,
  message: "The server's disk is full. Nothing can be written until space is freed."
})

const readOnly = new HostError({ status: 503, message: "The server's disk is read-only." })

const storageErrors: ReadonlyMap<unknown, HostError> = new Map([
  ["ENOSPC", diskFull],
  ["EDQUOT", diskFull],
  ["EROFS", readOnly]
])

/**
 * The error of a full or read-only disk, found in the cause chain of a failure. Git processes report it only as text.
 */
const storageError = (failure: unknown): HostError | undefined => {
  for (let error = failure; error instanceof Error; error = error.cause) {
    const reason = storageErrors.get((error as NodeJS.ErrnoException).code)
    if (reason !== undefined) return reason
    if (/: No space left on device/.test(error.message)) return diskFull
  }
  return undefined
}

/**
 * Converts the cause of a failed request to a `HostError` as GitHub reports it. Unexpected failures are logged.
 * Interruption stays interruption.
 */
export const fromCause = (cause: Cause.Cause<HandlerFailure>): Effect.Effect<HostError> => {
  const failure = Cause.failureOption(cause)
  if (Option.isSome(failure)) return fromFailure(failure.value)
  if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  return Effect.as(
    Effect.logError("A request failed with a defect", cause),
    new HostError({ status: 500, message: "Server Error" })
  )
}

const fromFailure = (failure: HandlerFailure): Effect.Effect<HostError> => {
  if (failure instanceof HostError) return Effect.succeed(failure)
  if (failure instanceof RefMoved)
    return Effect.succeed(new HostError({ status: 409, message: failure.message }))
  if (failure instanceof ValidationError)
    return Effect.succeed(new HostError({ status: 422, message: failure.message }))
  const busy = failure instanceof RemoteError && (failure.reason === "Locked" || failure.reason === "Timeout")
  return Effect.as(
    Effect.logError("A request failed", failure),
    storageError(failure) ?? new HostError({ status: busy ? 503 : 502, message: "Server Error" })
  )
}
