import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { Chain, ChainBuilder } from "../../chain/index.js"
import * as Calls from "./ChainCallLaws.js"
import { report } from "./ChainCounterexample.js"
import * as Endings from "./ChainFailureLaws.js"
import { executionModes, type Law, type LawSubject } from "./ChainLaw.js"
import * as Logs from "./ChainLogLaws.js"
import * as Middleware from "./ChainMiddlewareLaws.js"
import { executed, isUnhandled, same, sameOutcome } from "./ChainOutcome.js"
import * as Reports from "./ChainReportLaws.js"
import * as Services from "./ChainServiceLaws.js"
import * as Steps from "./ChainStepLaws.js"

export * from "./ChainCallLaws.js"
export * from "./ChainFailureLaws.js"
export type { Law } from "./ChainLaw.js"
export * from "./ChainLogLaws.js"
export * from "./ChainMiddlewareLaws.js"
export { LawViolation } from "./ChainOutcome.js"
export { type ChainPromise, promises } from "./ChainPromises.js"
export * from "./ChainReportLaws.js"
export * from "./ChainServiceLaws.js"
export * from "./ChainStepLaws.js"

const marker = (name: string) => ({ marker: name })
const first = marker("first")
const second = marker("second")

const outcome = (builder: LawSubject, request: unknown) => executed(builder.build(), request)

const empty = (): LawSubject => ChainBuilder.make<any, any>()

/** Whether the chain itself decides, or leaves the request to what follows. */
const openEnded = (builder: LawSubject) => builder.withFallback(() => first)

/**
 * A step that accepts before the others answers, one that refuses changes nothing.
 *
 * @since 0.1.0
 * @category laws
 */
export const firstMatchWins: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "first match wins"
    const accepting = empty()
      .useWhen(
        () => true,
        () => first
      )
      .use(builder)
    const refusing = empty()
      .useWhen(
        () => false,
        () => first
      )
      .use(builder)
    yield* sameOutcome(law, Exit.succeed(first), yield* outcome(accepting, request))
    yield* sameOutcome(law, yield* outcome(builder, request), yield* outcome(refusing, request))
  })

/**
 * Steps are asked in the order of registration.
 *
 * @since 0.1.0
 * @category laws
 */
export const order: Law = (builder, request) =>
  Effect.gen(function* () {
    const asked: Array<number> = []
    const noting = (of: LawSubject, place: number): LawSubject =>
      of.useWhen(
        () => {
          asked.push(place)
          return false
        },
        () => first
      )
    yield* outcome(noting(noting(empty(), 1), 2).use(noting(builder, 3)), request)
    const once = asked.slice(0, 2)
    yield* same("order", [1, 2], once)
    yield* same(
      "order",
      [],
      asked.slice(2).filter((place) => place !== 3)
    )
  })

/**
 * The fallback answers exactly what would go unhandled; the last one set counts.
 *
 * @since 0.1.0
 * @category laws
 */
export const fallbackPrecedence: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "fallback precedence"
    const replaced = builder.withFallback(() => second).withFallback(() => first)
    yield* sameOutcome(law, yield* outcome(openEnded(builder), request), yield* outcome(replaced, request))
    const own = empty()
      .use(openEnded(builder))
      .withFallback(() => second)
    yield* sameOutcome(law, yield* outcome(openEnded(builder), request), yield* outcome(own, request))
    const before = openEnded(empty()).use(builder)
    const after = hasFallback(builder) ? builder : openEnded(builder)
    yield* sameOutcome(law, yield* outcome(after, request), yield* outcome(before, request))
    const handedOn = empty().use((_, next) => next(second))
    for (const closed of [
      handedOn.withFallback((it) => [it]),
      handedOn.withFallback((it) => Effect.suspend(() => Effect.succeed([it])))
    ]) {
      yield* sameOutcome(law, Exit.succeed([second]), yield* outcome(closed, request))
    }
  })

/**
 * A branch whose steps refuse goes on after it; one whose condition refuses is as good as absent.
 *
 * @since 0.1.0
 * @category laws
 */
export const branchFallThrough: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "branch fall-through"
    const taken = empty()
      .useBranch(
        () => true,
        () => builder
      )
      .withFallback(() => first)
    const merged = empty()
      .use(builder)
      .withFallback(() => first)
    yield* sameOutcome(law, yield* outcome(merged, request), yield* outcome(taken, request))
    const refused = empty()
      .useBranch(
        () => false,
        () => openEnded(builder)
      )
      .withFallback(() => second)
    yield* sameOutcome(law, Exit.succeed(second), yield* outcome(refused, request))
    for (const inner of [builder, empty()]) {
      const closed = empty()
        .useBranch(
          () => true,
          () => openEnded(inner)
        )
        .withFallback(() => second)
      yield* sameOutcome(law, yield* outcome(openEnded(inner), request), yield* outcome(closed, request))
    }
  })

/**
 * Merging a builder, or the chain that it builds, is registering its steps.
 *
 * @since 0.1.0
 * @category laws
 */
export const mergeIsInlining: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "merge is inlining"
    const expected = yield* outcome(builder, request)
    yield* sameOutcome(law, expected, yield* outcome(empty().use(builder), request))
    yield* sameOutcome(law, expected, yield* outcome(empty().use(builder.build()), request))
    const followed = empty()
      .use(builder)
      .useWhen(
        () => true,
        () => first
      )
    const inlined = builder.useWhen(
      () => true,
      () => first
    )
    if (!hasFallback(builder)) {
      yield* sameOutcome(law, yield* outcome(inlined, request), yield* outcome(followed, request))
    }
    yield* sameOutcome(
      law,
      yield* outcome(inlined, request),
      yield* outcome(empty().use(inlined.build()), request)
    )
    const last = empty().useWhen(
      () => true,
      () => first
    )
    yield* sameOutcome(law, Exit.succeed(first), yield* outcome(empty().use(last.build()), request))
  })

const hasFallback = (builder: LawSubject) =>
  Chain.describe(builder.build()).handlers.some((step) => step.kind === "fallback")

/**
 * Every registered step counts one, a fallback none, and the description lists them all.
 *
 * @since 0.1.0
 * @category laws
 */
export const count: Law = (builder) =>
  Effect.gen(function* () {
    const law = "count"
    const of = (it: LawSubject) => Chain.count(it.build())
    const before = of(builder)
    yield* same(law, before + 1, of(builder.use((request, next) => next(request))))
    yield* same(law, before + 1, of(builder.use(builder)))
    yield* same(
      law,
      before + 1,
      of(
        builder.useBranch(
          () => true,
          () => builder
        )
      )
    )
    yield* same(law, before + 2, of(builder.useLogging().useTracing()))
    yield* same(law, before, of(builder.withFallback(() => first)))
    const { handlers } = Chain.describe(builder.build())
    yield* same(law, before + (hasFallback(builder) ? 1 : 0), handlers.length)
  })

/**
 * What is done with a builder later changes neither it nor the chains it built.
 *
 * @since 0.1.0
 * @category laws
 */
export const immutability: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "immutability"
    const chain = builder.build()
    const before = yield* executed(chain, request)
    const description = Chain.describe(chain)
    empty()
      .use(builder)
      .use((changed, next) => next(changed))
      .build()
    builder.withFallback(() => second)
    builder.useBranch(
      () => true,
      () => openEnded(builder)
    )
    builder
      .use(() => first)
      .useLogging()
      .withFallback(() => second)
      .build()
    Chain.provide(chain, Context.empty())
    Chain.withMiddleware(chain, (changed, next) => next(changed))
    const returned = [
      builder.use(() => first),
      builder.use(builder),
      builder.useWhen(
        () => true,
        () => first
      ),
      builder.useBranch(
        () => true,
        (branch) => branch
      ),
      builder.useLogging(),
      builder.useTracing(),
      builder.withFallback(() => first)
    ]
    yield* same(law, false, returned.includes(builder))
    yield* sameOutcome(law, before, yield* executed(chain, request))
    yield* sameOutcome(law, before, yield* outcome(builder, request))
    yield* same(law, description, Chain.describe(chain))
    yield* same(law, description, Chain.describe(builder.build()))
  })

/**
 * A request goes unhandled if and only if nobody accepts it and there is no fallback.
 *
 * @since 0.1.0
 * @category laws
 */
export const unhandled: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "unhandled iff nobody accepts"
    const nobody = empty().useBranch(
      () => false,
      () => builder
    )
    yield* same(law, true, isUnhandled(yield* outcome(nobody, request)))
    yield* same(law, false, isUnhandled(yield* outcome(openEnded(builder), request)))
    let reached = false
    const watched = builder.use((changed, next) => {
      reached = true
      return next(changed)
    })
    yield* outcome(watched, request)
    if (!reached || hasFallback(builder)) {
      yield* same(law, false, isUnhandled(yield* outcome(builder, request)))
    }
  })

/**
 * Middleware is entered in order and left in the reverse order, also when a later step fails.
 *
 * @since 0.1.0
 * @category laws
 */
export const middlewareOrder: Law = (builder, request) =>
  Effect.gen(function* () {
    const events: Array<string> = []
    const around = (of: LawSubject, name: string): LawSubject =>
      of.use((changed, next) => {
        events.push(`enter ${name}`)
        return Effect.ensuring(
          next(changed),
          Effect.sync(() => events.push(`leave ${name}`))
        )
      })
    const wrapped = around(around(empty(), "outer"), "inner").use(builder)
    yield* sameOutcome("middleware order", yield* outcome(builder, request), yield* outcome(wrapped, request))
    yield* same("middleware order", ["enter outer", "enter inner", "leave inner", "leave outer"], events)
  })

/**
 * An execution runs nothing before it is run, and everything each time it is run.
 *
 * @since 0.1.0
 * @category laws
 */
export const laziness: Law = (builder, request) =>
  Effect.gen(function* () {
    let runs = 0
    const counted = empty()
      .use((changed, next) => {
        runs++
        return next(changed)
      })
      .use(builder)
    const execution = Chain.execute(counted.build(), request)
    yield* same("laziness", 0, runs)
    const once = yield* Effect.exit(execution)
    yield* same("laziness", 1, runs)
    yield* sameOutcome("laziness", once, yield* Effect.exit(execution))
    yield* same("laziness", 2, runs)
  })

/**
 * All ways to execute agree, and the step that answered is one that was registered.
 *
 * @since 0.1.0
 * @category laws
 */
export const agreement: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "agreement"
    const chain = builder.build()
    const expected = yield* Effect.exit(Chain.execute(chain, request))
    const named = yield* Effect.exit(Chain.executeNamed(chain, request))
    yield* sameOutcome(
      law,
      expected,
      Exit.map(named, ({ response }) => response)
    )
    const traced = yield* Chain.trace(chain, request)
    yield* sameOutcome(law, expected, traced.exit)
    yield* same(law, Exit.isSuccess(named) ? named.value.handledBy : undefined, traced.handledBy)
  })

/**
 * Interrupting a waiting execution releases what the steps before had acquired, and ends it as interrupted.
 *
 * @since 0.1.0
 * @category laws
 */
export const interruptionReleases: Law = (builder, request) =>
  Effect.gen(function* () {
    for (const entry of ["execute", "executeNamed", "trace"]) {
      const law = `interruption releases: Chain.${entry}`
      const waiting = yield* Deferred.make<void>()
      let held = 0
      const blocked = empty()
        .use((changed, next) =>
          Effect.acquireUseRelease(
            Effect.sync(() => held++),
            () => next(changed),
            () => Effect.sync(() => held--)
          )
        )
        .use(() => Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never))
        .use(builder)
      // A daemon: a law does not wait for a step that cannot be interrupted.
      const fiber = yield* Effect.forkDaemon(executionModes[entry]!(blocked.build(), request))
      yield* Effect.timeoutOption(Deferred.await(waiting), "1 second")
      yield* same(law, 1, held)
      yield* Fiber.interruptFork(fiber)
      const exit = yield* Effect.timeoutOption(Fiber.await(fiber), "1 second")
      yield* same(law, true, Option.isSome(exit) && Exit.isInterrupted(exit.value))
      yield* same(law, 0, held)
    }
  })

/**
 * Every law, by name.
 *
 * @since 0.1.0
 * @category laws
 */
export const all = {
  firstMatchWins,
  order,
  fallbackPrecedence,
  branchFallThrough,
  mergeIsInlining,
  count,
  immutability,
  unhandled,
  middlewareOrder,
  laziness,
  agreement,
  interruptionReleases,
  ...Steps,
  ...Middleware,
  ...Calls,
  ...Endings,
  ...Reports,
  ...Logs,
  ...Services
} satisfies Record<string, Law>

type Parameters<Req, Res, E, U> = FastCheck.Parameters<[ChainBuilder<Req, Res, E, never, U>, Req]>

type Builders<Req, Res, E, U> =
  | ChainBuilder<Req, Res, E, never, U>
  | FastCheck.Arbitrary<ChainBuilder<Req, Res, E, never, U>>

/**
 * Checks a law for a builder, or for builders made by an arbitrary, with generated requests. Rejects with the
 * smallest counterexample that was found: the promise, the chain, the calls and the seed.
 *
 * @since 0.1.0
 * @category checking
 */
export const check = async <Req, Res, E, U>(
  law: Law,
  builders: Builders<Req, Res, E, U>,
  requests: FastCheck.Arbitrary<Req>,
  parameters: Parameters<Req, Res, E, U> = {}
): Promise<void> => {
  const property = FastCheck.asyncProperty(
    builders instanceof ChainBuilder ? FastCheck.constant(builders) : builders,
    requests,
    (builder, request) => Effect.runPromise(law(builder, request))
  )
  if (parameters.reporter !== undefined || parameters.asyncReporter !== undefined) {
    return FastCheck.assert(property, parameters)
  }
  const name = Object.entries(all).find(([, known]) => known === law)?.[0]
  const details = await FastCheck.check(property, parameters)
  if (details.failed) throw await report(name, details)
}

/**
 * Checks every law for a builder or builders, one after another, each with the seed and the number of runs of the
 * parameters: 25 runs unless they say otherwise. Rejects with the first counterexample.
 *
 * @since 0.1.0
 * @category checking
 */
export const checkAll = async <Req, Res, E, U>(
  builders: Builders<Req, Res, E, U>,
  requests: FastCheck.Arbitrary<Req>,
  parameters: Parameters<Req, Res, E, U> = {}
): Promise<void> => {
  for (const law of Object.values(all)) {
    await check(law, builders, requests, { numRuns: 25, ...parameters })
  }
}
