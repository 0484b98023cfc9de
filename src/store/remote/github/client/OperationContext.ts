import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Stream from "effect/Stream"
import { completeOnceStarted } from "../../../../domain/concurrency/DaemonFiber.js"
import * as Monotonic from "../../../../domain/time/MonotonicClock.js"
import { addRequests, requests } from "../../OperationCost.js"

/** A running operation of the remote: its deadline and its cost so far. */
export interface OperationContext {
  readonly operation: string
  /** Milliseconds since the epoch, by Effect's clock. */
  deadline: number
  requests: number
  notModified: number
  bytes: number
  remaining: number | undefined
}

/** The operation that the current fiber belongs to. */
export const currentOperation: FiberRef.FiberRef<OperationContext | undefined> = globalValue(
  "chainstore/store/remote/github/currentCall",
  () => FiberRef.unsafeMake<OperationContext | undefined>(undefined)
)

/** Replies 304, by operation. */
export const notModified = Metric.counter("chainstore_github_not_modified_total", {
  description: "Replies 304 of the GitHub API",
  incremental: true
})

/** Bytes of reply bodies, by operation. */
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

const begin = (operation: string, deadline: Duration.Duration) =>
  Effect.map(
    Monotonic.millis,
    (now): OperationContext => ({
      operation,
      deadline: now + Duration.toMillis(deadline),
      requests: 0,
      notModified: 0,
      bytes: 0,
      remaining: undefined
    })
  )

const costOf = (call: OperationContext) => ({
  requests: call.requests,
  notModified: call.notModified,
  bytes: call.bytes,
  ...(call.remaining === undefined ? {} : { remaining: call.remaining })
})

const count = (call: OperationContext) => {
  const of = <A, B, C>(metric: Metric.Metric<A, B, C>) => Metric.tagged(metric, "operation", call.operation)
  return Effect.all(
    [
      Metric.incrementBy(of(requests), call.requests),
      Metric.incrementBy(of(notModified), call.notModified),
      Metric.incrementBy(of(bytes), call.bytes),
      Metric.update(of(requestsPerOperation), call.requests)
    ],
    { discard: true }
  )
}

const report = (call: OperationContext) => Effect.zipRight(count(call), addRequests(call.requests))

/** Runs an operation with its span and deadline. A nested operation counts towards the outermost one. */
export const withOperation =
  (name: string, deadline: Duration.Duration, attributes?: Record<string, unknown>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(FiberRef.get(currentOperation), (outer) =>
      outer !== undefined
        ? self
        : Effect.flatMap(begin(name, deadline), (call) =>
            Effect.ensuring(
              Effect.locally(self, currentOperation, call),
              Effect.suspend(() => Effect.zipRight(Effect.annotateCurrentSpan(costOf(call)), report(call)))
            )
          )
    ).pipe(Effect.withSpan(`GitHub.${name}`, { attributes, captureStackTrace: false }))

/** The same for a stream. The deadline applies to each chunk, without the time that the consumer takes between two chunks. */
export const withStreamOperation =
  (name: string, deadline: Duration.Duration, attributes?: Record<string, unknown>) =>
  <A, E, R>(self: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.unwrapScoped(
      Effect.gen(function* () {
        const outer = yield* FiberRef.get(currentOperation)
        const span = yield* Effect.makeSpanScoped(`GitHub.${name}`, { attributes, captureStackTrace: false })
        const pull = yield* Effect.withParentSpan(Stream.toPull(self), span)
        if (outer !== undefined) return Stream.repeatEffectChunkOption(Effect.withParentSpan(pull, span))
        const call = yield* begin(name, deadline)
        yield* Effect.addFinalizer(() =>
          Effect.suspend(() => {
            for (const [key, value] of Object.entries(costOf(call))) span.attribute(key, value)
            return report(call)
          })
        )
        const next = Effect.flatMap(Monotonic.millis, (now) => {
          call.deadline = now + Duration.toMillis(deadline)
          return pull
        })
        return Stream.repeatEffectChunkOption(
          next.pipe(Effect.locally(currentOperation, call), Effect.withParentSpan(span))
        )
      })
    )

/**
 * Makes an effect uninterruptible once it has sent a request: an interrupted caller waits for its end. While its first
 * request waits to be sent, an interruption ends it.
 */
export const uninterruptibleOnceSent = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(currentOperation), (call) => {
    const before = call?.requests
    return completeOnceStarted(self, () => call === undefined || call.requests !== before)
  })

/** Milliseconds until the deadline of the current operation; infinity outside of an operation. */
export const timeLeft: Effect.Effect<number> = Effect.flatMap(FiberRef.get(currentOperation), (call) =>
  call === undefined
    ? Effect.succeed(Number.POSITIVE_INFINITY)
    : Effect.map(Monotonic.millis, (now) => Math.max(0, Math.floor(call.deadline - now)))
)
