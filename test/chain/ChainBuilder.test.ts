import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Chain, ChainBuilder } from "chainstore/chain"
import { Effect, pipe } from "effect"

const make = () => ChainBuilder.make<number, string>()
const answer = (builder: ChainBuilder<number, string, any, any, any>, request = 1) =>
  Chain.executeSync(builder.build() as Chain.Chain<number, string>, request)
const refusing = (builder: ChainBuilder<number, string>) =>
  builder.useWhen(
    () => false,
    () => "never"
  )

describe("fallbacks", () => {
  it("the last one set counts, and steps added later still come before it", () => {
    const builder = make()
      .withFallback(() => "first")
      .withFallback((n) => Effect.succeed(`last ${n}`))
    assert.strictEqual(answer(builder), "last 1")
    assert.strictEqual(
      answer(
        builder.useWhen(
          (n) => n === 1,
          () => "step"
        )
      ),
      "step"
    )
  })

  it("a branch's own ends there, but only for the requests that enter", () => {
    const builder = make()
      .useBranch(
        (n) => n > 10,
        (branch) => refusing(branch).withFallback(() => "branch")
      )
      .useWhen(
        (n) => n > 5,
        () => "after"
      )
      .withFallback(() => "parent")
    assert.strictEqual(answer(builder, 11), "branch")
    assert.strictEqual(answer(builder, 6), "after")
    assert.strictEqual(answer(builder, 1), "parent")
  })

  it("a merged fragment's ends the chain, and the steps after it are reported", () => {
    const fragment = refusing(make()).withFallback(() => "fragment")
    for (const merged of [fragment, fragment.build()]) {
      const builder = make()
        .use(merged as typeof fragment, { name: "closed" })
        .use(() => "dead", { name: "dead" })
        .withFallback(() => "also dead")
      assert.strictEqual(answer(builder), "fragment")
      assert.deepStrictEqual(
        Chain.warnings(builder.build()).map(({ endedBy, path }) => ({ endedBy, path })),
        [
          { endedBy: "closed", path: ["dead"] },
          { endedBy: "closed", path: ["fallback"] }
        ]
      )
    }
  })
})

describe("warnings", () => {
  it("are none for a chain without unreachable steps", () => {
    const chain = make()
      .use(refusing(make()))
      .useBranch(
        (n) => n > 1,
        (branch) => branch.withFallback(() => "x")
      )
      .use(
        make()
          .useBranch(
            (n) => n > 1,
            (branch) => branch.withFallback(() => "x")
          )
          .useLogging({ write: () => {} })
          .use((n, next) => next(n))
      )
      .withFallback(() => "y")
      .build()
    assert.deepStrictEqual(Chain.warnings(chain), [])
  })

  it("look into branches, and past fragments that end by a fragment of theirs", () => {
    const ending = make().withFallback(() => "x")
    const chain = make()
      .useBranch(
        (n) => n > 1,
        (branch) =>
          branch
            .use(make().use(ending, { name: "deep" }), { name: "outer" })
            .use(() => "dead", { name: "dead" }),
        { name: "branch" }
      )
      .use(() => "alive", { name: "alive" })
      .build()
    assert.deepStrictEqual(Chain.warnings(chain), [
      {
        _tag: "UnreachableStep",
        path: ["branch", "dead"],
        endedBy: "outer",
        message: 'No request reaches "branch > dead": the fallback of "outer" ends the chain before it.'
      }
    ])
  })
})

describe("counting and describing", () => {
  it("counts registered steps, a fragment or branch as one, a fallback as none", () => {
    assert.strictEqual(Chain.count(make().build()), 0)
    assert.strictEqual(
      Chain.count(
        make()
          .withFallback(() => "x")
          .build()
      ),
      0
    )
    const one = make().use(() => "x")
    assert.strictEqual(Chain.count(one.use(one).use(one).build()), 3)
    assert.strictEqual(
      Chain.count(
        one
          .useLogging()
          .useTracing()
          .useBranch(
            () => true,
            (b) => b
          )
          .build()
      ),
      4
    )
  })

  it("describes steps in order, the fallback last", () => {
    const audit = Object.assign((n: number, next: (n: number) => Effect.Effect<string, any>) => next(n), {})
    const chain = ChainBuilder.make<number, string>("demo")
      .useLogging()
      .useTracing()
      .use(audit as never, { kind: "middleware", description: "Watches." })
      .useWhen(
        (n) => n > 1,
        () => "x",
        { name: "big", description: "Takes large numbers." }
      )
      .use({ name: "object", description: "From the object.", handle: () => "x" })
      .use({ name: "selective", description: "Says beforehand.", canHandle: () => true, process: () => "x" })
      .use({ handle: () => "x" })
      .useBranch(
        (n) => n > 5,
        (branch) => branch
      )
      .use(ChainBuilder.make<number, string>("fragment"), { description: "Merged." })
      .withFallback(() => "x", { description: "The rest." })
      .build()
    assert.deepStrictEqual(Chain.describe(chain), {
      name: "demo",
      count: 9,
      handlers: [
        { name: "logging", kind: "middleware", description: "Logs start, duration and outcome." },
        { name: "tracing", kind: "middleware", description: "Runs the rest of the chain in a span." },
        { name: "middleware-3", kind: "middleware", description: "Watches." },
        { name: "big", kind: "handler", description: "Takes large numbers." },
        { name: "object", kind: "handler", description: "From the object." },
        { name: "selective", kind: "handler", description: "Says beforehand." },
        { name: "handler-7", kind: "handler", description: "" },
        { name: "branch-8", kind: "branch", description: "" },
        { name: "fragment", kind: "branch", description: "Merged." },
        { name: "fallback", kind: "fallback", description: "The rest." }
      ]
    })
  })

  it("describes logging alike, however it writes, and numbers selective handlers without a name", () => {
    const builder = make()
      .useLogging({ write: () => {} })
      .useLogging({ log: () => Effect.void })
      .use({ canHandle: () => true, process: () => "x" })
    const description = "Logs start, duration and outcome."
    assert.deepStrictEqual(Chain.describe(builder.build()).handlers, [
      { name: "logging", kind: "middleware", description },
      { name: "logging", kind: "middleware", description },
      { name: "handler-3", kind: "handler", description: "" }
    ])
  })

  it("prints a chain and a builder as their description", () => {
    const builder = ChainBuilder.make<number, string>("printed").use(() => "x", { name: "one" })
    const handlers = [{ name: "one", kind: "handler", description: "" }]
    const shown = { name: "printed", count: 1, handlers }
    assert.strictEqual(builder.build().name, "printed")
    assert.strictEqual(make().build().name, "chain")
    assert.deepStrictEqual(JSON.parse(JSON.stringify(builder.build())), { _id: "Chain", ...shown })
    for (const text of [String(builder), inspect(builder)])
      assert.deepStrictEqual(JSON.parse(text), { _id: "ChainBuilder", ...shown })
  })

  it("options go before what an object or function says of itself", () => {
    function named() {
      return "x"
    }
    const options = { name: "given", description: "Given." }
    const builder = make()
      .use(named)
      .use(named, options)
      .use({ name: "own", description: "Own.", handle: named }, { ...options, kind: "middleware" })
      .use({ name: "own", description: "Own.", canHandle: () => true, process: named }, options)
      .use(make(), options)
      .useWhen(() => true, named)
      .useBranch(
        () => true,
        (b) => b,
        options
      )
    assert.deepStrictEqual(Chain.describe(builder.build()).handlers, [
      { name: "named", kind: "handler", description: "" },
      { name: "given", kind: "handler", description: "Given." },
      { name: "given", kind: "middleware", description: "Given." },
      { name: "given", kind: "handler", description: "Given." },
      { name: "given", kind: "branch", description: "Given." },
      { name: "named", kind: "handler", description: "" },
      { name: "given", kind: "branch", description: "Given." }
    ])
  })
})

describe("composition", () => {
  it("happens at build: a branch is configured once", () => {
    let configured = 0
    const chain = make()
      .useBranch(
        () => true,
        (branch) => {
          configured++
          return branch
        }
      )
      .withFallback(() => "x")
      .build()
    Chain.executeSync(chain, 1)
    Chain.executeSync(chain, 1)
    assert.strictEqual(configured, 1)
  })

  it("leaves the builder as it was", () => {
    const base = make().useWhen(
      (n) => n === 1,
      () => "one"
    )
    const two = base.withFallback(() => "two")
    const three = base.withFallback(() => "three")
    assert.strictEqual(answer(two, 2), "two")
    assert.strictEqual(answer(three, 2), "three")
    assert.throws(() => answer(base, 2), "No handler")
  })

  it("runs the steps after a branch or fragment that refuses, with the changed request", () => {
    const builder = make()
      .useBranch(
        (n) => n <= 1,
        (branch) => branch.use((n, next) => next(n + 1)).use(refusing(make()))
      )
      .use(
        make()
          .use((n, next) => next(n * 10))
          .build()
      )
      .withFallback((n) => `${n}`)
    assert.strictEqual(answer(builder, 1), "20")
    assert.strictEqual(answer(builder, 3), "30")
  })

  it("pipes", () => {
    const withDefault = (builder: ChainBuilder<number, string>) => builder.withFallback(() => "piped")
    assert.strictEqual(answer(make().pipe(withDefault)), "piped")
    assert.strictEqual(answer(pipe(make(), withDefault)), "piped")
  })

  it("grows in proportion to its steps", () => {
    const built = (length: number) => {
      let builder = make()
      for (let i = 0; i < length; i++) builder = refusing(builder)
      return Chain.count(builder.build())
    }
    assert.strictEqual(built(10_000), 10_000)
  })
})

describe("what cannot be registered", () => {
  const wrong = (register: () => unknown, message: string) => {
    try {
      register()
    } catch (error) {
      assert.instanceOf(error, TypeError)
      assert.strictEqual((error as Error).message, message)
      return
    }
    assert.fail("nothing was thrown")
  }
  const none = undefined as never
  const use =
    "ChainBuilder.use takes a handler function, an object with handle or with canHandle and process, a builder or a chain, not "

  it("is refused at the call, by name", () => {
    wrong(() => make().use(none), `${use}undefined`)
    wrong(() => make().use(null as never), `${use}null`)
    wrong(() => make().use(1 as never), `${use}number`)
    wrong(() => make().use({} as never), `${use}object`)
    wrong(() => make().use({ handle: 1 } as never), `${use}object`)
    wrong(() => make().use({ canHandle: () => true } as never), `${use}object`)
    wrong(() => make().use({ canHandle: 1, process: () => "x" } as never), `${use}object`)
    wrong(
      () => make().useWhen(none, () => "x"),
      "ChainBuilder.useWhen: condition must be a function, not undefined"
    )
    wrong(
      () => make().useWhen(() => true, none),
      "ChainBuilder.useWhen: handler must be a function, not undefined"
    )
    wrong(
      () => make().useBranch(none, (b) => b),
      "ChainBuilder.useBranch: condition must be a function, not undefined"
    )
    wrong(
      () => make().useBranch(() => true, none),
      "ChainBuilder.useBranch: configure must be a function, not undefined"
    )
    wrong(
      () =>
        make().useBranch(
          () => true,
          () => none
        ),
      "ChainBuilder.useBranch: configure must return a builder, not undefined"
    )
    wrong(
      () => make().useLogging({ write: none }),
      "ChainBuilder.useLogging: write must be a function, not undefined"
    )
    wrong(
      () => make().useLogging({ log: none }),
      "ChainBuilder.useLogging: log must be a function, not undefined"
    )
    wrong(() => make().useTracing({ spanName: "" }), "ChainBuilder.useTracing: spanName must not be empty")
    wrong(
      () => make().withFallback(null as never),
      "ChainBuilder.withFallback: fallback must be a function, not null"
    )
  })
})

it("says what is missing where a builder is taken for a chain", () => {
  const builder = ChainBuilder.make<number, string>().use(() => "answer")
  for (const call of [
    Chain.execute,
    Chain.executeNamed,
    Chain.executeSync,
    Chain.executeExit,
    Chain.trace,
    Chain.count,
    Chain.describe
  ] as ReadonlyArray<(chain: never, request: number) => unknown>) {
    assert.throws(() => call(builder as never, 1), TypeError, "what build() gives, not a builder")
    for (const [wrong, kind] of [
      [null, "null"],
      [undefined, "undefined"],
      [1, "number"],
      ["build", "string"],
      [{}, "object"]
    ] as const)
      assert.throws(() => call(wrong as never, 1), TypeError, `Chain takes what build() gives, not ${kind}`)
  }
})
