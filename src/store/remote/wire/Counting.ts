import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import type { Service, Transport } from "../../../git/protocol/Transport.js"
import type { Repository } from "../../../git/Repository.js"
import { addRequests, currentCost, type OperationCost, requests } from "../OperationCost.js"

/** Counts the requests of a transport, in a metric by service and in the cost of the running operation. */
export const countedTransport = (transport: Transport): Transport => {
  const sent = (service: Service) =>
    Effect.zipRight(Metric.increment(Metric.tagged(requests, "operation", service)), addRequests(1))
  return {
    advertisement: (service) => Effect.zipRight(sent(service), transport.advertisement(service)),
    post: (service, body) => Stream.unwrap(Effect.as(sent(service), transport.post(service, body)))
  }
}

/**
 * Counts the requests of pushes. One push contains the commits of several callers and runs in its own fiber. Its requests are
 * added to the cost of the first caller that ends.
 */
export const countingPushes = <F, E, R>(
  opening: Effect.Effect<Repository<F>, E, R>
): Effect.Effect<Repository<F>, E, R> =>
  Effect.suspend(() => {
    const shared: OperationCost = { requests: 0 }
    const taken = Effect.suspend(() => {
      const { requests } = shared
      shared.requests = 0
      return addRequests(requests)
    })
    return Effect.map(Effect.locally(opening, currentCost, shared), (repository) => ({
      ...repository,
      commitNext: (branch, build) => Effect.ensuring(repository.commitNext(branch, build), taken)
    }))
  })
