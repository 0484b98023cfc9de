import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Metric from "effect/Metric"

/** The cost of a running operation of a store. */
export interface OperationCost {
  requests: number
}

/** The cost of the operation that the fiber belongs to. Remotes add their requests. */
export const currentCost = FiberRef.unsafeMake<OperationCost | undefined>(undefined)

/** Adds requests to the operation that the fiber belongs to. */
export const addRequests = (requests: number): Effect.Effect<void> =>
  Effect.map(FiberRef.get(currentCost), (cost) => {
    if (cost !== undefined) cost.requests += requests
  })

/** The requests that were sent, by operation; requests of Git's protocol by service. */
export const requests = Metric.counter("chainstore_remote_requests_total", {
  description: "Requests sent to the GitHub API, and by Git's protocol to any server",
  incremental: true
})
