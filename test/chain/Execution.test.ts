import { assert, describe, it } from "@effect/vitest"
import { AsyncStepError, Chain, ChainBuilder, UnhandledRequestError } from "chainstore/chain"
import { Cause, Deferred, Effect, Either, Exit, Fiber, Option, Schedule } from "effect"

const defectOf = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) && Cause.isDieType(exit.cause) ? (exit.cause.defect as object) : {}
const make = () => ChainBuilder.make<number, string>()
const run = (builder: ChainBuilder<number, string, any, never, any>, request: number) =>
  Effect.runSyncExit(Chain.execute(builder.build(), request))

describe("answers", () => {
  it("come from the first step that accepts", () => {
    const builder = make()
      .useWhen(
        (n) => n < 0,
        () => "negative"
      )
      .useWhen(
        (n) => Effect.succeed(n < 10),
        (n) => Effect.succeed(`small ${n}`)
      )
      .use({ name: "large", canHandle: (n) => n > 99, process: (n) => `large ${n}` })
      .use({ handle: (n, next) => (n === 50 ? "fifty" : next(n)) })
    assert.deepStrictEqual(run(builder, -1), Exit.succeed("negative"))
    assert.deepStrictEqual(run(builder, 5), Exit.succeed("small 5"))
    assert.deepStrictEqual(run(builder, 100), Exit.succeed("large 100"))
    assert.deepStrictEqual(run(builder, 50), Exit.succeed("fifty"))
  })

  it("come from steps that are given the request alone, or the request and next", () => {
    const given = (...parameters: ReadonlyArray<unknown>) => `${parameters.length}`
    const chain = ChainBuilder.make<number, string>()
      .useWhen((n) => n === 1, given)
      .use({ canHandle: (n) => n === 2, process: given })
      .use((n, next) => (n === 3 ? given(n, next) : next(n)))
      .withFallback(given)
      .build()
    assert.deepStrictEqual(
      [1, 2, 3, 4].map((n) => Chain.executeSync(chain, n)),
      ["1", "1", "2", "1"]
    )
  })

  it("may be undefined, an Option, an Either or a function", () => {
    const absent = ChainBuilder.make<0, string | undefined>().use(() => undefined)
    assert.strictEqual(Chain.executeSync(absent.build(), 0), undefined)
    const nothing = ChainBuilder.make<0, number | null>().use(() => null)
    assert.strictEqual(Chain.executeSync(nothing.build(), 0), null)
    const none = ChainBuilder.make<0, Option.Option<number>>().use(() => Option.none())
    assert.deepStrictEqual(Effect.runSync(Chain.execute(none.build(), 0)), Option.none())
    const left = ChainBuilder.make<0, Either.Either<number, string>>().use(() => Either.left("x"))
    assert.deepStrictEqual(Effect.runSync(Chain.execute(left.build(), 0)), Either.left("x"))
    const thunk = () => 1
    const functions = ChainBuilder.make<0, () => number>().use(() => thunk)
    assert.strictEqual(Effect.runSync(Chain.execute(functions.build(), 0)), thunk)
  })

  it("of a changed request come from the steps after", () => {
    const builder = make()
      .use((n, next) => next(n * 2))
      .withFallback((n) => `${n}`)
    assert.deepStrictEqual(run(builder, 21), Exit.succeed("42"))
  })

  it("may be made of several calls of next", () => {
    let runs = 0
    const builder = make()
      .use((n, next) => Effect.zipWith(next(n), next(n + 1), (a, b) => `${a} ${b}`, { concurrent: true }))
      .use((n) => {
        runs++
        return `${n}`
      })
    assert.deepStrictEqual(run(builder, 1), Exit.succeed("1 2"))
    assert.strictEqual(runs, 2)
  })

  it("name the step that gave them", () => {
    const inner = (n: number) => (n > 5 ? Effect.fail("no") : Effect.succeed("inner"))
    const builder = ChainBuilder.make<number, string>()
      .use(
        (n, next) => (n === 0 ? Effect.succeed("outer") : Effect.orElseSucceed(next(n), () => "rescued")),
        { name: "outer" }
      )
      .use((n, next) => Effect.map(next(n), (text) => `<${text}>`), { name: "wrapping" })
      .useWhen((n) => n > 0, inner, { name: "inner" })
    const handled = (n: number) => Effect.runSync(Chain.executeNamed(builder.build(), n))
    assert.deepStrictEqual(handled(0), { response: "outer", handledBy: "outer" })
    assert.deepStrictEqual(handled(1), { response: "<inner>", handledBy: "inner" })
    assert.deepStrictEqual(handled(9), { response: "rescued", handledBy: "outer" })
    assert.deepStrictEqual(handled(-1), { response: "rescued", handledBy: "outer" })
  })

  it("are not those of a first step whose condition refuses", () => {
    const chain = make()
      .useWhen(
        (n) => n > 1,
        () => "many",
        { name: "first" }
      )
      .use(() => "one", { name: "second" })
      .build()
    const one = { response: "one", handledBy: "second" }
    assert.deepStrictEqual(Effect.runSync(Chain.executeNamed(chain, 1)), one)
    assert.deepStrictEqual(Chain.executeNamedExit(chain, 1), Exit.succeed(one))
  })

  it("are credited to the last run of the rest", () => {
    const builder = make()
      .use((n, next) => Effect.zipRight(next(n), next(n + 1)))
      .useWhen(
        (n) => n === 1,
        () => Effect.suspend(() => Effect.succeed("one")),
        { name: "first" }
      )
      .use(() => Effect.suspend(() => Effect.succeed("two")), { name: "second" })
    assert.deepStrictEqual(Effect.runSync(Chain.executeNamed(builder.build(), 1)), {
      response: "two",
      handledBy: "second"
    })
  })

  it("are credited to the rest that is returned, whatever was run before", () => {
    const chain = make()
      .use((n, next) => {
        Effect.runSync(next(n))
        return next(n + 1)
      })
      .useWhen(
        (n) => n === 1,
        () => "one",
        { name: "first" }
      )
      .use(() => Effect.suspend(() => Effect.succeed("two")), { name: "second" })
      .build()
    assert.deepStrictEqual(Effect.runSync(Chain.executeNamed(chain, 1)), {
      response: "two",
      handledBy: "second"
    })
  })

  it("of another chain that a step executes are credited to that step, and its failures keep their name", () => {
    const other = ChainBuilder.make<number, string>("other").useWhen(
      (n) => n === 1,
      () => "one",
      { name: "hidden" }
    )
    const chain = make()
      .use((n) => Chain.execute(other.build(), n), { name: "asking" })
      .build()
    assert.deepStrictEqual(Effect.runSync(Chain.executeNamed(chain, 1)), {
      response: "one",
      handledBy: "asking"
    })
    const error = Effect.runSync(Effect.flip(Chain.execute(chain, 2)))
    assert.strictEqual(error.chain, "other")
  })

  it.effect("have a name although a step began the rest in another fiber, wherever the fibers give way", () =>
    Effect.gen(function* () {
      const pause = (turns: number) =>
        Effect.iterate(0, { while: (n) => n < turns, body: (n) => Effect.succeed(n + 1) })
      // A fiber gives way after 2,048 operations; a turn has three.
      for (let turns = 650; turns < 690; turns++) {
        for (const more of [
          Effect.void,
          Effect.asVoid(Effect.void),
          Effect.zipRight(Effect.void, Effect.void)
        ]) {
          const chain = make()
            .use(
              (n, next) =>
                Effect.fork(next(n)).pipe(
                  Effect.zipRight(pause(turns)),
                  Effect.zipRight(more),
                  Effect.as("own")
                ),
              { name: "own" }
            )
            .use(() => Effect.never, { name: "late" })
            .build()
          yield* Effect.yieldNow()
          const named = yield* Effect.exit(Chain.executeNamed(chain, 1))
          assert.deepStrictEqual(named, Exit.succeed({ response: "own", handledBy: "own" }), `${turns} turns`)
          yield* Effect.yieldNow()
          assert.strictEqual((yield* Chain.trace(chain, 1)).handledBy, "own", `${turns} turns`)
        }
      }
    })
  )

  it("are not attributed to an inner step whose response was ignored", () => {
    const builder = make()
      .use((n, next) => Effect.orElseSucceed(next(n), () => "own"), { name: "outer" })
      .use((n, next) => Effect.flatMap(next(n), () => Effect.fail("rejected")), { name: "middle" })
      .use(() => "thrown away", { name: "inner" })
    assert.deepStrictEqual(Effect.runSync(Chain.executeNamed(builder.build(), 1)), {
      response: "own",
      handledBy: "outer"
    })
    assert.deepStrictEqual(
      Chain.executeNamedExit(builder.build(), 1),
      Exit.succeed({ response: "own", handledBy: "outer" })
    )
  })
})

describe("unhandled requests", () => {
  it("fail with the documented message, and without the request", () => {
    const chain = ChainBuilder.make<{ secret: string }, string>("triage").build()
    const exit = Chain.executeExit(chain, { secret: "hunter2" })
    assert.deepStrictEqual(exit, Exit.fail(new UnhandledRequestError({ chain: "triage" })))
    const error = Effect.runSync(Effect.flip(Chain.execute(chain, { secret: "hunter2" })))
    assert.strictEqual(error.message, "No handler in the chain handled the request.")
    assert.strictEqual(error._tag, "UnhandledRequestError")
    assert.notInclude(JSON.stringify(error) + String(error) + error.stack, "hunter2")
  })

  it("can be caught by a step before", () => {
    const builder = make().use((n, next) =>
      Effect.catchTag(next(n), "UnhandledRequestError", () => Effect.succeed("caught"))
    )
    assert.deepStrictEqual(run(builder, 1), Exit.succeed("caught"))
  })
})

describe("defects", () => {
  const defect = new Error("broken condition")
  const throwing = make().useWhen(
    (): boolean => {
      throw defect
    },
    () => "x"
  )

  it("in conditions are defects of the execution", () => {
    assert.deepStrictEqual(run(throwing, 1), Exit.die(defect))
    assert.deepStrictEqual(
      run(
        throwing.withFallback(() => "y"),
        1
      ),
      Exit.die(defect)
    )
    assert.deepStrictEqual(Chain.executeExit(throwing.build(), 1), Exit.die(defect))
    assert.throws(() => Chain.executeSync(throwing.build(), 1), "broken condition")
    const effectful = make().useWhen(
      () => Effect.die(defect),
      () => "x"
    )
    assert.deepStrictEqual(run(effectful, 1), Exit.die(defect))
  })

  it("never throw out of a generator that yields the execution", () => {
    let caught: unknown
    const exit = Effect.runSyncExit(
      Effect.gen(function* () {
        // @effect-diagnostics-next-line tryCatchInEffectGen:off
        try {
          return yield* Chain.execute(throwing.build(), 1)
        } catch (error) {
          caught = error
          return "caught"
        }
      })
    )
    assert.deepStrictEqual(exit, Exit.die(defect))
    assert.strictEqual(caught, undefined)
  })

  it("include conditions that return neither true nor false", () => {
    for (const [verdict, kind] of [
      [1, "number"],
      ["yes", "string"],
      [undefined, "undefined"],
      [null, "null"],
      [Promise.resolve(true), "object"]
    ] as const) {
      const builder = make().useWhen(
        () => verdict as unknown as boolean,
        () => "x",
        { name: "odd" }
      )
      const message = `The condition of step "odd" gave ${kind}: return true, false, or an Effect of one`
      assert.deepStrictEqual(run(builder, 1), Exit.die(new TypeError(message)))
    }
    const effectful = make().useWhen(
      () => Effect.succeed(1 as unknown as boolean),
      () => "x"
    )
    assert.strictEqual(
      Exit.isFailure(run(effectful, 1)) && defectOf(run(effectful, 1)).constructor,
      TypeError
    )
  })
})

describe("laziness", () => {
  it.effect("a retry runs the handlers again", () =>
    Effect.gen(function* () {
      let runs = 0
      const chain = make()
        .use(() => (++runs < 3 ? Effect.fail("not yet") : `answer ${runs}`))
        .build()
      const execution = Chain.execute(chain, 1)
      assert.strictEqual(runs, 0)
      assert.strictEqual(yield* Effect.retry(execution, Schedule.recurs(5)), "answer 3")
      assert.strictEqual(runs, 3)
    })
  )

  it.effect("so does a repeat, and one execution may run many times at once", () =>
    Effect.gen(function* () {
      let runs = 0
      const chain = make()
        .useWhen(
          () => Effect.as(Effect.yieldNow(), true),
          () => `${++runs}`
        )
        .build()
      const execution = Chain.executeNamed(chain, 1)
      yield* Effect.repeat(execution, Schedule.recurs(2))
      assert.strictEqual(runs, 3)
      const all = yield* Effect.all([execution, execution, execution], { concurrency: "unbounded" })
      assert.deepStrictEqual(
        all.map((handled) => handled.response),
        ["4", "5", "6"]
      )
    })
  )
})

describe("the synchronous entry", () => {
  it("runs effectful steps that need not wait", () => {
    const chain = make()
      .useWhen(
        (n) => Effect.succeed(n === 1),
        () => Effect.succeed("one")
      )
      .use((n, next) => Effect.map(next(n), (text) => `<${text}>`))
      .withFallback(() => "other")
      .build()
    assert.strictEqual(Chain.executeSync(chain, 1), "one")
    assert.strictEqual(Chain.executeSync(chain, 2), "<other>")
    assert.deepStrictEqual(
      Chain.executeNamedExit(chain, 2),
      Exit.succeed({ response: "<other>", handledBy: "fallback" })
    )
  })

  it("throws the failure itself", () => {
    const chain = make()
      .useWhen(
        (n) => n === 1,
        () => Effect.fail("failed")
      )
      .build()
    const thrown = (n: number) => {
      try {
        return Chain.executeSync(chain, n)
      } catch (error) {
        return error
      }
    }
    assert.strictEqual(thrown(1), "failed")
    assert.instanceOf(thrown(2), UnhandledRequestError)
    assert.deepStrictEqual(Chain.executeExit(chain, 1), Exit.fail("failed"))
  })

  it.live("refuses a chain that has to wait, and stops what it began", () =>
    Effect.gen(function* () {
      let interrupted = false
      const stopped = yield* Deferred.make<void>()
      const chain = ChainBuilder.make<number, string>("slow")
        .use(() =>
          Effect.onInterrupt(Effect.never, () => {
            interrupted = true
            return Deferred.succeed(stopped, undefined)
          })
        )
        .build()
      const exit = Chain.executeExit(chain, 1)
      assert.deepStrictEqual(exit, Exit.die(new AsyncStepError({ chain: "slow" })))
      assert.throws(() => Chain.executeSync(chain, 1), /chain "slow" has to wait: use Chain\.execute/)
      yield* Deferred.await(stopped)
      assert.isTrue(interrupted)
    })
  )
})

describe("interruption", () => {
  it.effect("passes through conditions, handlers and wrappers, and releases", () =>
    Effect.gen(function* () {
      for (const place of ["condition", "handler"] as const) {
        const waiting = yield* Deferred.make<void>()
        const events: Array<string> = []
        const wait = Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never)
        const chain = make()
          .use((n, next) =>
            Effect.acquireUseRelease(
              Effect.sync(() => events.push("acquire")),
              () => next(n),
              () => Effect.sync(() => events.push("release"))
            )
          )
          .useWhen(
            () => (place === "condition" ? wait : true),
            () => wait
          )
          .withFallback(() => "never")
          .build()
        const fiber = yield* Effect.fork(Chain.execute(chain, 1))
        yield* Deferred.await(waiting)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
        assert.deepStrictEqual(events, ["acquire", "release"])
      }
    })
  )

  it.live("reaches an endless loop of executions", () =>
    Effect.gen(function* () {
      const chain = make()
        .use((n) => `${n}`)
        .build()
      let turns = 0
      const fiber = yield* Effect.fork(
        Effect.gen(function* () {
          for (;;) {
            yield* Chain.execute(chain, 1)
            turns++
          }
        })
      )
      while (turns === 0) yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
    })
  )
})

describe("100,000 steps do not overflow the stack", () => {
  const length = 100_000
  const grown = (
    add: (builder: ChainBuilder<number, string>, index: number) => ChainBuilder<number, string>
  ) => {
    let builder = make()
    for (let index = 0; index < length; index++) builder = add(builder, index)
    return builder.withFallback((n) => `end ${n}`).build()
  }

  it("when they are pure", () => {
    const chain = grown((builder, index) =>
      builder.useWhen(
        (n) => n === index + 1,
        (n) => `${n}`
      )
    )
    assert.strictEqual(Chain.executeSync(chain, 0), "end 0")
    assert.strictEqual(Effect.runSync(Chain.execute(chain, length)), `${length}`)
    assert.strictEqual(Chain.count(chain), length)
  })

  it("when they hand on a changed request", () => {
    const chain = grown((builder) => builder.use((n, next) => next(n + 1)))
    assert.strictEqual(Chain.executeSync(chain, 0), `end ${length}`)
    assert.strictEqual(Effect.runSync(Chain.execute(chain, 0)), `end ${length}`)
  })

  it("when conditions and handlers are effectful", () => {
    const conditions = grown((builder) =>
      builder.useWhen(
        () => Effect.suspend(() => Effect.succeed(false)),
        () => "x"
      )
    )
    assert.strictEqual(Effect.runSync(Chain.execute(conditions, 0)), "end 0")
    const handlers = grown((builder) => builder.use((n, next) => Effect.suspend(() => next(n + 1))))
    assert.strictEqual(Effect.runSync(Chain.execute(handlers, 0)), `end ${length}`)
    assert.strictEqual(Chain.executeSync(handlers, 0), `end ${length}`)
  })

  it("when they wrap the rest, log, or branch", () => {
    const wrapping = grown((builder) => builder.use((n, next) => Effect.map(next(n), (text) => text)))
    assert.strictEqual(Effect.runSync(Chain.execute(wrapping, 0)), "end 0")
    let lines = 0
    const logging = grown((builder) => builder.useLogging({ write: () => void lines++ }))
    assert.strictEqual(Chain.executeSync(logging, 0), "end 0")
    assert.strictEqual(lines, 2 * length)
    const branches = grown((builder) =>
      builder.useBranch(
        (n) => n === 0,
        (branch) => branch.use((n, next) => next(n))
      )
    )
    assert.strictEqual(Chain.executeSync(branches, 0), "end 0")
  })

  it("when a fragment is merged into a fragment, again and again", () => {
    let builder = make()
    for (let index = 0; index < 10_000; index++)
      builder = make()
        .use((n, next) => next(n + 1))
        .use(builder)
    assert.strictEqual(Chain.executeSync(builder.withFallback((n) => `end ${n}`).build(), 0), "end 10000")
  })
})
