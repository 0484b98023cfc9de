import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import { Chain, ChainBuilder } from "../../chain/index.js"
import { ChainClock } from "./ChainClock.js"
import { emptyBuilder, type Law, type LawSubject, SentinelError } from "./ChainLaw.js"
import { executed, same, sameOutcome } from "./ChainOutcome.js"

const answer = { answer: "of a step" }
const reply = () => answer

/**
 * A description has every step in order, with its name, kind and text, and the fallback last.
 *
 * @since 0.1.0
 * @category laws
 */
export const descriptions: Law = (builder) =>
  Effect.gen(function* () {
    const law = "descriptions"
    const { handlers } = Chain.describe(builder.build())
    const steps = handlers.filter(({ kind }) => kind !== "fallback")
    const [own] = handlers.filter(({ kind }) => kind === "fallback")
    const position = Chain.count(builder.build())
    const options = (name: string) => ({ name, description: `what ${name} does` })
    const all = builder
      .useWhen(() => true, reply, options("when"))
      .use(function audit(request, next) {
        return next(request)
      })
      .use((request, next) => next(request), { ...options("around"), kind: "middleware" })
      .use({ name: "named", description: "its own", handle: () => answer } as never)
      .use({ name: "picky", description: "its own", canHandle: () => true, process: reply } as never)
      .use({ name: "hidden", description: "hidden", handle: () => answer } as never, {
        ...options("object"),
        kind: "middleware"
      })
      .use(
        { name: "hidden", description: "hidden", canHandle: () => true, process: reply } as never,
        options("picky object")
      )
      .use({ canHandle: () => true, process: reply })
      .use({ canHandle: () => true, process: reply }, options("selective"))
      .useBranch(
        () => true,
        (branch) => branch.use(reply).use(reply),
        options("branch")
      )
      .use(emptyBuilder("merged").use(reply), options("fragment"))
      .use(emptyBuilder("merged").use(reply).build())
      .use((() => reply)())
      .use(
        (
          () => () =>
            answer
        )()
      )
      .useWhen(
        () => true,
        () => answer
      )
      .useBranch(
        () => true,
        (branch) => branch.use(reply)
      )
      .useLogging({ write: () => {} })
      .useTracing()
    const line = (name: string, kind = "handler", description = `what ${name} does`) => ({
      name,
      kind,
      description
    })
    const expected = [
      ...steps,
      line("when"),
      line("audit", "handler", ""),
      line("around", "middleware"),
      line("named", "handler", "its own"),
      line("picky", "handler", "its own"),
      line("object", "middleware"),
      line("picky object"),
      line(`handler-${position + 8}`, "handler", ""),
      line("selective"),
      line("branch", "branch"),
      line("fragment", "branch"),
      line("merged", "branch", ""),
      line(reply.name, "handler", ""),
      line(`handler-${position + 14}`, "handler", ""),
      line(`handler-${position + 15}`, "handler", ""),
      line(`branch-${position + 16}`, "branch", "")
    ]
    const described = Chain.describe(all.build())
    yield* same(
      law,
      [...expected, ...(own === undefined ? [] : [own])],
      [
        ...described.handlers.slice(0, expected.length),
        ...described.handlers.filter(({ kind }) => kind === "fallback")
      ]
    )
    yield* same(law, position + 18, Chain.count(all.build()))
    const object = { name: "own", description: "its own" }
    const selective = { ...object, canHandle: () => true, process: reply } as never
    const [given, told] = [{ name: "given" }, { description: "told" }]
    const partly: Record<string, readonly [LawSubject, string, string]> = {
      "a name for an object": [
        builder.use({ ...object, handle: reply } as never, given),
        "given",
        object.description
      ],
      "a text for an object": [builder.use({ ...object, handle: reply } as never, told), object.name, "told"],
      "a name for a selective object": [builder.use(selective, given), "given", object.description],
      "a text for a selective object": [builder.use(selective, told), object.name, "told"],
      "a text for a function": [builder.use(reply, told), reply.name, "told"],
      "a text for a condition": [builder.useWhen(() => true, reply, told), reply.name, "told"],
      "a name for a condition": [builder.useWhen(() => true, reply, given), "given", ""],
      "a text for a branch": [
        builder.useBranch(
          () => true,
          (branch) => branch,
          told
        ),
        `branch-${position + 1}`,
        "told"
      ],
      "a text for a fragment": [builder.use(emptyBuilder("merged"), told), "merged", "told"],
      "a text for a chain": [builder.use(emptyBuilder("merged").build(), told), "merged", "told"],
      "a text for a fallback": [builder.withFallback(reply, told), "fallback", "told"]
    }
    for (const [what, [subject, name, description]] of Object.entries(partly)) {
      const found = Chain.describe(subject.build()).handlers.filter(({ kind }) => kind !== "fallback")
      const last = what.endsWith("fallback")
        ? Chain.describe(subject.build()).handlers.at(-1)
        : found[position]
      yield* same(`${law}: ${what}`, [name, description], [last?.name, last?.description])
    }
    yield* same(law, Chain.count(all.build()), described.count)
    const closed = builder.withFallback(reply, options("last"))
    const last = Chain.describe(closed.build())
    yield* same(law, [...steps, line("last", "fallback")], last.handlers)
    yield* same(law, [position, position], [Chain.count(closed.build()), last.count])
    yield* same(law, "fallback", Chain.describe(builder.withFallback(reply).build()).handlers.at(-1)?.name)
    yield* same(law, "chain", ChainBuilder.make<unknown, unknown>().build().name)
    const whole = all.withFallback(reply, options("last"))
    for (const printed of [String(whole), String(whole.build()), JSON.stringify(whole.build())]) {
      const missing = [...expected, line("last")].filter(
        ({ name }) => !printed.includes(JSON.stringify(name))
      )
      yield* same(`${law}: printed`, [], missing)
    }
    yield* same(
      "Chain.isChain of a chain, its builder and its description",
      [true, false, false],
      [whole.build(), whole, described].map(Chain.isChain)
    )
  })

/**
 * Warnings name the steps after the first merged fragment that has a fallback, and no others.
 *
 * @since 0.1.0
 * @category laws
 */
export const warnings: Law = (builder) =>
  Effect.gen(function* () {
    const ends = builder.withFallback(reply)
    const step = { name: "after" }
    // What follows the end inside a fragment does not open its end again.
    const after: Record<string, (to: LawSubject) => LawSubject> = {
      "a handler": (to) => to.use(reply),
      "a condition": (to) => to.useWhen(() => true, reply),
      "a branch": (to) =>
        to.useBranch(
          () => true,
          (branch) => branch.use(reply)
        ),
      "a fragment": (to) => to.use(emptyBuilder().use(reply)),
      "a built chain": (to) => to.use(emptyBuilder().use(reply).build()),
      middleware: (to) => to.use((it, next) => next(it), { kind: "middleware" }),
      logging: (to) => to.useLogging({ write: () => {} }),
      tracing: (to) => to.useTracing(),
      "two handlers": (to) => to.use(reply).use(reply)
    }
    const inside = (subject: LawSubject, first: string) =>
      Chain.warnings(subject.build())
        .filter(({ path }) => path[0] !== first)
        .map(({ endedBy, path }) => [path.join(" > "), endedBy])
    const cases: Record<string, readonly [LawSubject, ReadonlyArray<ReadonlyArray<string>>]> = {
      "after a fragment": [
        emptyBuilder().use(ends, { name: "ends" }).use(reply, step).withFallback(reply, { name: "last" }),
        [
          ["after", "ends"],
          ["last", "ends"]
        ]
      ],
      "after a fragment in a fragment": [
        emptyBuilder()
          .use(emptyBuilder().use(ends, { name: "inner" }), { name: "ends" })
          .use(reply, step),
        [["after", "ends"]]
      ],
      "after a branch": [
        emptyBuilder()
          .useBranch(
            () => true,
            () => ends,
            { name: "ends" }
          )
          .use(reply, step),
        []
      ],
      "after a fragment with a branch": [
        emptyBuilder()
          .use(
            emptyBuilder().useBranch(
              () => true,
              () => ends
            ),
            { name: "ends" }
          )
          .use(reply, step),
        []
      ],
      "in a branch": [
        emptyBuilder().useBranch(
          () => true,
          (branch) =>
            branch
              .use(
                emptyBuilder().withFallback(() => answer),
                { name: "ends" }
              )
              .use(reply, step),
          { name: "branch" }
        ),
        [["branch > after", "ends"]]
      ],
      "after two fragments": [
        emptyBuilder().use(ends, { name: "ends" }).use(ends, { name: "second" }).use(reply, step),
        [
          ["second", "ends"],
          ["after", "ends"]
        ]
      ],
      "after middleware around a fragment": [
        emptyBuilder()
          .use(
            Chain.withMiddleware(emptyBuilder().use(ends, { name: "inner" }).build(), (it, next) => next(it)),
            { name: "ends" }
          )
          .use(reply, step),
        [["after", "ends"]]
      ]
    }
    for (const [what, add] of Object.entries(after)) {
      const ended = add(emptyBuilder().use(ends, { name: "inner" }))
      for (const [how, fragment] of Object.entries({ builder: ended, chain: ended.build() }))
        cases[`after a ${how} with ${what} after its end`] = [
          emptyBuilder().use(fragment, { name: "ends" }).use(reply, step),
          [["after", "ends"]]
        ]
    }
    for (const [where, [subject, expected]] of Object.entries(cases)) {
      yield* same(`warnings: ${where}`, expected, inside(subject, "ends"))
      const unnamed = Chain.warnings(subject.build()).filter(
        ({ endedBy, message, path }) => !message.includes(endedBy) || !message.includes(path.at(-1)!)
      )
      yield* same(`warnings: the message ${where} names the step and the fragment`, [], unnamed)
    }
  })

const shown = (
  steps: ReadonlyArray<{ path: ReadonlyArray<string>; outcome: string; elapsedMillis: number }>
) => steps.map(({ elapsedMillis, outcome, path }) => `${path.join(" > ")}: ${outcome}, ${elapsedMillis} ms`)

/**
 * A trace lists each visited step with its path, outcome and duration, and ends as the chain does.
 *
 * @since 0.1.0
 * @category laws
 */
export const traces: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "traces"
    const clock = new ChainClock()
    const written: Array<string> = []
    const no = () => false
    const prefix = emptyBuilder()
      .useLogging({ write: ({ phase }) => written.push(phase) })
      .use((it, next) => next(it), { name: "audit" })
      .useWhen(no, reply, { name: "refused" })
      .useWhen(() => Effect.succeed(false), reply, { name: "refused later" })
      .useBranch(
        () => true,
        (branch) =>
          branch.useWhen(no, reply, { name: "inner" }).useBranch(
            () => Effect.succeed(true),
            (deep) => deep.useWhen(no, reply, { name: "deepest" }),
            { name: "deep" }
          ),
        { name: "branch" }
      )
      .useBranch(no, (branch) => branch.use(reply), { name: "closed" })
      .use(
        (it, next) => {
          clock.pass(5)
          return Effect.map(next(it), (one) => one)
        },
        { name: "wrap" }
      )
    const visits = [
      "logging: passed, 5 ms",
      "audit: passed, 0 ms",
      "refused: skipped, 0 ms",
      "refused later: skipped, 0 ms",
      "branch: matched, 0 ms",
      "branch > inner: skipped, 0 ms",
      "branch > deep: matched, 0 ms",
      "branch > deep > deepest: skipped, 0 ms",
      "closed: skipped, 0 ms",
      "wrap: passed, 5 ms"
    ]
    const traced = yield* clock.run(Chain.trace(prefix.use(builder).build(), request))
    yield* same(law, visits, shown(traced.steps.slice(0, visits.length)))
    yield* same(law, [5, 2], [traced.elapsedMillis, written.length])
    yield* same(law, Exit.isSuccess(traced.exit), Exit.isSuccess(yield* executed(builder.build(), request)))

    const broken = new SentinelError("broken")
    const ends: Record<
      string,
      readonly [(to: LawSubject) => LawSubject, Exit.Exit<unknown, unknown>, string]
    > = {
      answers: [(to) => to.use(reply, { name: "end" }), Exit.succeed(answer), "matched, 0 ms"],
      "answers later": [
        (to) =>
          to.useWhen(
            () => Effect.succeed(true),
            () =>
              Effect.as(
                Effect.sync(() => clock.pass(2)),
                answer
              ),
            { name: "end" }
          ),
        Exit.succeed(answer),
        "matched, 2 ms"
      ],
      fails: [(to) => to.use(() => Effect.fail(broken), { name: "end" }), Exit.fail(broken), "failed, 0 ms"],
      throws: [
        (to) =>
          to.use(
            () => {
              throw broken
            },
            { name: "end" }
          ),
        Exit.die(broken),
        "failed, 0 ms"
      ],
      "is interrupted": [
        (to) => to.use(() => Effect.interrupt, { name: "end" }),
        Exit.interrupt(FiberId.none),
        "failed, 0 ms"
      ],
      "fails in the condition": [
        (to) => to.useWhen(() => Effect.fail(broken), reply, { name: "end" }),
        Exit.fail(broken),
        "failed, 0 ms"
      ],
      "throws in the condition": [
        (to) =>
          to.useWhen(
            (): boolean => {
              throw broken
            },
            reply,
            { name: "end" }
          ),
        Exit.die(broken),
        "failed, 0 ms"
      ]
    }
    for (const [what, [add, exit, outcome]] of Object.entries(ends)) {
      const subject = add(emptyBuilder().use((it, next) => next(it), { name: "first" })).use(builder)
      const report = yield* clock.run(Chain.trace(subject.build(), request))
      yield* same(
        `${law}: a step that ${what}`,
        ["first: passed, 0 ms", `end: ${outcome}`],
        shown(report.steps)
      )
      yield* sameOutcome(`${law}: a step that ${what}`, exit, report.exit)
      yield* same(`${law}: a step that ${what}`, Exit.isSuccess(exit) ? "end" : undefined, report.handledBy)
    }
    const odd: Record<string, () => unknown> = {
      "gives 1": () => 1,
      "gives an Effect of 1": () => Effect.succeed(1)
    }
    for (const [what, give] of Object.entries(odd)) {
      const condition = give as () => boolean
      const places: Record<string, LawSubject> = {
        useWhen: emptyBuilder().useWhen(condition, reply, { name: "end" }),
        useBranch: emptyBuilder().useBranch(condition, (branch) => branch.use(reply), { name: "end" })
      }
      for (const [place, subject] of Object.entries(places)) {
        const report = yield* clock.run(Chain.trace(subject.use(builder).build(), request))
        yield* same(
          `${law}: a condition of ${place} that ${what}`,
          ["end: failed, 0 ms"],
          shown(report.steps)
        )
      }
    }
    const twice = emptyBuilder()
      .use((_, next) => Effect.zipRight(next(1), next(2)), { name: "twice" })
      .useWhen((it) => it === 3, reply, { name: "asked" })
      .use(reply, { name: "end" })
    const report = yield* Chain.trace(twice.use(builder).build(), request)
    const names = report.steps.map(({ name, outcome }) => `${name}: ${outcome}`)
    const rest = ["asked: skipped", "end: matched"]
    yield* same(`${law}: two visits`, ["twice: passed", ...rest, ...rest], names)

    const first = emptyBuilder()
      .useWhen(no, reply, { name: "refused" })
      .use(reply, { name: "end" })
      .use(builder)
    const repeated = Chain.trace(first.build(), request)
    const both = yield* Effect.all([repeated, repeated], { concurrency: 2 })
    for (const one of [...both, yield* repeated])
      yield* same(
        `${law}: one trace that runs three times`,
        ["refused: skipped", "end: matched"],
        one.steps.map(({ name, outcome }) => `${name}: ${outcome}`)
      )

    for (const part of ["condition", "handler"]) {
      const waits = yield* Deferred.make<void>()
      const wait = Effect.zipRight(Deferred.succeed(waits, undefined), Effect.never)
      let fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
      const left = emptyBuilder()
        .use(
          (it, next) =>
            Effect.flatMap(Effect.forkDaemon(next(it)), (forked) => {
              fiber = forked
              return Effect.as(Effect.timeoutOption(Deferred.await(waits), "1 second"), answer)
            }),
          { name: "first" }
        )
        .useWhen(
          () => (part === "condition" ? wait : Effect.succeed(true)),
          () => wait,
          { name: "end" }
        )
      const unfinished = yield* Chain.trace(left.use(builder).build(), request)
      yield* same(
        `${law}: a ${part} that has not ended`,
        ["first: passed", "end: running"],
        unfinished.steps.map(({ name, outcome }) => `${name}: ${outcome}`)
      )
      if (fiber !== undefined) yield* Fiber.interruptFork(fiber)
    }
  })
