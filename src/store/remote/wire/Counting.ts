import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import type { Service, Transport } from "../../../git/protocol/Transport.js"
import type { Repository } from "../../../git/Repository.js"
import { addRequests, currentCost, type OperationCost, requests } from "../OperationCost.js"

/** A transport whose requests are counted, as metrics by their service, and as what the running operation costs. */
export const countedTransport = (transport: Transport): Transport => {
  const sent = (service: Service) =>
    Effect.zipRight(Metric.increment(Metric.tagged(requests, "operation", service)), addRequests(1))
  return {
    advertisement: (service) => Effect.zipRight(sent(service), transport.advertisement(service)),
    post: (service, body) => Stream.unwrap(Effect.as(sent(service), transport.post(service, body)))
  }
}

/**
 * What opens a repository, and gives it. Commits of several callers go in one push, in a fiber of its own: the first of
 * them that ends bears its requests, so that the operations' requests add up to all that were sent.
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
