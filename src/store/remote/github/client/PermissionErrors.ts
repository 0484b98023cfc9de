import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AuthError } from "../../../../domain/errors/StoreError.js"
import type * as Api from "../api/Api.js"
import { ApiFailure } from "./ApiFailure.js"
import type { HeaderRecord } from "./LimitHeaders.js"

type Failure = ApiFailure | AuthError

/** The reply that describes the repository, whose headers describe the token. */
interface Repository {
  readonly value: Option.Option<typeof Api.getRepository.reply.Type>
  readonly headers: HeaderRecord
}

/** The missing permission of a token that can read but not write, if the reply shows it. */
const lackOf = ({ headers, value }: Repository): string | undefined => {
  // Only classic tokens have this header. `permissions` are those of the user, not of the token.
  const scopes = headers["x-oauth-scopes"]
  if (scopes !== undefined && !/\b(public_)?repo\b/.test(scopes)) {
    return "the token needs the scope repo (a fine-grained one: the permission Contents: Read and write)"
  }
  return Option.getOrUndefined(value)?.permissions?.push === false
    ? "the token's owner may read this repository and not write to it"
    : undefined
}

/** A plain "Not Found", which is how GitHub refuses a write without permission. */
const isBare = (error: Failure) =>
  error._tag === "ApiFailure" && error.kind === "Missing" && /^not found$/i.test(error.message)

/**
 * Distinguishes a missing permission from a missing object when a write is refused. Reads the repository for that, until a
 * write has succeeded or the permissions were seen.
 */
export const makePermissionErrors = (repository: Effect.Effect<Repository, Failure>) => {
  let proven = false
  return <A>(write: Effect.Effect<A, Failure>): Effect.Effect<A, Failure> =>
    Effect.tapBoth(write, {
      onSuccess: () =>
        Effect.sync(() => {
          proven = true
        }),
      onFailure: (error) => {
        if (proven || error._tag !== "ApiFailure" || !isBare(error)) return Effect.void
        return Effect.flatMap(Effect.option(repository), (found) => {
          const hint = Option.getOrUndefined(Option.flatMapNullable(found, lackOf))
          proven = Option.isSome(found) && hint === undefined
          return hint === undefined
            ? Effect.void
            : Effect.fail(new ApiFailure({ ...error, message: error.message, kind: "Forbidden", hint }))
        })
      }
    })
}
