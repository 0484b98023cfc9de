import type * as Effect from "effect/Effect"
import { AuthError } from "../../domain/errors/StoreError.js"

/** A write of a session. In a read-only session it fails before any request. */
export const writingSession = <A, E, R>(
  readOnly: boolean,
  operation: string,
  write: Effect.Effect<A, E, R>
): Effect.Effect<A, E | AuthError, R> =>
  readOnly
    ? new AuthError({
        operation,
        status: 403,
        message: "this session can only read",
        hint: "Sign in with a token that has Contents read and write permission."
      })
    : write
