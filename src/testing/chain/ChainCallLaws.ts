import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import { pipe } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Chain, Policy } from "../../chain/index.js"
import {
  emptyBuilder,
  executionModes,
  type Law,
  metAsyncStep,
  SentinelError,
  type StepWithNext
} from "./ChainLaw.js"
import { executed, same, sameOutcome } from "./ChainOutcome.js"

const answer = { answer: "of a step" }
const failure = new SentinelError("failure")

class Word extends Context.Tag("chainstore/testing/CallWord")<Word, string>() {}
class Asked extends Context.Tag("chainstore/testing/AskedLast")<Asked, AnyChain>() {}

type AnyChain = Chain.Chain<any, any, any, never, any>

/** The functions of `Chain` that execute, with the chain last. */
const chainLast: typeof executionModes = {
  execute: (chain, request: any) => Effect.exit(chain.pipe(Chain.execute(request))),
  executeNamed: (chain, request: any) =>
    Effect.exit(Effect.map(chain.pipe(Chain.executeNamed(request)), ({ response }) => response)),
  trace: (chain, request: any) => Effect.map(chain.pipe(Chain.trace(request)), ({ exit }) => exit),
  executeExit: (chain, request: any) => Effect.sync(() => chain.pipe(Chain.executeExit(request))),
  executeNamedExit: (chain, request: any) =>
    Effect.sync(() => Exit.map(chain.pipe(Chain.executeNamedExit(request)), ({ response }) => response)),
  executeSync: (chain, request: any) =>
    Effect.sync(() => {
      try {
        return Exit.succeed(chain.pipe(Chain.executeSync(request)))
      } catch (error) {
        return Exit.fail(error)
      }
    })
}

/**
 * The functions of `Chain` and `Policy` do the same with the chain or handler first and last.
 *
 * @since 0.1.0
 * @category laws
 */
export const argumentOrder: Law = (builder, request) =>
  Effect.gen(function* () {
    if (Chain.isChain(request)) return
    const chain = builder.withFallback(() => answer).build()
    const isInterrupted = Exit.isInterrupted(yield* executed(chain, request))
    for (const [entry, run] of Object.entries(executionModes)) {
      const first = yield* run(chain, request)
      // An error of `executeSync` names the interrupted fiber.
      if (metAsyncStep(first) || isInterrupted) continue
      yield* sameOutcome(`argument order: Chain.${entry}`, first, yield* chainLast[entry]!(chain, request))
    }

    const given = Context.make(Word, "given")
    const needy: any = emptyBuilder()
      .use((() => Effect.map(Word, (word) => [word])) as never)
      .build()
    const last = (combinator: unknown) => pipe(needy, combinator as (chain: unknown) => AnyChain)
    const around: StepWithNext = (it, next) => Effect.map(next(it), (word) => ["around", word])
    const provided = Chain.provide(needy, given) as AnyChain
    const asked = Effect.flatMap(Asked, (served) => executed(served, request))
    const layers: Readonly<Record<string, Layer.Layer<Asked, never, Word>>> = {
      first: Chain.layer(Asked, needy) as never,
      last: pipe(needy, Chain.layer(Asked)) as never
    }
    const combined: Record<string, readonly [unknown, Effect.Effect<Exit.Exit<unknown, unknown>>]> = {
      "Chain.provide, first": [["given"], executed(provided, request)],
      "Chain.provide, last": [["given"], executed(last(Chain.provide(given)), request)],
      "Chain.withMiddleware, first": [
        ["around", ["given"]],
        executed(Chain.withMiddleware(provided, around), request)
      ],
      "Chain.withMiddleware, last": [
        ["around", ["given"]],
        executed(provided.pipe(Chain.withMiddleware(around)), request)
      ]
    }
    for (const [order, layer] of Object.entries(layers))
      combined[`Chain.layer, ${order}`] = [
        ["given"],
        Effect.provide(asked, Layer.provide(layer, Layer.succeed(Word, "given")))
      ]
    for (const [call, [reply, run]] of Object.entries(combined))
      yield* sameOutcome(`argument order: ${call}`, Exit.succeed(reply), yield* run)

    let runs = 0
    const fails = () => {
      runs++
      return Effect.fail(failure)
    }
    const once = Schedule.recurs(1)
    const policies: Record<
      string,
      readonly [() => Effect.Effect<any, any>, Exit.Exit<unknown, unknown>, number]
    > = {
      "Policy.retry, first": [Policy.retry(fails, once), Exit.fail(failure), 2],
      "Policy.retry, last": [pipe(fails, Policy.retry(once)), Exit.fail(failure), 2],
      "Policy.recover, first": [Policy.recover(fails, () => answer), Exit.succeed(answer), 1],
      "Policy.recover, last": [
        pipe(
          fails,
          Policy.recover(() => answer)
        ),
        Exit.succeed(answer),
        1
      ],
      "Policy.timeout, first": [Policy.timeout(fails, "1 hour"), Exit.fail(failure), 1],
      "Policy.timeout, last": [pipe(fails, Policy.timeout("1 hour")), Exit.fail(failure), 1]
    }
    for (const [call, [handler, exit, times]] of Object.entries(policies)) {
      runs = 0
      const ended = yield* executed(emptyBuilder().use(handler).use(builder).build(), request)
      yield* sameOutcome(`argument order: ${call}`, exit, ended)
      yield* same(`argument order: ${call}, runs`, times, runs)
    }
  })

/** The functions of `Chain` that return an Effect, and the parts of its result: the response, the step that handled, the steps. */
const reported: ReadonlyArray<
  readonly [entry: string, parts: number, run: (chain: AnyChain, request: unknown) => Effect.Effect<unknown>]
> = [
  [
    "execute",
    1,
    (chain, request) => Effect.map(Effect.orDie(Chain.execute(chain, request)), (response) => [response])
  ],
  [
    "executeNamed",
    2,
    (chain, request) =>
      Effect.map(Effect.orDie(Chain.executeNamed(chain, request)), ({ handledBy, response }) => [
        response,
        handledBy
      ])
  ],
  [
    "trace",
    3,
    (chain, request) =>
      Effect.map(Chain.trace(chain, request), ({ exit, handledBy, steps }) => [
        Exit.getOrElse(exit, () => "failed"),
        handledBy,
        steps.map(({ name }) => name)
      ])
  ]
]

/**
 * Executions of one chain that run at the same time do not affect each other.
 *
 * @since 0.1.0
 * @category laws
 */
export const executionsApart: Law = (builder, request) =>
  Effect.gen(function* () {
    const first = yield* Deferred.make<void>()
    const second = yield* Deferred.make<void>()
    const logged: Array<string> = []
    const handlers = { first: { name: "first" }, second: { name: "second" } }
    const chain = emptyBuilder()
      .useLogging({ write: ({ phase }) => logged.push(phase) })
      .useWhen(
        (it) => it === first,
        (it) => Effect.as(Effect.zipRight(Deferred.succeed(second, undefined), Deferred.await(first)), it),
        handlers.first
      )
      .useWhen(
        (it) => it === second,
        (it) => Effect.as(Effect.zipRight(Deferred.await(second), Deferred.succeed(first, undefined)), it),
        handlers.second
      )
      .use(builder)
      .build()
    const both = yield* Effect.all(
      [Chain.executeNamed(chain, first), Chain.executeNamed(chain, second)].map(Effect.exit),
      { concurrency: 2 }
    )
    const names = both.map((exit) => (Exit.isSuccess(exit) ? exit.value.handledBy : exit))
    const replies = both.map((exit) => Exit.isSuccess(exit) && exit.value.response)
    yield* same("executions apart: handledBy", ["first", "second"], names)
    yield* same("executions apart: responses", [true, true], [replies[0] === first, replies[1] === second])
    yield* same("executions apart: log entries", ["start", "start", "success", "success"], logged)
    for (const [entry, known, run] of reported) {
      let runs = 0
      const done = yield* Deferred.make<void>()
      const slow = Effect.as(Effect.timeoutOption(Deferred.await(done), "1 second"), "slow")
      const fast = Effect.as(Deferred.succeed(done, undefined), "fast")
      const ranked = emptyBuilder()
        .useWhen(
          () => ++runs === 1,
          () => slow,
          { name: "first" }
        )
        .use(() => fast, { name: "second" })
        .use(builder)
        .build()
      const one = run(ranked, request)
      yield* same(
        `executions apart: one Effect of Chain.${entry} that runs twice`,
        [
          ["slow", "first", ["first"]],
          ["fast", "second", ["first", "second"]]
        ].map((parts) => parts.slice(0, known)),
        yield* Effect.all([one, one], { concurrency: 2 })
      )
    }
    const alone = yield* executed(builder.build(), request)
    const together = builder.build()
    const exits = yield* Effect.all([executed(together, request), executed(together, request)], {
      concurrency: 2
    })
    for (const exit of exits) yield* sameOutcome("executions apart: the given chain", alone, exit)
  })

/**
 * A synchronous function runs an Effect of a step in a fiber of its own; the other functions run it in the caller's.
 *
 * @since 0.1.0
 * @category laws
 */
export const ownFiber: Law = (builder, request) =>
  Effect.gen(function* () {
    const local = FiberRef.unsafeMake("of a new fiber")
    const see = () => FiberRef.get(local)
    const handler = emptyBuilder().use(see).use(builder).build()
    const condition = emptyBuilder()
      .useWhen(
        () => Effect.map(see(), (seen) => seen === "of the caller"),
        () => "of the caller"
      )
      .use(() => "of a new fiber")
      .use(builder)
      .build()
    for (const [part, chain] of Object.entries({ handler, condition })) {
      for (const [entry, run] of Object.entries(executionModes)) {
        const seen = yield* Effect.locally(run(chain, request), local, "of the caller")
        const expected = entry.includes("Sync") || entry.includes("Exit") ? "of a new fiber" : "of the caller"
        yield* sameOutcome(`own fiber: a ${part}, Chain.${entry}`, Exit.succeed(expected), seen)
      }
    }
  })
