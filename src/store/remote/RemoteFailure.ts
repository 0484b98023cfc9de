import type { RefMoved } from "../../domain/errors/RefMoved.js"
import type {
  AmbiguousWriteError,
  AuthError,
  NotFoundError,
  RateLimitError,
  RemoteError,
  ValidationError
} from "../../domain/errors/StoreError.js"

/**
 * Why a remote could not answer. A missing path, ref or document is not among them: that is an absent value.
 *
 * @since 0.1.0
 * @category errors
 */
export type RemoteFailure = AuthError | NotFoundError | RateLimitError | RemoteError | ValidationError

/**
 * Why a write was not acknowledged. `RefMoved` means: nothing was written, look at the branch again.
 *
 * @since 0.1.0
 * @category errors
 */
export type WriteFailure = RemoteFailure | RefMoved | AmbiguousWriteError
