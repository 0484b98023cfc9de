import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AuthError } from "../../../../domain/errors/StoreError.js"
import type * as Api from "../api/Api.js"
import { ApiFailure } from "./ApiFailure.js"
import type { HeaderRecord } from "./LimitHeaders.js"

type Failure = ApiFailure | AuthError

/** What the API tells of the repository, and of the token beside it. */
interface Repository {
  readonly value: Option.Option<typeof Api.getRepository.reply.Type>
  readonly headers: HeaderRecord
}

/** What keeps the token from writing to a repository that it may read, as far as the answer tells. */
const lackOf = ({ headers, value }: Repository): string | undefined => {
  // Told of classic tokens alone. The permissions beside it are the user's own, whatever the token may do.
  const scopes = headers["x-oauth-scopes"]
  if (scopes !== undefined && !/\b(public_)?repo\b/.test(scopes)) {
    return "the token needs the scope repo (a fine-grained one: the permission Contents: Read and write)"
  }
  return Option.getOrUndefined(value)?.permissions?.push === false
    ? "the token's owner may read this repository and not write to it"
    : undefined
}

/** "Not Found" without a word of what is missing: how GitHub refuses a write that the token has no right to. */
const isBare = (error: Failure) =>
  error._tag === "ApiFailure" && error.kind === "Missing" && /^not found$/i.test(error.message)

/**
 * Tells a write that was refused for want of a right from one of something missing. Until a write has succeeded or the
 * rights were seen, the repository is asked.
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
