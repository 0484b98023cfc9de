import type { Effect } from "effect"
import type { GitRemoteService, RemoteFailure } from "../../store/remote/GitRemote.js"
import { intercepted } from "../../store/remote/Interception.js"

/**
 * Where a call of a remote is: before it, inside the build of a commit, or after it has taken effect.
 *
 * @since 0.1.0
 * @category models
 */
export type TouchPoint = "before" | "building" | "after"

/**
 * A step of a remote between which a fault can be put.
 *
 * @since 0.1.0
 * @category models
 */
export interface Touch {
  /** The method of the remote that runs. */
  readonly operation: string
  /** Where in it the step is. */
  readonly point: TouchPoint
  /** True when the call changes the repository. */
  readonly writes: boolean
}

/**
 * What to do at a touch: nothing, wait, fail, interrupt, commit something as somebody else. A failure `after` a
 * write is given to the caller as an `AmbiguousWriteError`, since the write has happened.
 *
 * @since 0.1.0
 * @category models
 */
export type OnTouch = (touch: Touch) => Effect.Effect<void, RemoteFailure>

/**
 * The same remote with something happening between any two of its steps. Works over any implementation.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withFaults = (remote: GitRemoteService, onTouch: OnTouch): GitRemoteService =>
  intercepted(remote, {
    onRead: (operation, point) => onTouch({ operation, point, writes: false }),
    onWrite: (operation, point) =>
      onTouch({ operation, point: point === "built" ? "building" : point, writes: true })
  })
