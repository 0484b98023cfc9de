import { Cause, Effect, Option } from "effect"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { RemoteError, ValidationError } from "../../domain/errors/StoreError.js"
import { Problem } from "./reply/Problem.js"
import type { Failure } from "./request/Route.js"

const full = new Problem({
  status: 507,
  message: "The disk of this server is full: nothing can be written until there is space again."
})

const readOnly = new Problem({ status: 503, message: "The disk of this server is read-only." })

const storage: ReadonlyMap<unknown, Problem> = new Map([
  ["ENOSPC", full],
  ["EDQUOT", full],
  ["EROFS", readOnly]
])

/** What the disk said, of an error or of what caused it; Git's own programs say it in words. */
const storageProblem = (failure: unknown): Problem | undefined => {
  for (let error = failure; error instanceof Error; error = error.cause) {
    const known = storage.get((error as NodeJS.ErrnoException).code)
    if (known !== undefined) return known
    if (/: No space left on device/.test(error.message)) return full
  }
  return undefined
}

/** Whatever went wrong, as GitHub would tell it; what nobody expected is logged. Interruption stays interruption. */
export const fromCause = (cause: Cause.Cause<Failure>): Effect.Effect<Problem> => {
  const failure = Cause.failureOption(cause)
  if (Option.isSome(failure)) return fromFailure(failure.value)
  if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  return Effect.as(
    Effect.logError("A request met a defect", cause),
    new Problem({ status: 500, message: "Server Error" })
  )
}

const fromFailure = (failure: Failure): Effect.Effect<Problem> => {
  if (failure instanceof Problem) return Effect.succeed(failure)
  if (failure instanceof RefMoved)
    return Effect.succeed(new Problem({ status: 409, message: failure.message }))
  if (failure instanceof ValidationError)
    return Effect.succeed(new Problem({ status: 422, message: failure.message }))
  const busy = failure instanceof RemoteError && (failure.reason === "Locked" || failure.reason === "Timeout")
  return Effect.as(
    Effect.logError("A request failed", failure),
    storageProblem(failure) ?? new Problem({ status: busy ? 503 : 502, message: "Server Error" })
  )
}
