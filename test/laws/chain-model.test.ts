import { assert, it } from "@effect/vitest"
import { Chain } from "chainstore/chain"
import { ChainArbitrary } from "chainstore/testing"
import { Cause, Effect, Exit, FastCheck } from "effect"
import { type Ending, interpret } from "../support/chain/ChainModel.js"

const ending = (exit: Exit.Exit<Chain.Handled<string>, unknown>): Ending => {
  if (Exit.isSuccess(exit)) return { _tag: "answer", text: exit.value.response, by: exit.value.handledBy }
  const error = Cause.squash(exit.cause)
  if (error instanceof ChainArbitrary.SpecFailure) {
    return { _tag: Cause.isDieType(exit.cause) ? "defect" : "failure", text: error.text }
  }
  if (error instanceof TypeError) return { _tag: "defect", text: "TypeError" }
  if ((error as { _tag?: string })._tag === "UnhandledRequestError") return { _tag: "unhandled" }
  throw error
}

it("10,000 random chains do what a naive interpreter does, run and run at once", () => {
  FastCheck.assert(
    FastCheck.property(ChainArbitrary.spec, ChainArbitrary.request, (spec, request) => {
      const chain = ChainArbitrary.toBuilder(spec).build()
      const expected = interpret(spec, request)
      assert.deepStrictEqual(ending(Effect.runSyncExit(Chain.executeNamed(chain, request))), expected)
      assert.deepStrictEqual(ending(Chain.executeNamedExit(chain, request)), expected)
    }),
    { numRuns: 10_000 }
  )
})

it("a trace names the answering step, and every step that was visited at most once per call of next", () => {
  FastCheck.assert(
    FastCheck.property(ChainArbitrary.spec, ChainArbitrary.request, (spec, request) => {
      const chain = ChainArbitrary.toBuilder(spec).build()
      const trace = Effect.runSync(Chain.trace(chain, request))
      const expected = interpret(spec, request)
      assert.strictEqual(trace.handledBy, expected._tag === "answer" ? expected.by : undefined)
      assert.isTrue(trace.steps.every((step) => step.outcome !== "running" && step.elapsedMillis >= 0))
      const decisive = trace.steps.filter(
        (step) =>
          (step.kind !== "branch" && (step.outcome === "matched" || step.outcome === "failed")) ||
          // Middleware that recovers answers itself after it has handed the request on.
          (step.kind === "middleware" && step.outcome === "passed")
      )
      if (expected._tag === "answer")
        assert.include(
          decisive.map((step) => step.name),
          expected.by
        )
    }),
    { numRuns: 3_000 }
  )
})
