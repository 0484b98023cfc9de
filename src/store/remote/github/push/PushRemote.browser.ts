import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ValidationError } from "../../../../domain/errors/StoreError.js"
import type { GitRemoteService } from "../../GitRemote.js"

/** What bundlers for browsers take for `Push.ts`: no page may send requests to a Git server. */
export const makePushRemote:
  | ((parts: unknown) => Effect.Effect<GitRemoteService, ValidationError, Scope.Scope>)
  | undefined = undefined
