import { Effect, Option } from "effect"
import { RemoteError, type ValidationError } from "../../../domain/errors/StoreError.js"
import { HostError, notFound } from "../reply/HostError.js"
import type { RepositoryInfo } from "./Repositories.js"

/** Whether the failure is permanent: the repository is damaged or has an unsupported format. */
const isUnservable = (error: HostError | RemoteError | ValidationError): boolean =>
  error instanceof RemoteError && (error.reason === "Unsupported" || error.reason === "Corrupt")

/**
 * The list entry of one repository. None if the repository was removed since, is damaged, or has an unsupported
 * format, so that it does not break the list.
 */
export const shownOrOmitted = <A, E extends HostError | RemoteError | ValidationError, R>(
  { fullName }: RepositoryInfo,
  show: Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.catchAll(Effect.asSome(show), (error) =>
    error instanceof HostError && error.status === notFound.status
      ? Effect.succeedNone
      : isUnservable(error)
        ? Effect.as(Effect.logWarning(`${fullName} is omitted from a list`, error), Option.none())
        : Effect.fail(error)
  )
