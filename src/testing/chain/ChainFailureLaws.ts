import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import { Chain } from "../../chain/index.js"
import {
  emptyBuilder,
  executionModes,
  exitOf,
  type Law,
  type LawSubject,
  metAsyncStep,
  SentinelError
} from "./ChainLaw.js"
import { executed, same, sameOutcome } from "./ChainOutcome.js"

const other = { answer: "of another step" }
const failure = new SentinelError("failure")
const defect = new SentinelError("defect")

const endings: Record<
  string,
  { run: () => Effect.Effect<never, SentinelError>; exit: Exit.Exit<never, unknown> }
> = {
  "a failure": { run: () => Effect.fail(failure), exit: Exit.fail(failure) },
  "a late failure": {
    run: () => Effect.suspend(() => Effect.fail(failure)),
    exit: Exit.fail(failure)
  },
  "a thrown defect": {
    run: () => {
      throw defect
    },
    exit: Exit.die(defect)
  },
  "a defect": { run: () => Effect.die(defect), exit: Exit.die(defect) },
  interruption: { run: () => Effect.interrupt, exit: Exit.interrupt(FiberId.none) }
}

/** What `executeSync` throws of an interruption names the fiber, which is another one each time. */
const throwsInterruption = (entry: string, exit: Exit.Exit<unknown, unknown>) =>
  entry === "executeSync" && Exit.isInterrupted(exit)

/**
 * Failures, defects and interruption stay what they are; no later step and no fallback answers them.
 *
 * @since 0.1.0
 * @category laws
 */
export const endingsApart: Law = (builder, request) =>
  Effect.gen(function* () {
    for (const [what, { exit, run: step }] of Object.entries(endings)) {
      const chain = emptyBuilder()
        .use((it, next) => next(it))
        .use(step)
        .use(builder)
        .withFallback(() => other)
        .build()
      for (const [entry, run] of Object.entries(executionModes)) {
        if (throwsInterruption(entry, exit)) continue
        const law = `failures, defects and interruption apart: ${what}, Chain.${entry}`
        yield* sameOutcome(law, exitOf(entry, exit), yield* run(chain, request))
      }
    }
    const unhandled = emptyBuilder("nobody").build()
    for (const [entry, run] of Object.entries(executionModes)) {
      const exit = yield* run(unhandled, request)
      const failed = Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : exit
      const error = failed as { readonly _tag?: string; readonly chain?: string }
      yield* same(
        `an unhandled request fails: Chain.${entry}`,
        ["UnhandledRequestError", "nobody"],
        [error._tag, error.chain]
      )
    }
  })

/**
 * Every entry gives the same exit; the synchronous ones may say that a step has to wait.
 *
 * @since 0.1.0
 * @category laws
 */
export const entriesAgree: Law = (builder, request) =>
  Effect.gen(function* () {
    for (const subject of [builder, builder.withFallback(() => other)]) {
      const chain = subject.build()
      const expected = yield* Effect.exit(Chain.execute(chain, request))
      for (const [entry, run] of Object.entries(executionModes)) {
        const exit = yield* run(chain, request)
        if (throwsInterruption(entry, expected)) continue
        if (metAsyncStep(exit) && !metAsyncStep(expected)) continue
        yield* sameOutcome(`entries agree: Chain.${entry}`, exitOf(entry, expected), exit)
      }
      const named = yield* Effect.exit(Chain.executeNamed(chain, request))
      const namedExit = Chain.executeNamedExit(chain, request)
      if (!metAsyncStep(namedExit)) {
        yield* sameOutcome("entries agree: Chain.executeNamedExit", named, namedExit)
      }
    }
  })

/** The chain that an error of this library names. */
const chainOf = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) ? (Cause.squash(exit.cause) as { readonly chain?: string }).chain : undefined

/**
 * A synchronous entry throws the failure itself, and interrupts a step that has to wait.
 *
 * @since 0.1.0
 * @category laws
 */
export const synchronousEntries: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "synchronous entries"
    for (const { exit, run } of Object.values(endings)) {
      if (Exit.isInterrupted(exit)) continue
      let thrown: unknown
      try {
        Chain.executeSync(emptyBuilder().use(run).use(builder).build(), request)
      } catch (error) {
        thrown = error
      }
      yield* same(law, true, thrown === failure || thrown === defect)
    }
    const synchronous = { executeSync: "Fail", executeExit: "Die", executeNamedExit: "Die" } as const
    for (const [entry, kind] of Object.entries(synchronous)) {
      let runs = 0
      const interrupted = yield* Deferred.make<void>()
      const waiting = emptyBuilder("waiting")
        .use(() => {
          runs++
          return Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
        })
        .use(builder)
        .build()
      const exit = yield* executionModes[entry]!(waiting, request)
      yield* same(
        `${law}: Chain.${entry} of a step that waits`,
        [true, "waiting", kind, 1],
        [metAsyncStep(exit), chainOf(exit), Exit.isFailure(exit) ? exit.cause._tag : "Success", runs]
      )
      const stopped = yield* Effect.timeoutOption(Deferred.await(interrupted), "1 second")
      yield* same(`${law}: Chain.${entry} interrupts the step`, true, Option.isSome(stopped))
    }
  })

/**
 * Interruption reaches a waiting condition or handler, through every entry, and is not told as a failure.
 *
 * @since 0.1.0
 * @category laws
 */
export const interruptionArrives: Law = (builder, request) =>
  Effect.gen(function* () {
    for (const part of ["condition", "handler"]) {
      for (const entry of ["execute", "executeNamed"] as const) {
        const law = `interruption arrives: a waiting ${part}, Chain.${entry}`
        const waiting = yield* Deferred.make<void>()
        const released = yield* Deferred.make<void>()
        const wait = Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never)
        let seen: unknown
        const chain = emptyBuilder()
          .use((it, next) =>
            Effect.onExit(Effect.ensuring(next(it), Deferred.succeed(released, undefined)), (exit) =>
              Effect.sync(() => {
                seen = Exit.isInterrupted(exit)
              })
            )
          )
          .useWhen(
            () => (part === "condition" ? wait : Effect.succeed(true)),
            () => wait
          )
          .use(builder)
          .build()
        // A daemon: a law does not wait for a step that cannot be interrupted.
        const fiber = yield* Effect.forkDaemon(
          entry === "execute" ? Chain.execute(chain, request) : Chain.executeNamed(chain, request)
        )
        yield* Effect.timeoutOption(Deferred.await(waiting), "1 second")
        yield* Fiber.interruptFork(fiber)
        const exit = yield* Effect.timeoutOption(Fiber.await(fiber), "1 second")
        yield* same(
          law,
          ["interrupted", true, true],
          [
            Option.isNone(exit)
              ? "still waiting"
              : Exit.isInterrupted(exit.value)
                ? "interrupted"
                : exit.value,
            yield* Deferred.isDone(released),
            seen
          ]
        )
      }
    }
  })

/**
 * No entry that gives an Effect runs a step before that Effect is run; each run runs the steps again.
 *
 * @since 0.1.0
 * @category laws
 */
export const lazyEntries: Law = (builder, request) =>
  Effect.gen(function* () {
    let runs = 0
    const chain = emptyBuilder()
      .useWhen(
        () => {
          runs++
          return false
        },
        () => other
      )
      .use(builder)
      .build()
    const lazy: Record<string, Effect.Effect<unknown, unknown>> = {}
    lazy["execute"] = Chain.execute(chain, request)
    lazy["executeNamed"] = Chain.executeNamed(chain, request)
    lazy["trace"] = Chain.trace(chain, request)
    for (const [entry, effect] of Object.entries(lazy)) {
      const before = runs
      yield* same(`lazy entries: Chain.${entry} before it is run`, 0, before)
      yield* Effect.exit(effect)
      yield* Effect.exit(effect)
      yield* same(`lazy entries: Chain.${entry} run twice`, 2, runs)
      runs = 0
    }
  })

/**
 * `handledBy` is the innermost step whose response became part of the response of the chain.
 *
 * @since 0.1.0
 * @category laws
 */
export const innermostAnswers: Law = (builder, request) =>
  Effect.gen(function* () {
    const inner = { name: "inner" }
    const reply = () => Effect.suspend(() => Effect.succeed(other))
    const cases: Record<string, readonly [LawSubject, string]> = {
      "a wrapped answer": [
        emptyBuilder()
          .use((it, next) => Effect.map(next(it), (answer) => [answer]), { name: "outer" })
          .use(reply, inner),
        "inner"
      ],
      "a rescued failure": [
        emptyBuilder()
          .use((it, next) => Effect.orElseSucceed(next(it), () => other), { name: "outer" })
          .use((it, next) => Effect.zipRight(next(it), Effect.fail(failure)), { name: "middle" })
          .use(reply, inner),
        "outer"
      ],
      "two runs of the rest": [
        emptyBuilder()
          .use((_, next) => Effect.zipRight(next(1), next(2)), { name: "outer" })
          .useWhen((it) => it === 1, reply, inner)
          .use(() => other, { name: "second" }),
        "second"
      ]
    }
    for (const [what, [subject, expected]] of Object.entries(cases)) {
      const chain = subject.use(builder).build()
      const law = `the innermost step answered: ${what}`
      yield* same(law, expected, (yield* Effect.either(Chain.executeNamed(chain, request))).pipe(handledBy))
      yield* same(law, expected, (yield* Chain.trace(chain, request)).handledBy)
      const exit = Chain.executeNamedExit(chain, request)
      yield* same(law, expected, Exit.isSuccess(exit) ? exit.value.handledBy : exit)
    }
  })

const handledBy = (result: { readonly _tag: string; readonly right?: { readonly handledBy: string } }) =>
  result.right?.handledBy

const length = 20_000

const long = (add: (to: LawSubject) => LawSubject): (() => LawSubject) => {
  // Kept between runs, and not longer than there is memory for it.
  let kept: WeakRef<LawSubject> | undefined
  return () => {
    let built = kept?.deref()
    if (built === undefined) {
      built = emptyBuilder("long")
      for (let index = 0; index < length; index++) built = add(built)
      kept = new WeakRef(built)
    }
    return built
  }
}

const lengths = {
  "plain steps that refuse": long((to) =>
    to.useWhen(
      () => false,
      () => other
    )
  ),
  "plain steps that hand on": long((to) => to.use((it, next) => next(it))),
  "effectful conditions": long((to) =>
    to.useWhen(
      () => Effect.suspend(() => Effect.succeed(false)),
      () => other
    )
  ),
  "effectful steps that hand on": long((to) => to.use((it, next) => Effect.suspend(() => next(it))))
}

/** The number of described steps, or the defect of the description. */
const describedSteps = (chain: Chain.Any): unknown => {
  try {
    return Chain.describe(chain).handlers.length
  } catch (defect) {
    return defect
  }
}

/**
 * A long chain ends as the steps after it do: it overflows no stack.
 *
 * @since 0.1.0
 * @category laws
 */
export const stackSafety: Law = (builder, request) =>
  Effect.gen(function* () {
    const expected = yield* executed(builder.build(), request)
    for (const [kind, prefix] of Object.entries(lengths)) {
      const chain = prefix().use(builder).build()
      yield* sameOutcome(`stack safety: ${length} ${kind}`, expected, yield* executed(chain, request))
    }
    // A copy of a chain and its description depend on the number of steps and not on their kind.
    const chain = lengths["plain steps that hand on"]().use(builder).build()
    yield* same(`stack safety: the description of ${length} steps`, length + 1, describedSteps(chain))
    const copies: Readonly<Record<string, () => typeof chain>> = {
      provide: () => Chain.provide(chain, Context.empty()),
      withMiddleware: () => Chain.withMiddleware(chain, (it, next) => next(it))
    }
    for (const [combinator, make] of Object.entries(copies)) {
      const law = `stack safety: Chain.${combinator} of ${length} steps`
      const copy = yield* Effect.exit(Effect.sync(make))
      yield* same(law, true, Exit.isSuccess(copy))
      if (Exit.isSuccess(copy)) yield* sameOutcome(law, expected, yield* executed(copy.value, request))
    }
  })
