import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import { currentCost, type OperationCost } from "../../remote/OperationCost.js"

const operations = Metric.counter("chainstore_store_operations_total", {
  description: "Operations of stores, by name and outcome",
  incremental: true
})

const seconds = Metric.histogram(
  "chainstore_store_operation_seconds",
  MetricBoundaries.fromIterable([0.001, 0.01, 0.1, 1, 10]),
  "Time that operations of stores took"
)

/** Attributes of a span. */
export type Attributes = Readonly<Record<string, unknown>>

const outcomeOf = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) ? "success" : Exit.isInterrupted(exit) ? "interrupted" : "failure"

/** The number of documents in a result: of a list, or of a page. */
const documentsIn = (result: unknown): number | undefined => {
  if (Array.isArray(result)) return result.length
  return Predicate.hasProperty(result, "documents") ? documentsIn(result.documents) : undefined
}

/** The commit in a result: of a batch or a transaction that wrote something. */
const commitIn = (result: unknown): unknown =>
  Predicate.hasProperty(result, "commitSha") && Option.isOption(result.commitSha)
    ? Option.getOrUndefined(result.commitSha)
    : undefined

/** Adds a span and metrics to the effect or stream of an operation. */
export const instrument = (name: string) => {
  const of = Metric.tagged(operations, "operation", name)
  const counters = {
    success: Metric.tagged(of, "outcome", "success"),
    failure: Metric.tagged(of, "outcome", "failure"),
    interrupted: Metric.tagged(of, "outcome", "interrupted")
  }
  const time = Metric.tagged(seconds, "operation", name)

  /** Starts measuring; `ended` finishes it. */
  const begin = Effect.fnUntraced(function* (span: Tracer.Span) {
    const started = yield* Monotonic.millis
    const outer = yield* FiberRef.get(currentCost)
    const cost: OperationCost = { requests: 0 }
    const ended = (exit: Exit.Exit<unknown, unknown>, attributes: Attributes) =>
      Effect.flatMap(Monotonic.millis, (now) => {
        const all = { ...attributes, requests: cost.requests }
        for (const [key, value] of Object.entries(all)) {
          // Attributes that the operation has set itself take precedence.
          if (value !== undefined && !span.attributes.has(key)) span.attribute(key, value)
        }
        if (outer !== undefined) outer.requests += cost.requests
        return Effect.zipRight(
          Metric.increment(counters[outcomeOf(exit)]),
          Metric.update(time, (now - started) / 1000)
        )
      })
    return { cost, ended }
  })

  const options = (attributes: Attributes) => ({ attributes, captureStackTrace: false })

  return {
    effect: <A, E, R>(self: Effect.Effect<A, E, R>, attributes: Attributes): Effect.Effect<A, E, R> =>
      Effect.useSpan(name, options(attributes), (span) =>
        Effect.flatMap(begin(span), ({ cost, ended }) =>
          self.pipe(
            Effect.locally(currentCost, cost),
            Effect.withParentSpan(span),
            Effect.onExit((exit) => {
              const result = Exit.isSuccess(exit) ? exit.value : undefined
              return ended(exit, { documents: documentsIn(result), commit: commitIn(result) })
            })
          )
        )
      ),
    stream: <A, E, R>(self: Stream.Stream<A, E, R>, attributes: Attributes): Stream.Stream<A, E, R> =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const span = yield* Effect.makeSpanScoped(name, options(attributes))
          const { cost, ended } = yield* begin(span)
          let documents = 0
          yield* Effect.addFinalizer((exit) => ended(exit, { documents }))
          const pull = yield* Stream.toPull(self).pipe(
            Effect.locally(currentCost, cost),
            Effect.withParentSpan(span)
          )
          return Stream.repeatEffectChunkOption(
            pull.pipe(
              Effect.tap((chunk) => {
                documents += Chunk.reduce(chunk, 0, (sum, one) => sum + (documentsIn(one) ?? 1))
              }),
              Effect.locally(currentCost, cost),
              Effect.withParentSpan(span)
            )
          )
        })
      )
  }
}
