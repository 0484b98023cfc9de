import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ValidationError } from "../../../../domain/errors/StoreError.js"
import type { GitRemoteService } from "../../GitRemote.js"

/** Replaces `PushRemote.ts` in bundles for browsers, where no page can send requests to a Git server. */
export const makePushRemote:
  | ((parts: unknown) => Effect.Effect<GitRemoteService, ValidationError, Scope.Scope>)
  | undefined = undefined
