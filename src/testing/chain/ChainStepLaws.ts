import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { Chain } from "../../chain/index.js"
import {
  emptyBuilder,
  executionModes,
  exitOf,
  type Law,
  type LawSubject,
  SentinelError,
  type StepWithNext
} from "./ChainLaw.js"
import { executed, same, sameOutcome } from "./ChainOutcome.js"

const answer = { answer: "of the step" }
type Note = (event: string, request: unknown) => void

/** Objects whose methods need their object. */
class Selective {
  constructor(
    readonly accepts: boolean,
    readonly note: Note
  ) {}
  canHandle(request: unknown) {
    this.note("asked", request)
    return this.accepts
  }
  process(request: unknown) {
    this.note("handled", request)
    return answer
  }
}

class Handling {
  constructor(
    readonly accepts: boolean,
    readonly note: Note
  ) {}
  handle(request: any, next: (request: any) => Effect.Effect<any, any>) {
    this.note("asked", request)
    if (!this.accepts) return next(request)
    this.note("handled", request)
    return answer
  }
}

/** A step of every kind, which notes what it is asked and what it handles. */
const kinds: Readonly<Record<string, (to: LawSubject, accepts: boolean, note: Note) => LawSubject>> = {
  "useWhen, plain": (to, accepts, note) =>
    to.useWhen(
      (request) => {
        note("asked", request)
        return accepts
      },
      (request) => {
        note("handled", request)
        return answer
      }
    ),
  "useWhen, effectful": (to, accepts, note) =>
    to.useWhen(
      (request) =>
        Effect.as(
          Effect.sync(() => note("asked", request)),
          accepts
        ),
      (request) =>
        Effect.as(
          Effect.sync(() => note("handled", request)),
          answer
        )
    ),
  "canHandle and process": (to, accepts, note) => to.use(new Selective(accepts, note)),
  "handle of an object": (to, accepts, note) => to.use(new Handling(accepts, note)),
  "a function": (to, accepts, note) =>
    to.use((request, next) => {
      note("asked", request)
      if (!accepts) return next(request)
      note("handled", request)
      return answer
    }),
  "an effectful function": (to, accepts, note) =>
    to.use((request, next) =>
      Effect.suspend(() => {
        note("asked", request)
        if (!accepts) return next(request)
        note("handled", request)
        return Effect.succeed(answer)
      })
    ),
  "a branch": (to, accepts, note) =>
    to.useBranch(
      (request) => {
        note("asked", request)
        return accepts
      },
      (branch) =>
        branch.use((request) => {
          note("handled", request)
          return answer
        })
    ),
  "a branch, effectful": (to, accepts, note) =>
    to.useBranch(
      (request) =>
        Effect.as(
          Effect.sync(() => note("asked", request)),
          accepts
        ),
      (branch) =>
        branch.use((request) =>
          Effect.as(
            Effect.sync(() => note("handled", request)),
            answer
          )
        )
    )
}

/**
 * Each condition is asked once and each accepting handler runs once, with the request, by every entry.
 *
 * @since 0.1.0
 * @category laws
 */
export const runsOnce: Law = (builder, request) =>
  Effect.gen(function* () {
    const refused = yield* executed(builder.build(), request)
    for (const [kind, add] of Object.entries(kinds)) {
      for (const accepts of [true, false]) {
        const events: Array<unknown> = []
        const chain = add(emptyBuilder(), accepts, (event, of) =>
          events.push(Object.is(of, request) ? event : { event, of })
        )
          .use(builder)
          .build()
        for (const [entry, run] of Object.entries(executionModes)) {
          events.length = 0
          const law = `runs once: ${kind}, Chain.${entry}`
          const exit = yield* run(chain, request)
          yield* same(law, accepts ? ["asked", "handled"] : ["asked"], events)
          if (accepts) yield* sameOutcome(law, Exit.succeed(answer), exit)
        }
        const exit = yield* executed(chain, request)
        yield* sameOutcome(`runs once: ${kind}`, accepts ? Exit.succeed(answer) : refused, exit)
      }
    }
  })

/**
 * `next` hands on the request that it is given, and a handler that refuses runs no step in between.
 *
 * @since 0.1.0
 * @category laws
 */
export const nextHandsOn: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "next passes on its request"
    const changed = { changed: true }
    const ways: Record<string, StepWithNext> = {
      "returning next": (_, next) => next(changed),
      "wrapping next": (_, next) => Effect.map(next(changed), (it) => it),
      "inside an Effect": (_, next) => Effect.suspend(() => next(changed))
    }
    for (const [way, step] of Object.entries(ways)) {
      const seen: Array<unknown> = []
      const see = (it: unknown) => {
        seen.push(it === changed ? "changed" : it)
        return false
      }
      const chain = emptyBuilder()
        .use(step)
        .useWhen(see, () => answer)
        .useWhen(
          (it) => Effect.sync(() => see(it)),
          () => answer
        )
        .use((_, next) => next(request))
        .use(builder)
        .build()
      yield* sameOutcome(
        `${law}: ${way}`,
        yield* executed(builder.build(), request),
        yield* executed(chain, request)
      )
      yield* same(`${law}: ${way}`, ["changed", "changed"], seen)
    }
  })

/**
 * Each call of `next`, and each run of what it gave, runs the rest again with its own request.
 *
 * @since 0.1.0
 * @category laws
 */
export const nextRunsAgain: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "next runs again"
    for (const times of ["two calls", "one call run twice"]) {
      const seen: Array<unknown> = []
      const chain = emptyBuilder()
        .use((_, next) => {
          const one = next(1)
          return Effect.zip(one, times === "two calls" ? next(2) : one)
        })
        .useWhen(
          (it) => {
            seen.push(["asked", it])
            return false
          },
          () => answer
        )
        .use((it) => {
          seen.push(["handled", it])
          return it as unknown
        })
        .build()
      const second = times === "two calls" ? 2 : 1
      yield* sameOutcome(`${law}: ${times}`, Exit.succeed([1, second]), yield* executed(chain, 0))
      const events = [1, second].flatMap((it) => [
        ["asked", it],
        ["handled", it]
      ])
      yield* same(`${law}: ${times}`, events, seen)
    }
    const again = emptyBuilder()
      .use((it, next) => Effect.zipRight(next(it), next(it)))
      .use(builder)
    yield* sameOutcome(
      law,
      yield* executed(builder.build(), request),
      yield* executed(again.build(), request)
    )
  })

const defect = new SentinelError("thrown by the condition")
const failure = new SentinelError("the condition failed")
const odd = (value: unknown) => ({ give: () => value, end: "TypeError" as const })

const conditions: Record<string, { give: () => unknown; end: "TypeError" | Exit.Exit<never, unknown> }> = {
  throws: {
    give: () => {
      throw defect
    },
    end: Exit.die(defect)
  },
  "gives an Effect that dies": { give: () => Effect.die(defect), end: Exit.die(defect) },
  "gives an Effect that fails": { give: () => Effect.fail(failure), end: Exit.fail(failure) },
  "gives 1": odd(1),
  "gives 0": odd(0),
  "gives a text": odd("yes"),
  "gives undefined": odd(undefined),
  "gives null": odd(null),
  "gives an Option": odd(Option.some(true)),
  "gives an Either": odd(Either.right(false)),
  "gives a Promise": odd(Promise.resolve(true)),
  "gives an Effect of an Option": odd(Effect.succeed(Option.some(true))),
  "gives an object": odd({ accepted: true }),
  "gives an Effect of an Either": odd(Effect.succeed(Either.left(false))),
  "gives an Effect of an Effect": odd(Effect.succeed(Effect.succeed(true))),
  "gives an Effect of a list": odd(Effect.succeed([])),
  "gives an Effect of 0": odd(Effect.sync(() => 0)),
  "gives an Effect of 1": odd(Effect.succeed(1)),
  "gives an Effect of undefined": odd(Effect.succeed(undefined)),
  "gives an Effect of null": odd(Effect.succeed(null)),
  "gives an Effect of a text": odd(Effect.suspend(() => Effect.succeed("yes")))
}

/**
 * A condition that throws, or gives no boolean, ends the execution with a defect: no later step answers.
 *
 * @since 0.1.0
 * @category laws
 */
export const badConditions: Law = (builder, request) =>
  Effect.gen(function* () {
    for (const [what, { end, give }] of Object.entries(conditions)) {
      const condition = give as () => boolean
      const places: Record<string, LawSubject> = {
        useWhen: emptyBuilder().useWhen(condition, () => answer),
        useBranch: emptyBuilder().useBranch(condition, (branch) => branch.use(() => answer)),
        canHandle: emptyBuilder().use({ canHandle: condition, process: () => answer })
      }
      for (const [place, placed] of Object.entries(places)) {
        const chain = placed
          .use(builder)
          .withFallback(() => answer)
          .build()
        for (const [entry, run] of Object.entries(executionModes)) {
          const law = `a condition is never a silent refusal: ${place} that ${what}, Chain.${entry}`
          const exit = yield* run(chain, request)
          if (end !== "TypeError") yield* sameOutcome(law, exitOf(entry, end), exit)
          else
            yield* same(
              law,
              entry === "executeSync" ? "thrown TypeError" : "TypeError as defect",
              kindOf(exit)
            )
        }
      }
    }
  })

const kindOf = (exit: Exit.Exit<unknown, unknown>): unknown => {
  if (Exit.isSuccess(exit)) return exit.value
  const { cause } = exit
  if (cause._tag === "Die")
    return `${cause.defect instanceof TypeError ? "TypeError" : cause.defect} as defect`
  return cause._tag === "Fail"
    ? `thrown ${cause.error instanceof TypeError ? "TypeError" : cause.error}`
    : cause
}

/**
 * Option and Either are answers; an Effect of an answer is that answer.
 *
 * @since 0.1.0
 * @category laws
 */
export const plainAnswers: Law = (builder, request) =>
  Effect.gen(function* () {
    const wrapped = Effect.succeed(1)
    const values = [Option.none(), Option.some(1), Either.left("left"), Either.right(1), undefined, null]
    for (const value of values) {
      const given = Chain.provide(
        emptyBuilder()
          .use((it, next) => next(it))
          .useWhen(
            () => true,
            () => value
          )
          .use(builder)
          .build(),
        Context.empty()
      )
      yield* sameOutcome("plain answers: Chain.provide", Exit.succeed(value), yield* executed(given, request))
      for (const reply of [() => value, () => Effect.succeed(value)]) {
        const chain = emptyBuilder()
          .use(reply as () => unknown as StepWithNext)
          .use(builder)
          .build()
        for (const [entry, run] of Object.entries(executionModes)) {
          yield* sameOutcome(`plain answers: Chain.${entry}`, Exit.succeed(value), yield* run(chain, request))
        }
      }
    }
    const chain = emptyBuilder()
      .use(() => Effect.succeed(wrapped))
      .use(builder)
      .build()
    for (const [entry, run] of Object.entries(executionModes)) {
      const exit = yield* run(chain, request)
      yield* same(
        `plain answers: a wrapped Effect, Chain.${entry}`,
        true,
        Exit.isSuccess(exit) && exit.value === wrapped
      )
    }
  })
