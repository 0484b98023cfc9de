import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

/** One operation of the remote while it runs: its deadline, and what it has cost so far. */
export interface Call {
  readonly operation: string
  /** Milliseconds since the epoch, by Effect's clock. */
  readonly deadline: number
  requests: number
  notModified: number
  bytes: number
  remaining: number | undefined
}

/** The operation that the current fiber works for. */
export const currentCall: FiberRef.FiberRef<Call | undefined> = globalValue(
  "chainstore/store/github/currentCall",
  () => FiberRef.unsafeMake<Call | undefined>(undefined)
)

/** Requests sent, by operation. */
export const requests = Metric.counter("chainstore_github_requests_total", {
  description: "Requests sent to the GitHub API",
  incremental: true
})

/** Answers that said "not modified", by operation. */
export const notModified = Metric.counter("chainstore_github_not_modified_total", {
  description: "Answers 304 of the GitHub API",
  incremental: true
})

/** Bytes of answers' bodies, by operation. */
export const bytes = Metric.counter("chainstore_github_received_bytes_total", {
  description: "Bytes received from the GitHub API",
  incremental: true
})

/** Requests left in the window, by resource. */
export const remaining = Metric.gauge("chainstore_github_ratelimit_remaining", {
  description: "Requests left in the rate limit window"
})

/** Requests that one operation took. */
export const requestsPerOperation = Metric.histogram(
  "chainstore_github_requests_per_operation",
  MetricBoundaries.fromIterable([0, 1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200, 500]),
  "Requests that one operation of the remote took"
)

/** Runs an operation of the remote under its span and deadline; nested operations count towards the outermost one. */
export const operation =
  (name: string, deadline: Duration.Duration, attributes?: Record<string, unknown>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(FiberRef.get(currentCall), (outer) =>
      outer !== undefined
        ? Effect.withSpan(self, `GitHub.${name}`, { attributes, captureStackTrace: false })
        : Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const call: Call = {
              operation: name,
              deadline: now + Duration.toMillis(deadline),
              requests: 0,
              notModified: 0,
              bytes: 0,
              remaining: undefined
            }
            const report = Effect.suspend(() => {
              return Effect.annotateCurrentSpan({
                requests: call.requests,
                notModified: call.notModified,
                bytes: call.bytes,
                ...(call.remaining === undefined ? {} : { remaining: call.remaining })
              }).pipe(
                Effect.zipRight(
                  Metric.incrementBy(Metric.tagged(requests, "operation", name), call.requests)
                ),
                Effect.zipRight(
                  Metric.incrementBy(Metric.tagged(notModified, "operation", name), call.notModified)
                ),
                Effect.zipRight(Metric.incrementBy(Metric.tagged(bytes, "operation", name), call.bytes)),
                Effect.zipRight(
                  Metric.update(Metric.tagged(requestsPerOperation, "operation", name), call.requests)
                )
              )
            })
            return self.pipe(
              Effect.locally(currentCall, call),
              Effect.ensuring(report),
              Effect.withSpan(`GitHub.${name}`, { attributes, captureStackTrace: false })
            )
          })
    )

/** Milliseconds that the current operation has left; unbounded outside of one. */
export const timeLeft: Effect.Effect<number> = Effect.flatMap(FiberRef.get(currentCall), (call) =>
  call === undefined
    ? Effect.succeed(Number.POSITIVE_INFINITY)
    : Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, call.deadline - now))
)
