import { Effect, Option } from "effect"
import { RemoteError, type ValidationError } from "../../../domain/errors/StoreError.js"
import { notFound, Problem } from "../reply/Problem.js"
import type { Named } from "./Repositories.js"

/** Whether what went wrong with a repository is so for as long as the repository is what it is. */
const isUnservable = (error: Problem | RemoteError | ValidationError): boolean =>
  error instanceof RemoteError && (error.reason === "Unsupported" || error.reason === "Corrupt")

/**
 * What a list shows of one repository; none of one that was removed since the list was made, or that is damaged or in a
 * format that is not served: it is no reason to hide the others.
 */
export const shown = <A, E extends Problem | RemoteError | ValidationError, R>(
  { fullName }: Named,
  show: Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.catchAll(Effect.asSome(show), (error) =>
    error instanceof Problem && error.status === notFound.status
      ? Effect.succeedNone
      : isUnservable(error)
        ? Effect.as(Effect.logWarning(`${fullName} is left out of a list`, error), Option.none())
        : Effect.fail(error)
  )
