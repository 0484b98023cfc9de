import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Metric from "effect/Metric"

/** What an operation of a store has cost so far. */
export interface OperationCost {
  requests: number
}

/** The operation that the running fiber works for. A remote that takes requests adds them. */
export const currentCost = FiberRef.unsafeMake<OperationCost | undefined>(undefined)

/** Adds requests to the operation that the running fiber works for. */
export const addRequests = (requests: number): Effect.Effect<void> =>
  Effect.map(FiberRef.get(currentCost), (cost) => {
    if (cost !== undefined) cost.requests += requests
  })

/** Requests sent, by operation; those of Git's protocol by its service. */
export const requests = Metric.counter("chainstore_remote_requests_total", {
  description: "Requests sent to the GitHub API, and by Git's protocol to any server",
  incremental: true
})
