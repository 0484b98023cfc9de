import { assert, describe, it } from "@effect/vitest"
import { Chain, ChainBuilder, Logging, Tracing } from "chainstore/chain"
import {
  Cause,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  HashMap,
  Layer,
  Logger,
  LogLevel,
  Ref,
  TestClock,
  type Tracer
} from "effect"

const make = () => ChainBuilder.make<number, string>("demo")

/** Both ways to write must agree. */
const writers = (entries: Array<Logging.LogEntry>) =>
  [
    { name: "at once", options: { write: (entry: Logging.LogEntry) => void entries.push(entry) } },
    {
      name: "by an Effect",
      options: { log: (entry: Logging.LogEntry) => Effect.sync(() => entries.push(entry)) }
    }
  ] as const

for (const index of [0, 1] as const) {
  const setUp = () => {
    const entries: Array<Logging.LogEntry> = []
    return { entries, options: writers(entries)[index].options, lines: () => entries.map(Logging.format) }
  }
  describe(`logging ${writers([])[index].name}`, () => {
    it.effect("reports start and duration, by the fiber's clock", () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        const { entries, lines, options } = setUp()
        const chain = make()
          .useLogging({ ...options, level: "Information" })
          .use(() => Effect.as(Effect.sleep("1234500 micros"), "x"))
          .build()
        const fiber = yield* Effect.fork(Chain.execute(chain, 1))
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual(yield* Fiber.join(fiber), "x")
        assert.deepStrictEqual(lines(), [
          "Information: Executing chain demo.",
          "Information: Executed chain demo in 1234.500 ms."
        ])
        assert.deepStrictEqual(entries[1], {
          level: "Information",
          message: "Executed chain demo in 1234.500 ms.",
          chain: "demo",
          phase: "success",
          elapsedMillis: 1234.5
        })
      })
    )

    it.effect("reports failures and defects, at level Error, with the cause", () =>
      Effect.gen(function* () {
        const { entries, lines, options } = setUp()
        const logged = make().useLogging({ ...options, name: "named" })
        yield* Effect.exit(Chain.execute(logged.use(() => Effect.fail("why")).build(), 1))
        assert.deepStrictEqual(lines(), [
          "Debug: Executing chain named.",
          "Error: Chain named failed after 0.000 ms."
        ])
        assert.deepStrictEqual(entries[1]?.cause, Cause.fail("why"))
        const throwing = logged.use(() => {
          throw "bug"
        })
        assert.deepStrictEqual(yield* Effect.exit(Chain.execute(throwing.build(), 1)), Exit.die("bug"))
        assert.deepStrictEqual(entries[3]?.cause, Cause.die("bug"))
        const unhandled = yield* Effect.exit(Chain.execute(logged.build(), 1))
        assert.strictEqual(entries[5]?.phase, "failure")
        assert.deepStrictEqual(Exit.failCause(entries[5]!.cause!), unhandled as Exit.Exit<never, unknown>)
        assert.strictEqual(entries.length, 6)
      })
    )

    it.effect("distinguishes interruption from failure", () =>
      Effect.gen(function* () {
        const { entries, lines, options } = setUp()
        const waiting = yield* Deferred.make<void>()
        const chain = make()
          .useLogging({ ...options, level: "Warning" })
          .useWhen(
            () => Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never),
            () => "x"
          )
          .build()
        const fiber = yield* Effect.fork(Chain.execute(chain, 1))
        yield* Deferred.await(waiting)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(lines(), [
          "Warning: Executing chain demo.",
          "Warning: Chain demo was interrupted after 0.000 ms."
        ])
        assert.strictEqual(entries[1]?.phase, "interruption")
      })
    )

    it.effect("nests", () =>
      Effect.gen(function* () {
        const { lines, options } = setUp()
        for (const reply of ["x", Effect.suspend(() => Effect.succeed("x"))]) {
          const chain = make()
            .useLogging({ ...options, name: "outer", level: "Trace" })
            .useLogging({ ...options, name: "inner", level: "Trace" })
            .use(() => reply)
            .build()
          yield* Chain.execute(chain, 1)
          assert.deepStrictEqual(lines().splice(-4), [
            "Trace: Executing chain outer.",
            "Trace: Executing chain inner.",
            "Trace: Executed chain inner in 0.000 ms.",
            "Trace: Executed chain outer in 0.000 ms."
          ])
        }
      })
    )

    it.effect("never holds the request", () =>
      Effect.gen(function* () {
        const { entries, options } = setUp()
        const logged = ChainBuilder.make<{ secret: string }, string>().useLogging(options)
        yield* Effect.exit(Chain.execute(logged.build(), { secret: "hunter2" }))
        yield* Chain.execute(logged.withFallback(() => "x").build(), { secret: "hunter2" })
        assert.strictEqual(entries.length, 4)
        assert.notInclude(JSON.stringify(entries), "hunter2")
      })
    )

    it.effect("reports every run of the rest that a step before it starts", () =>
      Effect.gen(function* () {
        const { entries, options } = setUp()
        const chain = make()
          .use((n, next) => Effect.zipRight(next(n), next(n)))
          .useLogging(options)
          .use(() => "x")
          .build()
        yield* Chain.execute(chain, 1)
        assert.deepStrictEqual(
          entries.map((entry) => entry.phase),
          ["start", "success", "start", "success"]
        )
      })
    )
  })
}

describe("logging that fails", () => {
  it.effect("does not fail the request", () =>
    Effect.gen(function* () {
      const throwing = () => {
        throw new Error("disk full")
      }
      for (const options of [
        { write: throwing },
        { log: throwing },
        { log: () => Effect.fail("disk full") },
        { log: () => Effect.die("disk full") }
      ]) {
        const logged = make().useLogging(options)
        const answering = logged.use(() => "x").build()
        assert.strictEqual(yield* Chain.execute(answering, 1), "x")
        assert.strictEqual(Chain.executeSync(answering, 1), "x")
        const failing = logged.use(() => Effect.fail("own")).build()
        assert.deepStrictEqual(yield* Effect.exit(Chain.execute(failing, 1)), Exit.fail("own"))
      }
    })
  )
})

describe("logging without a writer", () => {
  it.effect("goes to Effect's logger, with annotations", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const logger = Logger.make(({ annotations, logLevel, message }) => {
        seen.push([
          logLevel.label,
          message,
          HashMap.get(annotations, "chain"),
          HashMap.has(annotations, "elapsedMillis")
        ])
      })
      const all = (["Trace", "Debug", "Information", "Warning", "Error"] as const).map((level) =>
        Chain.execute(
          make()
            .useLogging({ level })
            .use(() => "x")
            .build(),
          1
        )
      )
      yield* Effect.all(all).pipe(
        Effect.provide(
          Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All))
        )
      )
      const some = (value: string) => ({ _id: "Option", _tag: "Some", value })
      assert.deepStrictEqual(
        JSON.parse(JSON.stringify(seen)),
        ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"].flatMap((label) => [
          [label, ["Executing chain demo."], some("demo"), false],
          [label, ["Executed chain demo in 0.000 ms."], some("demo"), true]
        ])
      )
    })
  )

  it.effect("may require services", () =>
    Effect.gen(function* () {
      class Sink extends Context.Tag("test/Sink")<Sink, Ref.Ref<number>>() {}
      const sink = yield* Ref.make(0)
      const chain = make()
        .useLogging({
          log: () =>
            Effect.flatMap(
              Sink,
              Ref.update((n) => n + 1)
            )
        })
        .use(() => "x")
        .build()
      yield* Effect.provideService(Chain.execute(chain, 1), Sink, sink)
      assert.strictEqual(yield* Ref.get(sink), 2)
    })
  )
})

describe("tracing", () => {
  const spanOf = (options?: Tracing.TracingOptions) =>
    Effect.gen(function* () {
      let span: Tracer.Span | undefined
      const chain = make()
        .useTracing(options)
        .use((n) =>
          Effect.flatMap(Effect.orDie(Effect.currentSpan), (current) => {
            span = current
            return n === 1 ? Effect.succeed("x") : Effect.fail("why")
          })
        )
        .build()
      return { span: () => span!, run: (n: number) => Effect.exit(Chain.execute(chain, n)) }
    })

  it.effect("runs the rest in an internal span that ends with it", () =>
    Effect.gen(function* () {
      const { run, span } = yield* spanOf()
      yield* run(1)
      assert.strictEqual(span().name, "MessageFlow.Execute")
      assert.strictEqual(span().kind, "internal")
      assert.deepStrictEqual([...span().attributes], [["messageflow.chain", "demo"]])
      const { status } = span()
      assert.isTrue(status._tag === "Ended" && Exit.isSuccess(status.exit))
      yield* run(2)
      const failed = span().status
      assert.isTrue(failed._tag === "Ended" && Exit.isFailure(failed.exit))
    })
  )

  it.effect("names types and attributes as asked", () =>
    Effect.gen(function* () {
      const { run, span } = yield* spanOf({
        spanName: "triage",
        requestType: "Ticket",
        responseType: "string",
        attributes: { team: "support" }
      })
      yield* run(1)
      assert.strictEqual(span().name, "triage")
      assert.deepStrictEqual(Object.fromEntries(span().attributes), {
        "messageflow.chain": "demo",
        [Tracing.requestTypeAttribute]: "Ticket",
        [Tracing.responseTypeAttribute]: "string",
        team: "support"
      })
    })
  )
})
