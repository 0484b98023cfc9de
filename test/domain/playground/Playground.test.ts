import { assert, it } from "@effect/vitest"
import { Effect, Either, FastCheck as fc, Logger, Schema } from "effect"
import { ChainExecutionRequest } from "../../../src/domain/playground/ChainExecution.js"
import type { Condition } from "../../../src/domain/playground/Condition.js"
import { adHoc, run } from "../../../src/http/playground/Composition.js"

const silent = Logger.remove(Logger.defaultLogger)

const finite = fc.oneof(
  fc.integer({ min: -4, max: 4 }),
  fc.constantFrom(-0, 0.5, 1e21),
  fc.double({ noNaN: true, noDefaultInfinity: true })
)
const text = fc.oneof(
  fc.constantFrom("{request}", "", "a{request}b{request}", "$1 $& {request", "{{request}}"),
  fc.string()
)
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ equals: finite }),
  fc.record({ lessThan: finite }),
  fc.record({ greaterThan: finite })
)
const chains = fc.record(
  {
    request: finite,
    handlers: fc.array(fc.record({ name: text, when: condition, respond: text }), {
      minLength: 1,
      maxLength: 12
    }),
    fallback: fc.oneof(fc.constant(null), text)
  },
  { requiredKeys: ["request", "handlers"] }
)

// A second evaluator, straight from the document and sharing no code with ours.
const evaluate = (
  described: ChainExecutionRequest
): readonly [by: string, response: string] | "unhandled" => {
  const fill = (template: string) => {
    let out = ""
    for (let at = 0; at < template.length; ) {
      if (template.startsWith("{request}", at)) {
        out += `${described.request}`
        at += 9
      } else out += template[at++]
    }
    return out
  }
  for (const { name, respond, when } of described.handlers) {
    const [[kind, value]] = Object.entries(when) as [[string, number]]
    const difference = described.request - value
    const accepted =
      kind === "equals" ? difference === 0 : kind === "lessThan" ? difference < 0 : difference > 0
    if (accepted) return [name, fill(respond)]
  }
  return typeof described.fallback === "string" ? ["fallback", fill(described.fallback)] : "unhandled"
}

it("10,000 random ad-hoc chains agree with a second, independent evaluator", () => {
  let unhandled = 0
  let fallbacks = 0
  fc.assert(
    fc.property(chains, (described) => {
      const decoded = Schema.decodeUnknownSync(ChainExecutionRequest)(JSON.parse(JSON.stringify(described)))
      const outcome = Effect.runSync(
        Effect.either(Effect.provide(run(adHoc(decoded), decoded.request), silent))
      )
      const expected = evaluate(decoded)
      if (expected === "unhandled") unhandled++
      else if (expected[0] === "fallback") fallbacks++
      assert.deepStrictEqual(
        Either.match(outcome, {
          onLeft: () => "unhandled",
          onRight: ({ handledBy, response }) => [handledBy, response]
        }),
        expected
      )
    }),
    { numRuns: 10_000 }
  )
  assert.isAbove(unhandled, 100)
  assert.isAbove(fallbacks, 100)
})
