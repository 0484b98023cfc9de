import * as Effect from "effect/Effect"
import type { GitRemoteService, RemoteFailure, WriteFailure } from "../GitRemote.js"
import { type InterceptedPoint, intercepted } from "../Interception.js"

/**
 * Where a write is: `start` before anything, `built` when its content is known, `moving` just before the branch
 * moves, `moved` just after, when it is visible but not yet answered.
 *
 * @since 0.1.0
 * @category models
 */
export type WritePoint = "start" | "built" | "moving" | "moved"

/**
 * What happens between the steps of a remote: yields, delays, failures, interruption, commits by others.
 *
 * @since 0.1.0
 * @category models
 */
export interface MemoryFaults {
  /** Runs before each read; its failure is the read's. */
  readonly onRead?: ((operation: string) => Effect.Effect<void, RemoteFailure>) | undefined
  /** After `moved` only an `AmbiguousWriteError` keeps the port's promise: the write has happened. */
  readonly onWrite?:
    | ((operation: string, point: WritePoint, branch: string) => Effect.Effect<void, WriteFailure>)
    | undefined
}

/** The points at a step of a call: the content of a write that is no edit is known before it begins. */
const pointsAt = (operation: string, step: InterceptedPoint): ReadonlyArray<WritePoint> => {
  if (step === "building") return []
  if (step === "after") return ["moved"]
  if (step === "built") return ["built", "moving"]
  return operation === "commitNext" ? ["start"] : ["start", "built", "moving"]
}

/** A remote in memory with faults. */
export const withMemoryFaults = (
  remote: GitRemoteService,
  { onRead = () => Effect.void, onWrite = () => Effect.void }: MemoryFaults
): GitRemoteService =>
  intercepted(remote, {
    onRead: (operation, point) => (point === "before" ? onRead(operation) : Effect.void),
    onWrite: (operation, step, branch) =>
      Effect.forEach(pointsAt(operation, step), (point) => onWrite(operation, point, branch), {
        discard: true
      })
  })
