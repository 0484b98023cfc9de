import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import {
  Chain,
  ChainBuilder,
  type Downstream,
  type Next,
  Policy,
  type StepOptions,
  type UnhandledRequestError
} from "../../chain/index.js"

/**
 * A question about a number, as data.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConditionSpec {
  /** What is asked of the request. */
  readonly asks: "equals" | "lessThan" | "greaterThan" | "even" | "always" | "never"
  /** What it is compared with. */
  readonly value: number
  /**
   * `effect`: the condition is an Effect; `yielding`: one that gives way to other fibers first. Where a condition
   * would hold, `throws` throws, `fails` is an Effect that fails, and `number` gives 1, which is no boolean.
   */
  readonly as: "pure" | "effect" | "yielding" | "throws" | "fails" | "number"
}

/**
 * A policy of a handler, or of a handler and the steps after it.
 *
 * @since 0.1.0
 * @category models
 */
export type PolicySpec = "retry" | "recover" | "timeout"

/**
 * What a step answers when it accepts.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnswerSpec {
  /** The answer's text, to which the request is added. */
  readonly text: string
  /** `service`: the answer names the value of `Word` that the step is given. */
  readonly as: "pure" | "effect" | "yielding" | "service" | "failure" | "defect"
  /** The policy around the answer; absent: none. */
  readonly policy?: PolicySpec | undefined
}

/**
 * A step of a chain from numbers to strings, as data.
 *
 * @since 0.1.0
 * @category models
 */
export type StepSpec =
  | {
      /** `inline` and `suspended` call `next`, `object` has a method `handle`, `selective` has `canHandle` and `process`. */
      readonly step: "when" | "selective" | "inline" | "suspended" | "object"
      readonly condition: ConditionSpec
      readonly answer: AnswerSpec
    }
  | { readonly step: "change"; readonly add: number }
  | { readonly step: "wrap"; readonly mark: string }
  | { readonly step: "twice"; readonly condition: ConditionSpec }
  | { readonly step: "around"; readonly policy: PolicySpec }
  | { readonly step: "logging" | "loggingEffect" | "tracing" }
  | { readonly step: "branch"; readonly condition: ConditionSpec; readonly inner: ChainSpec }
  | {
      readonly step: "fragment"
      /** A builder, a built chain, or a chain that is given a `Word` of its own. */
      readonly of: "builder" | "chain" | "provided"
      readonly inner: ChainSpec
    }

/**
 * A chain from numbers to strings, as data: print it, shrink it, build it, or interpret it another way.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChainSpec {
  /** The steps in registration order. */
  readonly steps: ReadonlyArray<StepSpec>
  /** What answers where no step does; undefined: nothing does. */
  readonly fallback: AnswerSpec | undefined
}

/**
 * How answers of kind `failure` fail, and conditions of kind `fails`.
 *
 * @since 0.1.0
 * @category errors
 */
export class SpecFailure {
  readonly _tag = "SpecFailure"
  /** @param text The text that tells failures apart. */
  constructor(readonly text: string) {}
}

/**
 * The service that answers of kind `service` ask for.
 *
 * @since 0.1.0
 * @category models
 */
export class Word extends Context.Reference<Word>()("chainstore/testing/ChainSpec/Word", {
  defaultValue: () => "nothing"
}) {}

/**
 * The `Word` of a fragment that is provided with one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const given = "given"

/**
 * Whether what a condition asks is so.
 *
 * @since 0.1.0
 * @category combinators
 */
export const judge = (condition: ConditionSpec, request: number): boolean => {
  switch (condition.asks) {
    case "equals":
      return request === condition.value
    case "lessThan":
      return request < condition.value
    case "greaterThan":
      return request > condition.value
    case "even":
      return request % 2 === 0
    case "always":
      return true
    case "never":
      return false
  }
}

const conditionOf = (condition: ConditionSpec) => (request: number) => {
  const holds = judge(condition, request)
  switch (condition.as) {
    case "pure":
      return holds
    case "effect":
      return Effect.sync(() => holds)
    case "yielding":
      return Effect.as(Effect.yieldNow(), holds)
    case "throws":
      if (holds) throw new SpecFailure("condition")
      return false
    case "fails":
      return holds ? Effect.fail(new SpecFailure("condition")) : false
    case "number":
      return holds ? (1 as unknown as boolean) : false
  }
}

const unguarded = (answer: AnswerSpec) => (request: number) => {
  const text = `${answer.text}(${request})`
  switch (answer.as) {
    case "pure":
      return text
    case "effect":
      return Effect.sync(() => text)
    case "yielding":
      return Effect.as(Effect.yieldNow(), text)
    case "service":
      return Effect.map(Word, (word) => `${text} ${word}`)
    case "failure":
      return Effect.fail(new SpecFailure(text))
    case "defect":
      throw new SpecFailure(text)
  }
}

/** A handler without `next`, or with it. */
type SpecHandler = (
  request: number,
  next: Next<number, string>
) => string | Effect.Effect<string, SpecFailure | Downstream>

const guarded = (policy: PolicySpec, handler: SpecHandler): SpecHandler => {
  switch (policy) {
    case "retry":
      return Policy.retry(handler, Schedule.recurs(1))
    case "recover":
      return Policy.recover(handler, () => "recovered")
    case "timeout":
      // No law lasts an hour.
      return Policy.timeout(handler, "1 hour") as SpecHandler
  }
}

const answerOf = (answer: AnswerSpec): ((request: number) => string | Effect.Effect<string, SpecFailure>) => {
  const handler = unguarded(answer)
  return answer.policy === undefined
    ? handler
    : (guarded(answer.policy, handler) as (request: number) => Effect.Effect<string, SpecFailure>)
}

/**
 * Builders of specs need nothing, and fail only as their conditions and answers say.
 *
 * @since 0.1.0
 * @category models
 */
export type SpecBuilder = ChainBuilder<number, string, SpecFailure, never, UnhandledRequestError>

/** An object whose method needs its object. */
class Handling {
  constructor(private readonly spec: { readonly condition: ConditionSpec; readonly answer: AnswerSpec }) {}
  handle(request: number, next: Next<number, string>) {
    return judge(this.spec.condition, request) ? answerOf(this.spec.answer)(request) : next(request)
  }
}

const addStep = (builder: SpecBuilder, spec: StepSpec, options: StepOptions): SpecBuilder => {
  switch (spec.step) {
    case "when":
      return builder.useWhen(conditionOf(spec.condition), answerOf(spec.answer), options)
    case "selective":
      return builder.use({ canHandle: conditionOf(spec.condition), process: answerOf(spec.answer) }, options)
    case "inline":
      return builder.use(
        (request, next) => (judge(spec.condition, request) ? answerOf(spec.answer)(request) : next(request)),
        options
      )
    case "suspended":
      return builder.use(
        (request, next) =>
          Effect.suspend((): Effect.Effect<string, SpecFailure | Downstream> => {
            if (!judge(spec.condition, request)) return next(request)
            const reply = answerOf(spec.answer)(request)
            return typeof reply === "string" ? Effect.succeed(reply) : reply
          }),
        options
      )
    case "object":
      return builder.use(new Handling(spec), options)
    case "change":
      return builder.use((request, next) => next(request + spec.add), options)
    case "wrap":
      return builder.use(
        (request, next) => Effect.map(next(request), (answer) => `${spec.mark}[${answer}]`),
        { ...options, kind: "middleware" }
      )
    case "twice":
      return builder.use(
        (request, next) =>
          judge(spec.condition, request)
            ? Effect.zipWith(next(request), next(request + 1), (one, two) => `${one}+${two}`)
            : next(request),
        options
      )
    case "around":
      return builder.use(
        guarded(spec.policy, (request, next) => next(request)),
        { ...options, kind: "middleware" }
      )
    case "logging":
      return builder.useLogging({ write: () => {} })
    case "loggingEffect":
      return builder.useLogging({ log: () => Effect.void })
    case "tracing":
      return builder.useTracing()
    case "branch":
      return builder.useBranch(
        conditionOf(spec.condition),
        () => toBuilder(spec.inner, options.name),
        options
      )
    case "fragment": {
      const inner = toBuilder(spec.inner, options.name)
      if (spec.of === "builder") return builder.use(inner, options)
      const chain = inner.build()
      return builder.use(
        spec.of === "chain" ? chain : Chain.provide(chain, Context.make(Word, given)),
        options
      )
    }
  }
}

/**
 * Registers a spec. Step number `n` (from 0) of the chain called `name` is called `name.n`, its fallback `name.fallback`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toBuilder = (spec: ChainSpec, name = "chain"): SpecBuilder => {
  let builder: SpecBuilder = ChainBuilder.make<number, string>(name)
  spec.steps.forEach((step, index) => {
    builder = addStep(builder, step, { name: `${name}.${index}` })
  })
  return spec.fallback === undefined
    ? builder
    : builder.withFallback(answerOf(spec.fallback), { name: `${name}.fallback` })
}
