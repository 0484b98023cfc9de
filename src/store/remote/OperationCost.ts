import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

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
