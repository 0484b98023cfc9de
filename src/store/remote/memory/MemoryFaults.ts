import type * as Effect from "effect/Effect"
import type { RemoteFailure, WriteFailure } from "../GitRemote.js"

/**
 * Where a write is: `start` before anything, `built` when its content is known, `moving` just before the branch
 * moves, `moved` just after, when it is visible but not yet answered.
 */
export type WritePoint = "start" | "built" | "moving" | "moved"

/** What happens between the steps of a remote: yields, delays, failures, interruption, commits by others. */
export interface MemoryFaults {
  readonly onRead?: ((operation: string) => Effect.Effect<void, RemoteFailure>) | undefined
  /** After `moved` only an `AmbiguousWriteError` keeps the port's promise: the write has happened. */
  readonly onWrite?:
    | ((operation: string, point: WritePoint, branch: string) => Effect.Effect<void, WriteFailure>)
    | undefined
}
