import * as Effect from "effect/Effect"
import type { GitRemoteService, RemoteFailure, WriteFailure } from "../GitRemote.js"
import { type InterceptedPoint, intercepted } from "../Interception.js"

/**
 * The stage of a write. `start`: nothing has happened. `built`: its content is known. `moving`: just before the branch moves.
 * `moved`: the branch has moved, and the caller has no reply yet.
 *
 * @since 0.1.0
 * @category models
 */
export type WritePoint = "start" | "built" | "moving" | "moved"

/**
 * Effects that run between the steps of a remote, to inject faults: delays, failures, interruption, commits by others.
 *
 * @since 0.1.0
 * @category models
 */
export interface MemoryFaults {
  /** Runs before each read. Its failure is the failure of the read. */
  readonly onRead?: ((operation: string) => Effect.Effect<void, RemoteFailure>) | undefined
  /** Runs at each stage of a write. At `moved` only an `AmbiguousWriteError` is correct, because the write has happened. */
  readonly onWrite?:
    | ((operation: string, point: WritePoint, branch: string) => Effect.Effect<void, WriteFailure>)
    | undefined
}

/** The stages at a step of a call. The content of a write other than `commitNext` is known before it begins. */
const pointsAt = (operation: string, step: InterceptedPoint): ReadonlyArray<WritePoint> => {
  if (step === "building") return []
  if (step === "after") return ["moved"]
  if (step === "built") return ["built", "moving"]
  return operation === "commitNext" ? ["start"] : ["start", "built", "moving"]
}

/** Injects faults into a remote in memory. */
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
