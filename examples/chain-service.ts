/**
 * A chain as a service of another program, with policies around a step.
 *
 * Output:
 * 10.00 EUR, 9.00 EUR, unknown: Unavailable, nothing to pay
 */
import { Chain, ChainBuilder, Policy } from "chainstore/chain"
import { Context, Data, Effect, Layer, pipe, Schedule } from "effect"

class Unavailable extends Data.TaggedError("Unavailable")<{}> {}
class Rates extends Context.Tag("example/Rates")<
  Rates,
  { readonly of: (currency: string) => Effect.Effect<number, Unavailable> }
>() {}

interface Price {
  readonly amount: number
  readonly currency: string
}

const converted = (price: Price) =>
  Effect.gen(function* () {
    const rate = yield* (yield* Rates).of(price.currency)
    return `${(price.amount * rate).toFixed(2)} EUR`
  })

const prices = ChainBuilder.make<Price, string>("prices")
  .useWhen(
    (price) => price.currency === "EUR",
    (price) => `${price.amount.toFixed(2)} EUR`,
    { name: "own currency" }
  )
  .useWhen(
    (price) => price.amount > 0,
    pipe(
      converted,
      Policy.timeout("1 second"),
      Policy.retry(Schedule.recurs(3)),
      Policy.recover((error: { readonly _tag: string }) => `unknown: ${error._tag}`)
    ),
    { name: "converted" }
  )
  .withFallback(() => "nothing to pay")
  .build()

/** The chain as a service: its users need not know what it is made of, nor what it requires. */
class Prices extends Context.Tag("example/Prices")<
  Prices,
  Chain.Chain<Price, string, never, never, never>
>() {}
const price = Chain.service(Prices)

let calls = 0
const flakyRates = Layer.succeed(Rates, {
  of: (currency) => (currency === "USD" && ++calls > 2 ? Effect.succeed(0.9) : new Unavailable())
})
const live = Layer.provide(Chain.layer(Prices, prices), flakyRates)

const program = Effect.all([
  price({ amount: 10, currency: "EUR" }),
  price({ amount: 10, currency: "USD" }),
  price({ amount: 10, currency: "XXX" }),
  price({ amount: 0, currency: "USD" })
])

console.log((await Effect.runPromise(Effect.provide(program, live))).join(", "))
