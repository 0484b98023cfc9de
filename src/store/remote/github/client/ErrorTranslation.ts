import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import {
  AmbiguousWriteError,
  AuthError,
  ConflictError,
  NotFoundError,
  RateLimitError,
  RemoteError,
  type RemoteErrorReason,
  ValidationError
} from "../../../../domain/errors/StoreError.js"
import type { RemoteFailure } from "../../GitRemote.js"
import type { ApiFailure, FailureKind } from "./ApiFailure.js"

/** The operation and path of a failure, for its message. */
export interface ErrorContext {
  readonly operation: string
  readonly path?: string | undefined
}

const reasons: { readonly [Kind in FailureKind]?: RemoteErrorReason } = {
  RuleViolation: "Denied",
  NotMergeable: "Denied",
  NoUserAgent: "Denied",
  Redirect: "Unsupported",
  TooLarge: "Unsupported",
  TooMuch: "Unsupported",
  Unreachable: "Unreachable",
  TimedOut: "Timeout",
  Corrupt: "Corrupt"
}

const hints: { readonly [Kind in FailureKind]?: string } = {
  Missing: "check repository and branch; a private repository looks absent to a token without rights on it",
  NotMergeable:
    "look at the page of the pull request: a review or a check may be missing, or merge commits may not be allowed",
  NoUserAgent: "let the header User-Agent through: whatever stands between here and the host removed it",
  TooMuch: "commit fewer or smaller files at once",
  Unreachable: "check the network and apiUrl"
}

/** Translates a failed request to an error of the store. No other module does so. */
export const translate =
  (place: ErrorContext) =>
  (failure: ApiFailure | RemoteFailure): Effect.Effect<never, RemoteFailure> =>
    Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<never, RemoteFailure> => {
      if (failure._tag !== "ApiFailure") return Effect.fail(failure)
      const fields = {
        ...place,
        message: `${failure.endpoint}: ${failure.message}`,
        status: failure.status,
        hint: failure.hint ?? hints[failure.kind],
        cause: failure.cause
      }
      switch (failure.kind) {
        case "Credentials":
        case "Forbidden":
          return Effect.fail(new AuthError(fields))
        case "PrimaryLimit":
        case "SecondaryLimit": {
          const wait = failure.retryAfter
          const reset =
            wait === undefined
              ? failure.kind === "PrimaryLimit"
                ? failure.reset
                : undefined
              : Math.ceil((now + wait) / 1000)
          return Effect.fail(
            new RateLimitError({
              ...fields,
              remaining: failure.remaining,
              reset,
              resetAt: reset === undefined ? undefined : new Date(reset * 1000)
            })
          )
        }
        case "Missing":
        case "RefMissing":
        case "EmptyRepository":
          return Effect.fail(new NotFoundError(fields))
        case "Invalid":
        case "PathMissing":
        case "BaseMissing":
          return Effect.fail(new ValidationError(fields))
        default:
          return Effect.fail(new RemoteError({ ...fields, reason: reasons[failure.kind] ?? "Server" }))
      }
    })

/** The file is not the expected version. */
export const fileConflict = (
  place: ErrorContext & { readonly path: string },
  expected: string | undefined,
  actual: string | null | undefined
) =>
  new ConflictError({
    ...place,
    message:
      expected === undefined
        ? `${place.path} exists already`
        : `${place.path} is no longer ${expected.slice(0, 7)}`,
    conflicts: [
      {
        collection: "",
        id: place.path,
        expected: expected === undefined ? null : { sha: expected },
        actual: actual === null ? null : actual === undefined ? undefined : { sha: actual }
      }
    ]
  })

/** A write whose reply was lost, and whose effect could not be determined. */
export const ambiguous = (place: ErrorContext, failure: ApiFailure) =>
  new AmbiguousWriteError({
    ...place,
    message: `the reply to the write was lost (${failure.message}), and whether it took effect could not be told`,
    hint: "read the document before writing it again",
    status: failure.status,
    cause: failure.cause
  })

export const readOnly = (operation: string) =>
  new AuthError({
    operation,
    message: "the store was opened for reading",
    hint: "open it without readOnly and ref"
  })
