import { assert, it } from "@effect/vitest"
import { Chain, ChainBuilder } from "chainstore/chain"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"

const lines: Array<string> = []
const chain = ChainBuilder.make<number, string>("demo")
  .useLogging({ write: (entry) => lines.push(entry.phase) })
  .use((n, next) => next(n), { name: "audit" })
  .useWhen(
    (n) => n === 1,
    () => "one",
    { name: "one" }
  )
  .useBranch(
    (n) => n > 10,
    (branch) =>
      branch
        .useWhen(
          (n) => Effect.succeed(n === 11),
          () => Effect.as(Effect.sleep("2 millis"), "eleven"),
          { name: "eleven" }
        )
        .useWhen(
          (n) => n === 12,
          () => Effect.fail("twelve"),
          { name: "twelve" }
        )
        .useWhen(
          (n) => n === 13,
          () => {
            throw "thirteen"
          },
          { name: "thirteen" }
        ),
    { name: "large" }
  )
  .use((n, next) => Effect.map(next(n), (text) => `<${text}>`), { name: "wrap" })
  .useWhen(
    (n) => n !== 3,
    (n) => `${n}`,
    { name: "rest" }
  )
  .build()

const traced = (n: number) =>
  Effect.gen(function* () {
    yield* TestClock.adjust("1 hour")
    lines.length = 0
    const fiber = yield* Effect.fork(Chain.trace(chain, n))
    yield* TestClock.adjust("2 millis")
    const trace = yield* Fiber.join(fiber)
    return {
      ...trace,
      steps: trace.steps.map(({ outcome, path }) => `${path.join(" > ")}: ${outcome}`),
      raw: trace.steps
    }
  })

it.effect("lists the outcome of every visited step", () =>
  Effect.gen(function* () {
    const one = yield* traced(1)
    assert.deepStrictEqual(one.exit, Exit.succeed("one"))
    assert.strictEqual(one.handledBy, "one")
    assert.deepStrictEqual(lines, ["start", "success"])
    assert.deepStrictEqual(one.steps, ["logging: passed", "audit: passed", "one: matched"])
    assert.deepStrictEqual(
      one.raw.map(({ kind, name }) => ({ kind, name })),
      [
        { kind: "middleware", name: "logging" },
        { kind: "handler", name: "audit" },
        { kind: "handler", name: "one" }
      ]
    )
    const five = yield* traced(5)
    assert.deepStrictEqual(five.exit, Exit.succeed("<5>"))
    assert.strictEqual(five.handledBy, "rest")
    assert.deepStrictEqual(five.steps.slice(2), [
      "one: skipped",
      "large: skipped",
      "wrap: passed",
      "rest: matched"
    ])
  })
)

it.effect("looks into branches, takes the time, and reports failures", () =>
  Effect.gen(function* () {
    const eleven = yield* traced(11)
    assert.deepStrictEqual(eleven.steps.slice(3), ["large: matched", "large > eleven: matched"])
    assert.deepStrictEqual(
      eleven.raw.map((step) => step.elapsedMillis),
      [2, 0, 0, 0, 2]
    )
    assert.strictEqual(eleven.elapsedMillis, 2)
    const twelve = yield* traced(12)
    assert.deepStrictEqual(twelve.exit, Exit.fail("twelve"))
    assert.strictEqual(twelve.handledBy, undefined)
    assert.deepStrictEqual(twelve.steps.slice(4), ["large > eleven: skipped", "large > twelve: failed"])
    const thirteen = yield* traced(13)
    assert.deepStrictEqual(thirteen.exit, Exit.die("thirteen"))
    assert.deepStrictEqual(thirteen.steps.slice(6), ["large > thirteen: failed"])
    const fourteen = yield* traced(14)
    assert.deepStrictEqual(fourteen.steps.slice(6), [
      "large > thirteen: skipped",
      "wrap: passed",
      "rest: matched"
    ])
    const three = yield* traced(3)
    assert.isTrue(Exit.isFailure(three.exit))
    assert.deepStrictEqual(three.steps.slice(4), ["wrap: passed", "rest: skipped"])
  })
)

it.effect("says that a step failed whose condition returned neither true nor false", () =>
  Effect.gen(function* () {
    for (const verdict of [1, Effect.succeed("yes")]) {
      const odd = ChainBuilder.make<number, string>()
        .useWhen(
          () => verdict as unknown as boolean,
          () => "x",
          { name: "odd" }
        )
        .withFallback(() => "y")
        .build()
      const trace = yield* Chain.trace(odd, 1)
      assert.isTrue(Exit.isFailure(trace.exit))
      assert.strictEqual(trace.handledBy, undefined)
      assert.deepStrictEqual(
        trace.steps.map(({ name, outcome }) => `${name}: ${outcome}`),
        ["odd: failed"]
      )
    }
  })
)

it.effect("says that a step is running that has not ended when the execution ends", () =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<void>()
    const waiting = ChainBuilder.make<number, string>()
      .use((n, next) => Effect.fork(next(n)).pipe(Effect.zipRight(Deferred.await(started)), Effect.as("x")), {
        name: "first"
      })
      .use(() => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never), { name: "second" })
      .build()
    const trace = yield* Chain.trace(waiting, 1)
    assert.deepStrictEqual(
      trace.steps.map(({ name, outcome }) => `${name}: ${outcome}`),
      ["first: passed", "second: running"]
    )
    assert.strictEqual(trace.handledBy, "first")
  })
)

it.effect("lists a step once for every visit", () =>
  Effect.gen(function* () {
    const twice = ChainBuilder.make<number, string>()
      .use((n, next) => Effect.zipRight(next(n), next(n + 1)), { name: "twice" })
      .useWhen(
        (n) => Effect.as(Effect.yieldNow(), n > 1),
        (n) => `${n}`,
        { name: "big" }
      )
      .withFallback(() => "small")
      .build()
    const trace = yield* Chain.trace(twice, 1)
    assert.deepStrictEqual(
      trace.steps.map(({ name, outcome }) => `${name}: ${outcome}`),
      ["twice: passed", "big: skipped", "fallback: matched", "big: matched"]
    )
    assert.strictEqual(trace.handledBy, "big")
  })
)

it.effect("separates concurrent visits of a step, wherever the fibers of their conditions give way", () =>
  Effect.gen(function* () {
    // A fiber gives way after 2,048 operations.
    for (let operations = 1_900; operations < 2_060; operations++) {
      const condition = Effect.iterate(0, {
        while: (n) => n < operations,
        body: (n) => Effect.succeed(n + 1)
      })
      const parallel = ChainBuilder.make<number, string>()
        .use((n, next) => Effect.zipRight(next(n), next(n + 1), { concurrent: true }), { name: "both" })
        .useWhen(
          () => Effect.as(condition, true),
          (n) => `${n}`,
          { name: "step" }
        )
        .build()
      const { steps } = yield* Chain.trace(parallel, 1)
      const outcomes = steps.map(({ name, outcome }) => `${name}: ${outcome}`)
      assert.deepStrictEqual(
        outcomes,
        ["both: passed", "step: matched", "step: matched"],
        `${operations} operations`
      )
    }
  })
)

it.effect("separates concurrent executions, and does not record other chains", () =>
  Effect.gen(function* () {
    const inner = ChainBuilder.make<number, string>().build()
    const parallel = ChainBuilder.make<number, string>()
      .use((n, next) => Effect.zipRight(next(n), next(n + 1), { concurrent: true }), { name: "both" })
      .useWhen(
        (n) => Effect.as(Effect.sleep(n), n < 9),
        (n) => Effect.as(Effect.sleep(10 - n), `${n}`),
        { name: "slow" }
      )
      .build()
    const fiber = yield* Effect.fork(Chain.trace(parallel, 1))
    yield* TestClock.adjust("20 millis")
    const both = yield* Fiber.join(fiber)
    assert.deepStrictEqual(
      both.steps.map(({ elapsedMillis, name, outcome }) => ({ name, outcome, elapsedMillis })),
      [
        { name: "both", outcome: "passed", elapsedMillis: 10 },
        { name: "slow", outcome: "matched", elapsedMillis: 10 },
        { name: "slow", outcome: "matched", elapsedMillis: 10 }
      ]
    )
    const nested = ChainBuilder.make<number, string>()
      .useWhen(
        () => Effect.fail("condition"),
        () => "x",
        { name: "asking" }
      )
      .build()
    const outer = ChainBuilder.make<number, string>()
      .use((n) => (n === 1 ? Chain.execute(inner, n) : Chain.execute(nested, n)), { name: "outer" })
      .build()
    for (const n of [1, 2]) {
      const trace = yield* Chain.trace(outer, n)
      assert.deepStrictEqual(
        trace.steps.map(({ name, outcome }) => `${name}: ${outcome}`),
        ["outer: failed"]
      )
    }
    const asked = yield* Chain.trace(nested, 1)
    assert.deepStrictEqual(
      asked.steps.map(({ name, outcome }) => `${name}: ${outcome}`),
      ["asking: failed"]
    )
    const throwing = ChainBuilder.make<number, string>()
      .useWhen(
        (): boolean => {
          throw "bug"
        },
        () => "x",
        { name: "throwing" }
      )
      .build()
    const thrown = yield* Chain.trace(throwing, 1)
    assert.deepStrictEqual(thrown.exit, Exit.die("bug"))
    assert.deepStrictEqual(
      thrown.steps.map(({ name, outcome }) => `${name}: ${outcome}`),
      ["throwing: failed"]
    )
  })
)
