import { assert, it } from "@effect/vitest"
import { Chain, ChainBuilder } from "chainstore/chain"
import { Context, Effect, Exit, Layer } from "effect"

class Greeting extends Context.Tag("test/Greeting")<Greeting, string>() {}
class Greeter extends Context.Tag("test/Greeter")<Greeter, Chain.Chain<number, string>>() {}

const greet = Effect.map(Greeting, (greeting) => greeting)
const make = () => ChainBuilder.make<number, string>("greeter")

const everywhere = make()
  .useWhen(
    (n) => Effect.map(Greeting, (greeting) => greeting.length === n),
    () => greet
  )
  .useBranch(
    (n) => n > 90,
    (branch) => branch.use((n, next) => (n === 99 ? greet : next(n)))
  )
  .use((n, next) => Effect.map(next(n), (text) => `${text}!`))

it.effect("a chain is a service, its requirements taken when the layer is built", () =>
  Effect.gen(function* () {
    const greeter = Chain.service(Greeter)
    const layer = Chain.layer(Greeter, everywhere.build()).pipe(
      Layer.provide(Layer.succeed(Greeting, "hello"))
    )
    const answer = (n: number) => Effect.provide(Effect.exit(greeter(n)), layer)
    assert.deepStrictEqual(yield* answer(5), Exit.succeed("hello"))
    assert.deepStrictEqual(yield* answer(99), Exit.succeed("hello"))
    assert.isTrue(Exit.isFailure(yield* answer(1)))
  })
)

it("a provided chain keeps count, description, fallback and warnings, and runs at once", () => {
  const closed = everywhere.withFallback(() => greet)
  const chain = make()
    .use(closed)
    .use(() => "dead")
    .build()
  const given = Chain.provide(chain, Context.make(Greeting, "ahoy"))
  assert.strictEqual(Chain.count(given), 2)
  assert.deepStrictEqual(Chain.describe(given), Chain.describe(chain))
  assert.deepStrictEqual(Chain.warnings(given), Chain.warnings(chain))
  assert.strictEqual(Chain.warnings(given).length, 1)
  assert.strictEqual(Chain.executeSync(given, 4), "ahoy")
  assert.strictEqual(Chain.executeSync(given, 1), "ahoy!")
  const fallback = Chain.provide(
    make()
      .withFallback(() => greet)
      .build(),
    Context.make(Greeting, "bye")
  )
  assert.strictEqual(Chain.executeSync(fallback, 1), "bye")
  assert.strictEqual(Chain.describe(fallback).handlers.length, 1)
})

it.effect("what a merged chain was given stays with its own steps", () =>
  Effect.gen(function* () {
    const fragment = make()
      .use((n, next) =>
        n === 0 ? next(n) : Effect.flatMap(greet, (own) => Effect.map(next(n), (rest) => `${own} ${rest}`))
      )
      .build()
    const chain = make()
      .use(Chain.provide(fragment, Context.make(Greeting, "inner")))
      .use(() => greet)
      .build()
    const execution = (n: number) => Effect.provideService(Chain.execute(chain, n), Greeting, "outer")
    assert.strictEqual(yield* execution(1), "inner outer")
    assert.strictEqual(yield* execution(0), "outer")
    const pure = make()
      .use(Chain.provide(fragment, Context.make(Greeting, "inner")))
      .use(() => "plain")
      .build()
    assert.strictEqual(Chain.executeSync(pure, 1), "inner plain")
  })
)

it.effect("a provided step may execute another chain that requires the same", () =>
  Effect.gen(function* () {
    const inner = make()
      .use(() => greet)
      .build()
    const chain = make()
      .use((n) => Chain.execute(inner, n))
      .build()
    assert.strictEqual(
      yield* Chain.execute(Chain.provide(chain, Context.make(Greeting, "given")), 1),
      "given"
    )
  })
)

it.effect("a reply may be a service itself, and a provided handler may answer plainly", () =>
  Effect.gen(function* () {
    const chain = make()
      .use((n) => (n === 1 ? Greeting : "plain"))
      .build()
    assert.strictEqual(yield* Effect.provideService(Chain.execute(chain, 1), Greeting, "itself"), "itself")
    const provided = Chain.provide(chain, Context.make(Greeting, "given"))
    assert.strictEqual(Chain.executeSync(provided, 1), "given")
    assert.strictEqual(Chain.executeSync(provided, 2), "plain")
  })
)
