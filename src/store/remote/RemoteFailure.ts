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
 * The failures of reads. A missing path, ref or document is not a failure but an absent value.
 *
 * @since 0.1.0
 * @category errors
 */
export type RemoteFailure = AuthError | NotFoundError | RateLimitError | RemoteError | ValidationError

/**
 * The failures of writes. `RefMoved`: nothing was written, because the branch has moved.
 *
 * @since 0.1.0
 * @category errors
 */
export type WriteFailure = RemoteFailure | RefMoved | AmbiguousWriteError
