import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { Chain, Policy } from "../../chain/index.js"
import { ChainClock } from "./ChainClock.js"
import {
  emptyBuilder,
  executionModes,
  type Law,
  type LawSubject,
  SentinelError,
  type StepWithNext,
  writers
} from "./ChainLaw.js"
import { executed, same, sameOutcome } from "./ChainOutcome.js"

class Word extends Context.Tag("chainstore/testing/Word")<Word, string>() {}
class Asked extends Context.Tag("chainstore/testing/Asked")<
  Asked,
  Chain.Chain<any, any, any, never, any>
>() {}

const word: Effect.Effect<string, never, Word> = Effect.map(Word, (it) => it)
const given = Context.make(Word, "given")
/** Chains of a law may need services, which the chains that it is given do not. */
const needing = (): any => emptyBuilder()
const executeIn = (chain: any, request: unknown): Effect.Effect<unknown> =>
  Effect.orDie(Chain.execute<any, any, any, never, any>(chain, request))

/**
 * `provide` gives every step what it requires, keeps the chain as it is, and gives later steps nothing.
 *
 * @since 0.1.0
 * @category laws
 */
export const provides: Law = (builder, request) =>
  Effect.gen(function* () {
    const isGiven = Effect.map(word, (it) => it === "given")
    const places: Record<string, any> = {
      "a condition": needing().useWhen(
        () => isGiven,
        () => "given"
      ),
      "a handler": needing().useWhen(
        () => true,
        () => word
      ),
      "a step with next": needing()
        .use((it: unknown, next: (it: unknown) => any) => Effect.zipLeft(next(it), word))
        .use(() => "given"),
      "a fallback": needing().withFallback(() => word),
      "a branch": needing().useBranch(
        () => true,
        (branch: any) => branch.use(() => word)
      ),
      "a merged fragment": needing().use(needing().use(() => word))
    }
    for (const [place, subject] of Object.entries(places)) {
      const followed = place === "a fallback" ? subject : subject.use(builder)
      const chain = Chain.provide(followed.build(), given) as Chain.Chain<any, any, any, never, any>
      yield* sameOutcome(`provide: ${place}`, Exit.succeed("given"), yield* executed(chain, request))
      const exit = Chain.executeExit(chain, request)
      yield* sameOutcome(`provide: ${place}, Chain.executeExit`, Exit.succeed("given"), exit)
    }
    const unchanged = emptyBuilder()
      .use(builder.withFallback(() => "given"))
      .use(() => "unreachable")
    for (const subject of [builder, unchanged]) {
      const [before, after] = [subject.build(), Chain.provide(subject.build(), given)]
      yield* sameOutcome(
        "provide: the same chain",
        yield* executed(before, request),
        yield* executed(after, request)
      )
      yield* same("provide: the same description", Chain.describe(before), Chain.describe(after))
      yield* same("provide: the same warnings", Chain.warnings(before), Chain.warnings(after))
      const warned = (chain: Chain.Any) =>
        Chain.warnings(
          emptyBuilder()
            .use(chain)
            .use(() => "after")
            .build()
        )
      yield* same("provide: the same end of the chain", warned(before), warned(after))
    }
    for (const [way, options] of Object.entries(writers)) {
      const written: Array<string> = []
      const logged = emptyBuilder("shop")
        .useLogging(options(({ chain, phase }) => written.push(`${chain} ${phase}`)))
        .use(() => "given")
        .build()
      for (const [entry, run] of Object.entries(executionModes)) {
        written.length = 0
        yield* run(Chain.provide(logged, given), request)
        yield* same(`provide: the same log, ${way}, Chain.${entry}`, ["shop start", "shop success"], written)
      }
    }
    const fragment = Chain.provide(
      needing()
        .use((it: unknown, next: (it: unknown) => any) => Effect.zipRight(word, next(it)))
        .build(),
      given
    )
    const merged = needing()
      .use(fragment)
      .use(() =>
        Effect.map(
          Effect.serviceOption(Word),
          Option.getOrElse(() => "nothing")
        )
      )
      .build()
    yield* same("provide: nothing to later steps", "nothing", yield* executeIn(merged, request))
    const around = Effect.provideService(executeIn(merged, request), Word, "around")
    yield* same("provide: later steps keep their own", "around", yield* around)
  })

/**
 * A chain as a service takes its requirements from where its layer is built, and its spans from the request.
 *
 * @since 0.1.0
 * @category laws
 */
export const services: Law = (builder, request) =>
  Effect.gen(function* () {
    const ask = Chain.service(Asked)
    const layer = (chain: Chain.Any) => Chain.layer(Asked, chain as never) as Layer.Layer<Asked, never, Word>
    const built = (chain: Chain.Any) => Layer.provide(layer(chain), Layer.succeed(Word, "given"))
    const through = (chain: Chain.Any): Effect.Effect<Exit.Exit<unknown, unknown>> =>
      Effect.exit(Effect.provide(ask(request), built(chain)))
    yield* sameOutcome(
      "services: the given chain",
      yield* Effect.exit(Chain.execute(builder.build(), request)),
      yield* through(builder.build())
    )
    const chain = needing()
      .use(() => word)
      .build()
    yield* sameOutcome("services: requirements", Exit.succeed("given"), yield* through(chain))
    const spanned = emptyBuilder()
      .use(() =>
        Effect.map(
          Effect.option(Effect.currentSpan),
          Option.match({ onNone: () => "none", onSome: (span) => span.name })
        )
      )
      .build()
    const context = yield* Effect.scoped(Layer.build(built(spanned))).pipe(
      Effect.withSpan("where it was built")
    )
    const asked = Effect.provide(ask(request), context).pipe(Effect.withSpan("the request"))
    yield* sameOutcome("services: spans", Exit.succeed("the request"), yield* Effect.exit(asked))
  })

const failure = new SentinelError("failure")
const defect = new SentinelError("defect")

/**
 * Policies act on the handler, and on what `next` runs if it calls that; defects and interruption pass.
 *
 * @since 0.1.0
 * @category laws
 */
export const policies: Law = (builder, request) =>
  Effect.gen(function* () {
    const clock = new ChainClock(true)
    const rest = builder.withFallback(() => "rest")
    let runs = 0
    let stopped = 0
    const fails = () => {
      runs++
      return Effect.fail(failure)
    }
    const dies = () => {
      runs++
      throw defect
    }
    const interrupted = () => {
      runs++
      return Effect.interrupt
    }
    const twice: (handler: any) => any = Policy.retry(Schedule.recurs(2))
    const recover: (handler: any) => any = Policy.recover((error) => ["recovered", error])
    const slow = () => {
      runs++
      const yields = Effect.replicateEffect(Effect.yieldNow(), 100, { discard: true })
      return Effect.onInterrupt(Effect.as(yields, "late"), () =>
        Effect.sync(() => {
          stopped++
        })
      )
    }
    const handOn: StepWithNext = (it, next) => next(it)
    const around = (policy: (handler: StepWithNext) => any, after: any): LawSubject =>
      needing().use(policy(handOn)).use(after)
    const interruption = Exit.interrupt(FiberId.none)
    const recovered = Exit.succeed(["recovered", failure])
    const cases: Record<string, readonly [LawSubject, Exit.Exit<unknown, unknown>, number]> = {
      "retry of a failure": [needing().use(twice(fails)), Exit.fail(failure), 3],
      "retry of a defect": [needing().use(twice(dies)), Exit.die(defect), 1],
      "retry of an interruption": [needing().use(twice(interrupted)), interruption, 1],
      "retry around next": [around(twice, fails), Exit.fail(failure), 3],
      "recover of a failure": [needing().use(recover(fails)), recovered, 1],
      "recover of a defect": [needing().use(recover(dies)), Exit.die(defect), 1],
      "recover of an interruption": [needing().use(recover(interrupted)), interruption, 1],
      "recover around an interrupted next": [around(recover, interrupted), interruption, 1],
      "recover around next": [around(recover, fails), recovered, 1],
      "recover of a retry": [needing().use(recover(twice(fails))), recovered, 3]
    }
    for (const [what, [subject, exit, times]] of Object.entries(cases)) {
      runs = 0
      const ended = yield* executed(subject.use(rest).build(), request)
      yield* sameOutcome(`policies: ${what}`, exit, ended)
      yield* same(`policies: ${what}, runs`, times, runs)
    }
    for (const subject of [
      needing().use(Policy.timeout("1 minute")(slow)),
      around(Policy.timeout("1 minute"), slow)
    ]) {
      clock.sleeps.length = 0
      stopped = 0
      const ended = yield* clock.run(executed(subject.use(rest).build(), request))
      const error = Exit.isFailure(ended) && ended.cause._tag === "Fail" ? ended.cause.error : undefined
      yield* same(
        "policies: timeout",
        ["TimeoutException", [60_000], "interrupted once"],
        [
          (error as { readonly _tag?: string } | undefined)?._tag,
          clock.sleeps,
          stopped === 1 ? "interrupted once" : `interrupted ${stopped} times`
        ]
      )
    }
    const guards: Record<string, (handler: any) => any> = {
      retry: twice,
      recover,
      timeout: Policy.timeout("1 minute")
    }
    for (const [what, guard] of Object.entries(guards)) {
      for (const response of ["plain", Option.some("plain"), Option.none(), undefined]) {
        for (const handler of [() => response, () => Effect.succeed(response)]) {
          const guarded = needing().use(guard(handler)).use(rest).build()
          const ended = yield* executed(guarded, request)
          yield* sameOutcome(`policies: a response passes ${what}`, Exit.succeed(response), ended)
        }
      }
    }
    runs = 0
    const unrun = Policy.recover(fails, () => "recovered")() as Effect.Effect<unknown>
    yield* same("policies: nothing runs before the Effect runs", 0, runs)
    yield* same("policies: recover", "recovered", yield* unrun)
  })
