import * as FastCheck from "effect/FastCheck"
import { noteSource } from "./ChainCounterexample.js"
import { source } from "./ChainSource.js"
import {
  type AnswerSpec,
  type ChainSpec,
  type ConditionSpec,
  type PolicySpec,
  type SpecBuilder,
  type StepSpec,
  toBuilder
} from "./ChainSpec.js"

export {
  type AnswerSpec,
  type ChainSpec,
  type ConditionSpec,
  given,
  judge,
  type PolicySpec,
  type SpecBuilder,
  SpecFailure,
  type StepSpec,
  toBuilder,
  Word
} from "./ChainSpec.js"
export { source }

/**
 * Numbers around those that conditions ask about.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const request: FastCheck.Arbitrary<number> = FastCheck.integer({ min: -6, max: 6 })

const asking = (as: FastCheck.Arbitrary<ConditionSpec["as"]>): FastCheck.Arbitrary<ConditionSpec> =>
  FastCheck.record({
    asks: FastCheck.constantFrom("equals", "equals", "lessThan", "greaterThan", "even", "always", "never"),
    value: request,
    as
  })

/** The first alternative is the simplest one, to which the others shrink. */
const weighted = <A>(...kinds: ReadonlyArray<readonly [number, A]>): FastCheck.Arbitrary<A> =>
  FastCheck.oneof(
    { withCrossShrink: true },
    ...kinds.map(([weight, kind]) => ({ weight, arbitrary: FastCheck.constant(kind) }))
  )

const question = asking(FastCheck.constant("pure" as const))

const condition = asking(
  weighted<ConditionSpec["as"]>(
    [12, "pure"],
    [4, "effect"],
    [4, "yielding"],
    [1, "throws"],
    [1, "fails"],
    [1, "number"]
  )
)

const policy: FastCheck.Arbitrary<PolicySpec> = FastCheck.constantFrom("recover", "retry", "timeout")

const answer: FastCheck.Arbitrary<AnswerSpec> = FastCheck.record({
  text: FastCheck.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
  as: weighted<AnswerSpec["as"]>(
    [6, "pure"],
    [4, "effect"],
    [2, "yielding"],
    [2, "service"],
    [2, "failure"],
    [2, "defect"]
  ),
  policy: weighted<PolicySpec | undefined>([9, undefined], [1, "recover"], [1, "retry"], [1, "timeout"])
})

const accepting: FastCheck.Arbitrary<StepSpec> = FastCheck.oneof(
  { withCrossShrink: true },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      step: FastCheck.constantFrom("when" as const, "when" as const, "selective" as const),
      condition,
      answer
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      step: FastCheck.constantFrom("inline" as const, "suspended" as const, "object" as const),
      condition: question,
      answer
    })
  }
)

const passing: FastCheck.Arbitrary<StepSpec> = FastCheck.oneof(
  FastCheck.record({
    step: FastCheck.constant("change" as const),
    add: FastCheck.integer({ min: -2, max: 2 })
  }),
  FastCheck.record({
    step: FastCheck.constant("wrap" as const),
    mark: FastCheck.constantFrom("x", "y", "z")
  }),
  FastCheck.record({ step: FastCheck.constant("twice" as const), condition: question }),
  FastCheck.record({ step: FastCheck.constant("around" as const), policy }),
  FastCheck.record({
    step: FastCheck.constantFrom("logging" as const, "loggingEffect" as const, "tracing" as const)
  })
)

const chainOfDepth = (depth: number): FastCheck.Arbitrary<ChainSpec> => {
  const kinds: Array<FastCheck.WeightedArbitrary<StepSpec>> = [
    { weight: 4, arbitrary: accepting },
    { weight: 2, arbitrary: passing }
  ]
  if (depth > 0) {
    const inner = chainOfDepth(depth - 1)
    kinds.push(
      {
        weight: 1,
        arbitrary: FastCheck.record({ step: FastCheck.constant("branch" as const), condition, inner })
      },
      {
        weight: 1,
        arbitrary: FastCheck.record({
          step: FastCheck.constant("fragment" as const),
          of: FastCheck.constantFrom("builder" as const, "chain" as const, "provided" as const),
          inner
        })
      }
    )
  }
  return FastCheck.record({
    steps: FastCheck.array(FastCheck.oneof({ withCrossShrink: true }, ...kinds), { maxLength: 6 }),
    fallback: FastCheck.option(answer, { nil: undefined, freq: 2 })
  })
}

/**
 * Chains with every kind of step, nested up to two levels: plain, effectful and object steps, middleware, policies,
 * conditions that throw, fail or give no boolean, answers that need a service, branches, fragments and fallbacks.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const spec: FastCheck.Arbitrary<ChainSpec> = chainOfDepth(2)

/**
 * Builders of such chains. A counterexample shows the calls that build the chain.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const builder: FastCheck.Arbitrary<SpecBuilder> = spec.map((it) =>
  noteSource(toBuilder(it), source(it))
)
