import { assert, it } from "@effect/vitest"
import { Chain, ChainBuilder, type UnhandledRequestError } from "chainstore/chain"
import { ChainLaws } from "chainstore/testing"
import { Data, Effect, Exit, FastCheck } from "effect"

const make = (name = "judged") => ChainBuilder.make<number, unknown>(name)
const requests = FastCheck.integer({ min: -3, max: 3 })

class Refused extends Data.TaggedError("Refused")<{ readonly message: string; readonly run?: number }> {}

let runs = 0
const fickle = {
  "a Map": () => new Map([["run", runs++]]),
  "a Set": () => new Set([runs++]),
  "a bigint inside": () => ({ run: BigInt(runs++) }),
  "an error": () => Effect.fail(new Refused({ message: `run ${runs++}` })),
  "an error's field": () => Effect.fail(new Refused({ message: "run", run: runs++ })),
  "a defect": () => {
    throw new Error(`run ${runs++}`)
  },
  "a function": () => (runs++ % 2 === 0 ? () => 1 : () => 2)
}

it.effect.each(Object.entries(fickle))("laws notice answers that differ in %s", ([, answer]) =>
  Effect.gen(function* () {
    const builder = make().use(() => answer())
    for (const law of [ChainLaws.laziness, ChainLaws.agreement, ChainLaws.immutability]) {
      assert.isTrue(Exit.isFailure(yield* Effect.exit(law(builder, 1))))
    }
  })
)

const steady = {
  "answers what no text shows": make().use(() => new Map([["a", { b: [1n, new Date(0), Symbol.for("x")] }]])),
  "fails anew each time": make().use(() => Effect.fail(new Refused({ message: "always" }))),
  "executes another chain, which may refuse": make().use((n) =>
    Chain.execute(
      make("other")
        .useWhen(
          (m) => m > 0,
          () => "positive"
        )
        .build(),
      n
    )
  )
}

it.each(Object.entries(steady))("laws hold for a chain that %s", async (_, builder) => {
  const subject: ChainBuilder<number, unknown, Refused | UnhandledRequestError> = builder
  for (const law of Object.values(ChainLaws.all))
    await ChainLaws.check(law, subject, requests, { numRuns: 10 })
})

it("a counterexample shows the chain as its description", async () => {
  const failing = ChainLaws.check(
    ChainLaws.laziness,
    make().use(() => runs++, { name: "counter" }),
    requests
  )
  const message = await failing.then(
    () => "",
    (error: Error) => error.message
  )
  assert.include(message, "counter")
  assert.notInclude(message, "previous")
  const chain = make("shown").use(() => 1, { name: "one" })
  for (const shown of [String(chain), String(chain.build())]) {
    assert.include(shown, "shown")
    assert.include(shown, "one")
  }
})
