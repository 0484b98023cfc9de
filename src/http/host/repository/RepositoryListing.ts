import { Effect, Option } from "effect"
import { RemoteError, type ValidationError } from "../../../domain/errors/StoreError.js"
import { HostError, notFound } from "../reply/HostError.js"
import type { RepositoryInfo } from "./Repositories.js"

/** Whether what went wrong with a repository is so for as long as the repository is what it is. */
const isUnservable = (error: HostError | RemoteError | ValidationError): boolean =>
  error instanceof RemoteError && (error.reason === "Unsupported" || error.reason === "Corrupt")

/**
 * What a list shows of one repository; none of one that was removed since the list was made, or that is damaged or in a
 * format that is not served: it is no reason to hide the others.
 */
export const shownOrOmitted = <A, E extends HostError | RemoteError | ValidationError, R>(
  { fullName }: RepositoryInfo,
  show: Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.catchAll(Effect.asSome(show), (error) =>
    error instanceof HostError && error.status === notFound.status
      ? Effect.succeedNone
      : isUnservable(error)
        ? Effect.as(Effect.logWarning(`${fullName} is left out of a list`, error), Option.none())
        : Effect.fail(error)
  )
