import { assert, it } from "@effect/vitest"
import { Chain, ChainBuilder, Logging } from "chainstore/chain"
import { Effect, Exit, FastCheck } from "effect"

interface AdHoc {
  readonly handlers: ReadonlyArray<{
    readonly name: string
    readonly when: readonly ["equals" | "lessThan" | "greaterThan", number]
    readonly respond: string
  }>
  readonly fallback: string | undefined
}

const number = FastCheck.oneof(
  FastCheck.integer({ min: -3, max: 3 }),
  FastCheck.double({ noNaN: true, noDefaultInfinity: true }),
  FastCheck.constantFrom(-0, 0.1 + 0.2, 1e21, 1e-7)
)

const adHoc: FastCheck.Arbitrary<AdHoc> = FastCheck.record({
  handlers: FastCheck.array(
    FastCheck.record({
      name: FastCheck.constantFrom("a", "b", "fallback", ""),
      when: FastCheck.tuple(
        FastCheck.constantFrom("equals" as const, "lessThan" as const, "greaterThan" as const),
        number
      ),
      respond: FastCheck.string({ maxLength: 4 })
    }),
    { minLength: 1, maxLength: 12 }
  ),
  fallback: FastCheck.option(FastCheck.string({ maxLength: 4 }), { nil: undefined })
})

const compare = {
  equals: (request: number, value: number) => request === value,
  lessThan: (request: number, value: number) => request < value,
  greaterThan: (request: number, value: number) => request > value
}

const composed = ({ fallback, handlers }: AdHoc, log: Array<string>) => {
  let builder = ChainBuilder.make<number, string>("ad-hoc").useLogging({
    level: "Information",
    write: (entry) => log.push(Logging.format(entry))
  })
  for (const { name, respond, when } of handlers) {
    const [comparison, value] = when
    builder = builder.useWhen(
      (request) => compare[comparison](request, value),
      (request) => `${respond}:${request}`,
      { name: `handler ${name}` }
    )
  }
  return fallback === undefined
    ? builder.build()
    : builder.withFallback((request) => `${fallback}:${request}`).build()
}

/** A second evaluator: it filters where the chain walks, and shares nothing with it. */
const evaluated = ({ fallback, handlers }: AdHoc, request: number) => {
  const matching = handlers.filter(({ when: [comparison, value] }) =>
    comparison === "equals"
      ? !(request < value) && !(request > value)
      : comparison === "lessThan"
        ? value > request
        : value < request
  )
  const [first] = matching
  if (first !== undefined)
    return { response: `${first.respond}:${request}`, handledBy: `handler ${first.name}` }
  return fallback === undefined ? "unhandled" : { response: `${fallback}:${request}`, handledBy: "fallback" }
}

it("10,000 random ad-hoc chains answer as an independent evaluator says, and log as documented", () => {
  FastCheck.assert(
    FastCheck.property(adHoc, number, (description, request) => {
      const log: Array<string> = []
      const chain = composed(description, log)
      const exit = Effect.runSyncExit(Chain.executeNamed(chain, request))
      const expected = evaluated(description, request)
      assert.deepStrictEqual(Exit.isSuccess(exit) ? exit.value : "unhandled", expected)
      assert.strictEqual(Chain.count(chain), description.handlers.length + 1)
      assert.strictEqual(log.length, 2)
      assert.strictEqual(log[0], "Information: Executing chain ad-hoc.")
      assert.match(
        log[1]!,
        expected === "unhandled"
          ? /^Error: Chain ad-hoc failed after \d+\.\d{3} ms\.$/
          : /^Information: Executed chain ad-hoc in \d+\.\d{3} ms\.$/
      )
    }),
    { numRuns: 10_000 }
  )
})
