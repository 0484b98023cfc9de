import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { ChainBuilder, type StepOptions, type UnhandledRequestError } from "../chain/index.js"

/** A question about a number, as data. */
export interface ConditionSpec {
  readonly asks: "equals" | "lessThan" | "greaterThan" | "even" | "always" | "never"
  readonly value: number
  /** Whether the condition is an Effect, and whether that gives way to other fibers first. */
  readonly as: "pure" | "effect" | "yielding"
}

/** A step of a chain from numbers to strings, as data. */
export type StepSpec =
  | {
      readonly step: "when" | "selective" | "inline"
      readonly condition: ConditionSpec
      readonly answer: AnswerSpec
    }
  | { readonly step: "change"; readonly add: number }
  | { readonly step: "wrap"; readonly mark: string }
  | { readonly step: "twice"; readonly condition: ConditionSpec }
  | { readonly step: "logging" | "tracing" }
  | { readonly step: "branch"; readonly condition: ConditionSpec; readonly inner: ChainSpec }
  | { readonly step: "fragment"; readonly built: boolean; readonly inner: ChainSpec }

/** What a step answers when it accepts. */
export interface AnswerSpec {
  readonly text: string
  readonly as: "pure" | "effect" | "yielding" | "failure" | "defect"
}

/** A chain from numbers to strings, as data: print it, shrink it, build it, or interpret it another way. */
export interface ChainSpec {
  readonly steps: ReadonlyArray<StepSpec>
  readonly fallback: AnswerSpec | undefined
}

/** How answers of kind `failure` fail. */
export class SpecFailure {
  readonly _tag = "SpecFailure"
  constructor(readonly text: string) {}
}

/** What a condition of a spec says. */
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
  switch (condition.as) {
    case "pure":
      return judge(condition, request)
    case "effect":
      return Effect.sync(() => judge(condition, request))
    case "yielding":
      return Effect.as(Effect.yieldNow(), judge(condition, request))
  }
}

const answerOf = (answer: AnswerSpec) => (request: number) => {
  const text = `${answer.text}(${request})`
  switch (answer.as) {
    case "pure":
      return text
    case "effect":
      return Effect.sync(() => text)
    case "yielding":
      return Effect.as(Effect.yieldNow(), text)
    case "failure":
      return Effect.fail(new SpecFailure(text))
    case "defect":
      throw new SpecFailure(text)
  }
}

/** Builders of specs need nothing, and fail only as their answers say. */
export type SpecBuilder = ChainBuilder<number, string, SpecFailure, never, UnhandledRequestError>

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
    case "change":
      return builder.use((request, next) => next(request + spec.add), options)
    case "wrap":
      return builder.use(
        (request, next) => Effect.map(next(request), (answer) => `${spec.mark}[${answer}]`),
        options
      )
    case "twice":
      return builder.use(
        (request, next) =>
          judge(spec.condition, request)
            ? Effect.zipWith(next(request), next(request + 1), (one, two) => `${one}+${two}`)
            : next(request),
        options
      )
    case "logging":
      return builder.useLogging({ write: () => {} })
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
      return spec.built ? builder.use(inner.build(), options) : builder.use(inner, options)
    }
  }
}

/** Registers a spec. Step number `n` (from 0) of the chain called `name` is called `name.n`, its fallback `name.fallback`. */
export const toBuilder = (spec: ChainSpec, name = "chain"): SpecBuilder => {
  let builder: SpecBuilder = ChainBuilder.make<number, string>(name)
  spec.steps.forEach((step, index) => {
    builder = addStep(builder, step, { name: `${name}.${index}` })
  })
  return spec.fallback === undefined
    ? builder
    : builder.withFallback(answerOf(spec.fallback), { name: `${name}.fallback` })
}

/** Numbers around those that conditions ask about. */
export const request: FastCheck.Arbitrary<number> = FastCheck.integer({ min: -6, max: 6 })

const condition: FastCheck.Arbitrary<ConditionSpec> = FastCheck.record({
  asks: FastCheck.constantFrom("equals", "equals", "lessThan", "greaterThan", "even", "always", "never"),
  value: request,
  as: FastCheck.constantFrom("pure", "pure", "pure", "effect", "yielding")
})

const answer: FastCheck.Arbitrary<AnswerSpec> = FastCheck.record({
  text: FastCheck.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
  as: FastCheck.constantFrom("pure", "pure", "pure", "effect", "effect", "yielding", "failure", "defect")
})

const accepting = FastCheck.record({
  step: FastCheck.constantFrom("when" as const, "when" as const, "selective" as const, "inline" as const),
  condition,
  answer
})

const passing: FastCheck.Arbitrary<StepSpec> = FastCheck.oneof(
  FastCheck.record({
    step: FastCheck.constant("change" as const),
    add: FastCheck.integer({ min: -2, max: 2 })
  }),
  FastCheck.record({
    step: FastCheck.constant("wrap" as const),
    mark: FastCheck.constantFrom("x", "y", "z")
  }),
  FastCheck.record({ step: FastCheck.constant("twice" as const), condition }),
  FastCheck.record({ step: FastCheck.constantFrom("logging" as const, "tracing" as const) })
)

const chainOfDepth = (depth: number): FastCheck.Arbitrary<ChainSpec> => {
  const plain: Array<FastCheck.WeightedArbitrary<StepSpec>> = [
    { weight: 4, arbitrary: accepting },
    { weight: 2, arbitrary: passing }
  ]
  if (depth > 0) {
    const inner = chainOfDepth(depth - 1)
    plain.push(
      {
        weight: 1,
        arbitrary: FastCheck.record({ step: FastCheck.constant("branch" as const), condition, inner })
      },
      {
        weight: 1,
        arbitrary: FastCheck.record({
          step: FastCheck.constant("fragment" as const),
          built: FastCheck.boolean(),
          inner
        })
      }
    )
  }
  return FastCheck.record({
    steps: FastCheck.array(FastCheck.oneof(...plain), { maxLength: 6 }),
    fallback: FastCheck.option(answer, { nil: undefined, freq: 2 })
  })
}

/** Chains with every kind of step, effectful and pure, nested up to two levels. */
export const spec: FastCheck.Arbitrary<ChainSpec> = chainOfDepth(2)

/** Builders of such chains. */
export const builder: FastCheck.Arbitrary<SpecBuilder> = spec.map((it) => toBuilder(it))
