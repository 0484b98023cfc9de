import { assert, it } from "@effect/vitest"
import { Effect, Either, FastCheck as fc, Logger, Schema } from "effect"
import { PathSegment, RefPath } from "../../../src/domain/http/PathSegment.js"
import { ChainExecutionRequest, render } from "../../../src/domain/playground/ChainExecution.js"
import { Condition, matches } from "../../../src/domain/playground/Condition.js"
import { isUrgent, Ticket } from "../../../src/domain/playground/Ticket.js"
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

it("a condition has exactly one known comparison with a finite number", () => {
  const isCondition = Schema.is(Condition)
  const decodes = (value: unknown) => Either.isRight(Schema.decodeUnknownEither(Condition)(value))
  for (const sound of [{ equals: 0 }, { lessThan: -1.5 }, { greaterThan: 1e300 }])
    assert.isTrue(isCondition(sound) && decodes(sound))
  for (const odd of [
    {},
    { equals: 1, lessThan: 1 },
    { equals: Number.NaN },
    { equals: Number.POSITIVE_INFINITY },
    { is: 1 },
    [],
    null,
    1
  ]) {
    assert.isFalse(decodes(odd), JSON.stringify(odd))
  }
})

it("comparisons are strict, and -0 equals 0", () => {
  assert.isTrue(matches({ equals: 0 }, -0))
  assert.isFalse(matches({ lessThan: 1 }, 1))
  assert.isFalse(matches({ greaterThan: 1 }, 1))
  assert.isTrue(matches({ lessThan: 0 }, -Number.MIN_VALUE))
})

it("what a placeholder is replaced with is not scanned again", () => {
  assert.strictEqual(render("{request}{request}", 1), "11")
  assert.strictEqual(render("{req{request}uest}", 1), "{req1uest}")
})

it("a ticket's id is an int32, and an absent priority is normal", () => {
  const decode = Schema.decodeUnknownEither(Ticket)
  fc.assert(
    fc.property(fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger()), (id) => {
      assert.strictEqual(
        Either.isRight(decode({ id, kind: "other" })),
        Number.isInteger(id) && (id | 0) === id
      )
    })
  )
  assert.isFalse(isUrgent({ id: 1, kind: "other" }))
  assert.isTrue(isUrgent({ id: 1, kind: "other", priority: "urgent" }))
})

it("path segments survive the wire: what is encoded is one segment, and decodes to itself", () => {
  const segment = fc.string({ minLength: 1 }).filter((value) => isWellFormed(value))
  fc.assert(
    fc.property(segment, (value) => {
      const encoded = Schema.encodeSync(PathSegment)(value)
      assert.notInclude(encoded, "/")
      assert.strictEqual(decodeURIComponent(encoded), value)
      assert.strictEqual(
        Schema.encodeSync(RefPath)(`refs/heads/${value}`),
        `refs/heads/${encoded.replaceAll("%2F", "/")}`
      )
    })
  )
})

const isWellFormed = (value: string) => !/\p{Surrogate}/u.test(value)
