import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Chain } from "../../chain/index.js"
import { emptyBuilder, type Law, type LawSubject, SentinelError, type StepWithNext } from "./ChainLaw.js"
import { executed, isUnhandled, same, sameOutcome } from "./ChainOutcome.js"

const answer = { answer: "of a step" }
const failure = new SentinelError("failure")

/** Hands every request on, and puts the response into a list. */
const inList: StepWithNext = (request, next) => Effect.map(next(request), (response) => [response])

/** Answers every failure of the steps inside. */
const catching: StepWithNext = (request, next) => Effect.orElseSucceed(next(request), () => answer)

/** The built chain inside a middleware, which is a function or an object. */
const around = (
  subject: LawSubject,
  middleware: StepWithNext | { readonly handle: StepWithNext } = inList,
  options?: { readonly name?: string; readonly description?: string }
) => Chain.withMiddleware(subject.build(), middleware as StepWithNext, options)

/**
 * Middleware around a built chain is its first step: every step, the fallback, and the steps after the chain where it is
 * merged run inside it.
 *
 * @since 0.1.0
 * @category laws
 */
export const middlewareAround: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "middleware around a chain"
    const listed = Exit.map((response: unknown) => [response])
    for (const [what, subject] of Object.entries({
      "the given chain": builder,
      "a fallback": builder.withFallback(() => answer),
      "a step": emptyBuilder()
        .use(() => answer)
        .use(builder)
    })) {
      const alone = yield* executed(subject.build(), request)
      const inside = yield* executed(around(subject), request)
      yield* same(`${law}: ${what}`, isUnhandled(alone), isUnhandled(inside))
      if (!isUnhandled(alone)) yield* sameOutcome(`${law}: ${what}`, listed(alone), inside)
    }
    const failing = emptyBuilder().use(() => Effect.fail(failure))
    for (const [what, subject] of Object.entries({
      "no step accepts": emptyBuilder(),
      "a step fails": failing
    })) {
      const caught = yield* executed(around(subject, catching), request)
      yield* sameOutcome(`${law}: ${what}`, Exit.succeed(answer), caught)
    }
    const refusing = emptyBuilder().useWhen(
      () => false,
      () => answer
    )
    const merged = emptyBuilder()
      .use(around(refusing))
      .use(() => answer)
      .use(builder)
    yield* sameOutcome(
      `${law}: a step after the merged chain`,
      Exit.succeed([answer]),
      yield* executed(merged.build(), request)
    )
    const answering = emptyBuilder().use(() => answer)
    const outer: StepWithNext = (it, next) => Effect.map(next(it), (response) => ["outer", response])
    const twice = Chain.withMiddleware(around(answering), outer)
    yield* sameOutcome(
      `${law}: around another one`,
      Exit.succeed(["outer", [answer]]),
      yield* executed(twice, request)
    )

    const { count, handlers, name } = Chain.describe(builder.build())
    const object = {
      name: "listing",
      description: "Lists.",
      prefix: "of the object",
      handle(it: any, next: (it: any) => Effect.Effect<any, any>): Effect.Effect<any, any> {
        return Effect.map(next(it), (response) => [this?.prefix, response])
      }
    }
    const named: Record<string, readonly [Chain.Chain<any, any, any, never, any>, string, string]> = {
      "a function": [around(builder), "inList", ""],
      "a function without a name": [
        around(
          builder,
          (
            (): StepWithNext => (it, next) =>
              next(it)
          )()
        ),
        "middleware",
        ""
      ],
      "a function with options": [
        around(builder, inList, { name: "given", description: "Given." }),
        "given",
        "Given."
      ],
      "an object": [around(builder, object), "listing", "Lists."],
      "an object with options": [around(builder, object, { name: "given" }), "given", "Lists."],
      "an object without a name": [around(builder, { handle: object.handle }), "middleware", ""]
    }
    for (const [what, [chain, stepName, description]] of Object.entries(named)) {
      yield* same(
        `${law}: the description of ${what}`,
        {
          name,
          count: count + 1,
          handlers: [{ name: stepName, kind: "middleware", description }, ...handlers]
        },
        Chain.describe(chain)
      )
      yield* same(`${law}: the count with ${what}`, count + 1, Chain.count(chain))
    }
    yield* sameOutcome(
      `${law}: an object keeps its own members`,
      Exit.succeed(["of the object", answer]),
      yield* executed(around(answering, object), request)
    )
    const ends = (subject: Chain.Any) =>
      Chain.warnings(
        emptyBuilder()
          .use(subject as never)
          .use(() => answer, { name: "after" })
          .build()
      ).map(({ path }) => path.at(-1))
    const closed = builder.withFallback(() => answer)
    for (const subject of [closed, builder, emptyBuilder().use(closed)])
      yield* same(`${law}: the same end of the chain`, ends(subject.build()), ends(around(subject)))
  })
