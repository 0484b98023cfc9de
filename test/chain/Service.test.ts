import { assert, it } from "@effect/vitest"
import { Chain, ChainBuilder, type Downstream } from "chainstore/chain"
import { Context, Effect, Exit, Layer, Option, type Tracer } from "effect"

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
    const piped = everywhere
      .build()
      .pipe(Chain.layer(Greeter), Layer.provide(Layer.succeed(Greeting, "hello")))
    assert.strictEqual(yield* Effect.provide(greeter(5), piped), "hello")
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

it.effect("a reply may be a service itself, and a provided handler may return a plain response", () =>
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

it("a provided step may answer null, and keep the rest for later", () => {
  const kept: Array<Effect.Effect<string | null, Downstream>> = []
  const chain = ChainBuilder.make<number, string | null>("keeper")
    .use((n, next) => {
      kept.push(next(n + 1))
      return null
    })
    .use((n) => `rest ${n}`)
    .build()
  assert.isNull(Chain.executeSync(Chain.provide(chain, Context.make(Greeting, "given")), 1))
  assert.deepStrictEqual(kept.map(Effect.runSync), ["rest 2"])
})

/** The names of the spans around, the innermost first. */
const spans = Effect.map(Effect.option(Effect.currentSpan), (current) => {
  const names: Array<string> = []
  let at: Option.Option<Tracer.AnySpan> = current
  while (Option.isSome(at) && at.value._tag === "Span") {
    names.push(at.value.name)
    at = at.value.parent
  }
  return names.join(" < ")
})

const traced = make()
  .useTracing({ spanName: "chain" })
  .use(() => Effect.zipRight(greet, spans))

it.effect("a provided chain keeps the spans and services that its own steps put around the rest", () =>
  Effect.gen(function* () {
    const given = Chain.provide(traced.build(), Context.make(Greeting, "ahoy"))
    assert.strictEqual(yield* Effect.withSpan(Chain.execute(given, 1), "request"), "chain < request")
    const after = (first: Chain.Chain<number, string>) =>
      make()
        .use(first)
        .use(() => Effect.serviceOptional(Greeting).pipe(Effect.orElseSucceed(() => "none")))
        .build()
    const changing = make()
      .use((n, next) => Effect.provideService(next(n), Greeting, "changed"))
      .build()
    const changed = after(Chain.provide(changing, Context.make(Greeting, "ahoy")))
    assert.strictEqual(yield* Chain.execute(after(changing), 1), "changed")
    assert.strictEqual(yield* Chain.execute(changed, 1), "changed")
    const passing = make()
      .use((n, next) => Effect.map(next(n), (text) => text))
      .use((n, next) => next(n))
      .build()
    const twice = Chain.provide(
      Chain.provide(passing, Context.make(Greeting, "inner")),
      Context.make(Greeting, "outer")
    )
    assert.strictEqual(yield* Chain.execute(after(twice), 1), "none")
  })
)

it.effect("a chain that a layer holds is traced where it is used, not where the layer was built", () =>
  Effect.gen(function* () {
    const layer = Chain.layer(Greeter, traced.build()).pipe(Layer.provide(Layer.succeed(Greeting, "hello")))
    const context = yield* Effect.withSpan(Layer.build(layer), "start")
    const answer = Effect.withSpan(Chain.service(Greeter)(1), "request")
    assert.strictEqual(yield* Effect.provide(answer, context), "chain < request")
  }).pipe(Effect.scoped)
)

it("a chain is provided however deep its fragments are nested", () => {
  let nested = make().use(() => "deep")
  for (let level = 0; level < 20_000; level++) {
    const inner = nested
    nested =
      level % 2 === 0
        ? make().use(inner)
        : make().useBranch(
            () => true,
            () => inner
          )
  }
  assert.strictEqual(Chain.executeSync(Chain.provide(nested.build(), Context.empty()), 1), "deep")
})
