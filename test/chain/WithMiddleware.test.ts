import { assert, describe, it } from "@effect/vitest"
import { Chain, ChainBuilder, type Downstream } from "chainstore/chain"
import { Context, Data, Effect, Exit } from "effect"

const make = () => ChainBuilder.make<number, string>("demo")

describe("Chain.withMiddleware", () => {
  class Busy extends Data.TaggedError("Busy")<{ readonly by: string }> {}
  const steps = make()
    .useWhen(
      (n) => n === 1,
      () => new Busy({ by: "first" }),
      { name: "first" }
    )
    .useWhen(
      (n) => n === 2,
      () => "two",
      { name: "second" }
    )
  const patient = Chain.withMiddleware(
    steps.build(),
    (n, next) => Effect.catchTag(next(n), "Busy", ({ by }) => Effect.succeed(`${by} is busy`)),
    { name: "patient" }
  )

  it("runs the chain inside the middleware, and is one of its steps", () => {
    assert.strictEqual(Chain.executeSync(patient, 1), "first is busy")
    assert.deepStrictEqual(patient.pipe(Chain.executeNamedExit(2)), Exit.succeed({ response: "two", handledBy: "second" })) // biome-ignore format: one line
    assert.strictEqual(Chain.executeSync(steps.withFallback((n) => `no ${n}`).build().pipe(Chain.withMiddleware((n, next) => next(n + 1))), 2), "no 3") // biome-ignore format: one line
    assert.strictEqual(Chain.count(patient), 3)
    assert.deepStrictEqual(
      Chain.describe(patient).handlers.map(({ kind, name }) => [name, kind]),
      [
        ["patient", "middleware"],
        ["first", "handler"],
        ["second", "handler"]
      ]
    )
    assert.strictEqual(
      Chain.describe(Chain.withMiddleware(steps.build(), (n, next) => next(n))).handlers[0]!.name,
      "middleware"
    )
    assert.throws(
      () => Chain.withMiddleware(patient, 1 as never),
      /middleware must be a function or an object with handle, not number/
    )
    assert.throws(() => patient.pipe(Chain.withMiddleware({} as never)), /an object with handle, not object/)
    for (const none of [undefined, null])
      assert.throws(
        () => Chain.withMiddleware(patient, none as never),
        `must be a function or an object with handle, not ${none}`
      )
    assert.throws(
      () => Chain.withMiddleware((() => "x") as never, {} as never),
      /Chain takes what build\(\) gives, not function/
    )
  })

  it("takes an object with name and description, in either order", () => {
    class Told {
      readonly name = "told"
      readonly description = "Tells."
      readonly #mark = "!"
      handle(n: number, next: (n: number) => Effect.Effect<string, Busy | Downstream>) {
        return Effect.map(next(n), (answer) => answer + this.#mark)
      }
    }
    const chain = steps.build()
    const shown = [{ name: "told", kind: "middleware", description: "Tells." }]
    for (const told of [
      Chain.withMiddleware(chain, new Told()),
      chain.pipe(Chain.withMiddleware(new Told()))
    ]) {
      assert.strictEqual(Chain.executeSync(told, 2), "two!")
      assert.deepStrictEqual(Chain.describe(told).handlers.slice(0, 1), shown)
    }
    const renamed = Chain.withMiddleware(chain, new Told(), { name: "other" })
    assert.deepStrictEqual(Chain.describe(renamed).handlers.slice(0, 1), [{ ...shown[0]!, name: "other" }])
    const unnamed = chain.pipe(Chain.withMiddleware({ handle: (n, next) => next(n) }))
    assert.strictEqual(Chain.describe(unnamed).handlers[0]?.name, "middleware")
  })

  it("has the steps inside it, too, that follow it in another chain", () => {
    const merged = make()
      .use(patient)
      .use((n) => (n === 3 ? new Busy({ by: "third" }) : "last"))
      .build()
    assert.strictEqual(Chain.executeSync(merged, 3), "third is busy")
    assert.strictEqual(Chain.executeSync(merged, 4), "last")
    const closed = Chain.withMiddleware(steps.withFallback(() => "closed").build(), (n, next) => next(n))
    const after = make().use(closed, { name: "closed" }).use(() => "never", { name: "late" }).build() // biome-ignore format: one line
    assert.deepStrictEqual(Chain.warnings(after).map(({ path }) => path), [["late"]]) // biome-ignore format: one line
    assert.strictEqual(Chain.executeSync(after, 9), "closed")
  })

  it("every entry takes the chain last as it does first", () => {
    const anything = ChainBuilder.make<undefined, string>().use(() => "x").build() // biome-ignore format: one line
    assert.strictEqual(Chain.executeSync(anything, undefined), "x")
    assert.strictEqual(anything.pipe(Chain.executeSync(undefined)), "x")
    assert.deepStrictEqual(patient.pipe(Chain.executeExit(2)), Exit.succeed("two"))
    assert.strictEqual(Effect.runSync(patient.pipe(Chain.execute(1))), "first is busy")
    assert.strictEqual(Effect.runSync(patient.pipe(Chain.executeNamed(2))).handledBy, "second")
    assert.deepStrictEqual(Effect.runSync(patient.pipe(Chain.trace(2))).exit, Exit.succeed("two"))
    const provided = patient.pipe(Chain.provide(Context.empty()))
    assert.strictEqual(Chain.executeSync(provided, 2), "two")
  })
})
