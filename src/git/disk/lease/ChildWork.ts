import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt } from "../files/EngineError.js"
import type { Lease } from "./Lease.js"

/**
 * Runs an effect that starts writing Git children. If it fails, the files that they leave are removed: so the failure of a child is caught
 * outside.
 */
export const withChildren = <A, E, R>(
  lease: Lease,
  operation: string,
  directory: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | RemoteError, R> =>
  Effect.acquireUseRelease(
    attempt(operation, directory, () => lease.beginChildWork()),
    () => effect,
    (end, exit) => Effect.ignore(attempt(operation, directory, () => end(Exit.isSuccess(exit))))
  )
