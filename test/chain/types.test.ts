import { it } from "@effect/vitest"
import {
  Chain,
  ChainBuilder,
  type Downstream,
  type Next,
  Policy,
  type UnhandledRequestError
} from "chainstore/chain"
import { type Cause, Context, Data, Effect, Either, type Layer, Option, pipe, Schedule } from "effect"
import { expectTypeOf } from "vitest"

class Broken extends Data.TaggedError("Broken")<{}> {}
class Refused extends Data.TaggedError("Refused")<{}> {}
class Ledger extends Context.Tag("test/Ledger")<Ledger, { readonly open: boolean }>() {}
class Clerk extends Context.Tag("test/Clerk")<Clerk, { readonly name: string }>() {}

type Refund = { readonly kind: "refund"; readonly amount: number }
type Question = { readonly kind: "question"; readonly text: string }
type Ticket = Refund | Question

const isRefund = (ticket: Ticket): ticket is Refund => ticket.kind === "refund"
const make = () => ChainBuilder.make<Ticket, string>()

it("knows from the fallback whether a request can go unhandled", () => {
  const open = make().useWhen(isRefund, () => "refund")
  const execute = Chain.execute(open.build(), { kind: "refund", amount: 1 })
  expectTypeOf(execute).toEqualTypeOf<Effect.Effect<string, UnhandledRequestError>>()
  const closed = Chain.execute(open.withFallback(() => "queued").build(), { kind: "refund", amount: 1 })
  expectTypeOf(closed).toEqualTypeOf<Effect.Effect<string>>()
  const always = make().use(() => "always")
  expectTypeOf(always).toEqualTypeOf<ChainBuilder<Ticket, string, never, never, UnhandledRequestError>>()
})

it("keeps what is known of a merged fragment's fallback", () => {
  const closed = make().withFallback(() => "queued")
  expectTypeOf(make().use(closed)).toEqualTypeOf<ChainBuilder<Ticket, string, never, never, never>>()
  expectTypeOf(make().use(closed.build())).toEqualTypeOf<ChainBuilder<Ticket, string, never, never, never>>()
  expectTypeOf(make().use(make())).toEqualTypeOf<ChainBuilder<Ticket, string>>()
  expectTypeOf(closed.use(make())).toEqualTypeOf<ChainBuilder<Ticket, string, never, never, never>>()
  const branch = make().useBranch(isRefund, (b) => b.withFallback(() => "refund"))
  expectTypeOf(branch).toEqualTypeOf<ChainBuilder<Ticket, string>>()
})

it("adds up errors and requirements of conditions and handlers", () => {
  const built = make()
    .useWhen(
      () => Effect.map(Ledger, (ledger) => ledger.open),
      () => new Broken()
    )
    .use((request, next) => (request.kind === "refund" ? Effect.fail(new Refused()) : next(request)))
    .useBranch(
      () => true,
      (b) => b.use({ handle: () => Effect.map(Clerk, (clerk) => clerk.name) })
    )
    .use({
      canHandle: () => Effect.fail("condition" as const),
      process: () => Effect.fail("process" as const)
    })
    .withFallback(() => Effect.fail("fallback" as const))
    .build()
  expectTypeOf(built).toEqualTypeOf<
    Chain.Chain<
      Ticket,
      string,
      Broken | Refused | "condition" | "process" | "fallback",
      Ledger | Clerk,
      never
    >
  >()
})

it("takes out of a handler's errors what comes from later steps", () => {
  const wrapped = make().use((request, next) => Effect.zipRight(new Broken(), next(request)))
  expectTypeOf(wrapped).toEqualTypeOf<ChainBuilder<Ticket, string, Broken>>()
  make().use((request, next) => {
    expectTypeOf(next(request)).toEqualTypeOf<Effect.Effect<string, Downstream>>()
    return Effect.catchTag(next(request), "UnhandledRequestError", (error) => Effect.succeed(error.chain))
  })
  const nested = make().use((request) => Chain.execute(make().build(), request))
  expectTypeOf(nested.withFallback(() => "x")).toEqualTypeOf<
    ChainBuilder<Ticket, string, UnhandledRequestError, never, never>
  >()
})

it("narrows the request by the guard of a condition", () => {
  make().useWhen(isRefund, (refund) => {
    expectTypeOf(refund).toEqualTypeOf<Refund>()
    return `${refund.amount}`
  })
  make().useWhen(
    (ticket) => ticket.kind === "question",
    (question) => {
      expectTypeOf(question).toEqualTypeOf<Question>()
      return question.text
    }
  )
  make().useBranch(isRefund, (b) =>
    b.use((refund, next) => {
      expectTypeOf(refund).toEqualTypeOf<Refund>()
      return next({ ...refund, amount: 2 })
    })
  )
})

it("refuses what does not fit", () => {
  // @ts-expect-error a number is no response
  make().use(() => 1)
  // @ts-expect-error a condition says yes or no
  make().useWhen(() => "yes", () => "x") // biome-ignore format: the directive belongs to this line
  // @ts-expect-error a promise is neither an answer nor an Effect
  make().use(async () => "later")
  const needy = make().use(() => Effect.map(Ledger, () => "x")).build() // biome-ignore format: one line
  // @ts-expect-error a chain with requirements has no synchronous entry
  void (() => Chain.executeSync(needy, { kind: "refund", amount: 1 }))
  // @ts-expect-error a fragment of another request type
  void (() => make().use(ChainBuilder.make<string, string>()))
})

it("treats Option and Either as plain responses", () => {
  const options = ChainBuilder.make<string, Option.Option<number>>().use(() => Option.some(1))
  expectTypeOf(options).toEqualTypeOf<ChainBuilder<string, Option.Option<number>>>()
  const eithers = ChainBuilder.make<string, Either.Either<number, string>>().use(() => Either.left("x"))
  expectTypeOf(eithers).toEqualTypeOf<ChainBuilder<string, Either.Either<number, string>>>()
  // @ts-expect-error an Option is an answer, not an Effect of one
  void (() => ChainBuilder.make<string, number>().use(() => Option.some(1)))
})

it("types policies by the handlers they surround", () => {
  const built = make()
    .useWhen(
      isRefund,
      Policy.timeout((refund) => Effect.succeed(`${refund.amount}`), "1 second")
    )
    .useWhen(
      isRefund,
      Policy.retry((_: Refund) => Effect.zipRight(Ledger, Effect.fail(new Broken())), Schedule.recurs(2))
    )
    .useWhen(
      isRefund,
      Policy.recover(
        (_: Refund) => Effect.fail(new Refused()),
        (error) => error._tag
      )
    )
  expectTypeOf(built).toEqualTypeOf<
    ChainBuilder<Ticket, string, Cause.TimeoutException | Broken, Ledger, UnhandledRequestError>
  >()
})

it("infers what a policy looks at from the handler, in either order", () => {
  const both = (ticket: Ticket) =>
    ticket.kind === "refund" ? Effect.fail(new Broken()) : Effect.fail(new Refused())
  type Recovered = (ticket: Ticket) => Effect.Effect<"Broken" | "Refused">
  const recovered = pipe(
    both,
    Policy.recover((error) => error._tag)
  )
  expectTypeOf(recovered).toEqualTypeOf<Recovered>()
  expectTypeOf(Policy.recover(both, (error) => error._tag)).toEqualTypeOf<Recovered>()
  const mixed = pipe(
    (ticket: Ticket) => (ticket.kind === "refund" ? ticket.amount : Effect.fail(new Broken())),
    Policy.recover(({ _tag }) => _tag)
  )
  expectTypeOf(mixed).toEqualTypeOf<(ticket: Ticket) => Effect.Effect<number | "Broken">>()
  const ofOption = pipe(
    (_: Ticket) => Option.some(1),
    Policy.recover((error) => {
      expectTypeOf(error).toEqualTypeOf<never>()
      return "none"
    })
  )
  expectTypeOf(ofOption).toEqualTypeOf<(_: Ticket) => Effect.Effect<Option.Option<number> | string>>()
  type Retried = (ticket: Ticket) => Effect.Effect<never, Broken | Refused>
  const retried = pipe(both, Policy.retry(Schedule.recurWhile((error) => error._tag === "Broken")))
  expectTypeOf(retried).toEqualTypeOf<Retried>()
  const whileRefused = Schedule.recurWhile((error: Broken | Refused) => error._tag === "Refused")
  expectTypeOf(Policy.retry(both, whileRefused)).toEqualTypeOf<Retried>()
  expectTypeOf(
    Policy.retry(both, Schedule.recurWhile((error) => error._tag === "Refused")) // biome-ignore format: one line
  ).toEqualTypeOf<Retried>()
  // A policy of its own, before any handler is known, takes the handlers that it covers.
  const refusals = Policy.recover((error: Refused) => error._tag)
  expectTypeOf(refusals((_: Ticket) => Effect.fail(new Refused()))).toEqualTypeOf<
    (_: Ticket) => Effect.Effect<"Refused">
  >()
  // @ts-expect-error one of its failures is not covered
  refusals(both)
  const said = Policy.recover((error) => {
    expectTypeOf(error).toEqualTypeOf<unknown>()
    return String(error)
  })
  expectTypeOf(said(both)).toEqualTypeOf<(_: Ticket) => Effect.Effect<string>>()
})

it("accepts policies and requests with type parameters", () => {
  const surely = <A, E, R>(
    handler: (ticket: Ticket) => Effect.Effect<A, E, R>
  ): ((ticket: Ticket) => Effect.Effect<A | "late", never, R>) =>
    pipe(
      handler,
      Policy.retry(Schedule.recurs(1)),
      Policy.recover(() => "late" as const)
    )
  expectTypeOf(surely((_: Ticket) => new Broken())).toEqualTypeOf<(ticket: Ticket) => Effect.Effect<"late">>()
  const twice = <Ret>(handler: (ticket: Ticket) => Ret) => pipe(handler, Policy.retry(Schedule.recurs(1)))
  expectTypeOf(twice((_: Ticket) => new Broken())).toMatchTypeOf<
    (ticket: Ticket) => Effect.Effect<never, Broken>
  >()
  const asked = <A>(chain: Chain.Chain<A, string>, request: A) => chain.pipe(Chain.execute(request))
  const asking = <A>(chain: Chain.Chain<A, string>, request: A) => Chain.execute(request)(chain)
  const now = <A>(chain: Chain.Chain<A, string>, request: A) => chain.pipe(Chain.executeSync(request))
  expectTypeOf(asked(make().build(), { kind: "refund", amount: 1 })).toEqualTypeOf<
    Effect.Effect<string, UnhandledRequestError>
  >()
  void [asking, now]
})

// @effect-diagnostics missingEffectError:off
it("refuses policies that do not cover what the handler fails with", () => {
  const failing = (_: Ticket) => Effect.fail(new Broken())
  const plain = (_: Ticket) => "at once"
  const both = (ticket: Ticket) =>
    ticket.kind === "refund" ? Effect.fail(new Broken()) : Effect.fail(new Refused())
  const whileRefused = Schedule.recurWhile((error: Refused) => error._tag === "Refused")
  // @ts-expect-error it fails with Broken, and the answer takes Refused
  pipe(failing, Policy.recover((error: Refused) => error._tag)) // biome-ignore format: one line
  // @ts-expect-error the same, the handler first
  Policy.recover(failing, (error: Refused) => error._tag)
  // @ts-expect-error one of its failures is not covered
  pipe(both, Policy.recover((error: Refused) => error._tag)) // biome-ignore format: one line
  // @ts-expect-error it fails with Broken, and the schedule looks at Refused
  pipe(failing, Policy.retry(whileRefused))
  // @ts-expect-error the same, the handler first
  Policy.retry(failing, whileRefused)
  // @ts-expect-error what later steps fail with is not covered either
  Policy.retry((ticket: Ticket, next: Next<Ticket, string>) => next(ticket), whileRefused)
  // @ts-expect-error a duration has its unit
  void (() => Policy.timeout(plain, 30))
  // @ts-expect-error a duration has its unit
  void (() => pipe(plain, Policy.timeout(30)))

  const covered = pipe(
    both,
    Policy.retry(Schedule.recurs(1)),
    Policy.recover((error: Broken | Refused) => error._tag)
  )
  expectTypeOf(covered).toEqualTypeOf<(ticket: Ticket) => Effect.Effect<"Broken" | "Refused">>()
  const never = pipe(
    plain,
    Policy.retry(whileRefused),
    Policy.recover((error: Refused) => error._tag)
  )
  expectTypeOf(never).toEqualTypeOf<(ticket: Ticket) => Effect.Effect<string>>()
})

it("refuses steps that take fewer requests than the chain has", () => {
  // @ts-expect-error the handler takes refunds alone
  make().use((refund: Refund) => `${refund.amount}`)
  // @ts-expect-error the object's handler takes refunds alone
  make().use({ handle: (refund: Refund) => `${refund.amount}` })
  // @ts-expect-error what decides takes refunds alone
  make().use({ canHandle: (refund: Refund) => refund.amount > 1, process: () => "large" })
  // @ts-expect-error what answers takes refunds alone
  make().use({ canHandle: () => true, process: (refund: Refund) => `${refund.amount}` })
  // @ts-expect-error the guard lets refunds through, the handler takes questions
  make().useWhen(isRefund, (question: Question) => question.text)
  // @ts-expect-error the handler takes refunds, and the condition is no guard
  make().useWhen(() => true, (refund: Refund) => `${refund.amount}`) // biome-ignore format: one line
  // @ts-expect-error the branch is of questions, the guard of refunds
  make().useBranch(isRefund, (b: ChainBuilder<Question, string>) => b) // biome-ignore format: one line
  // @ts-expect-error the fallback takes refunds alone
  make().withFallback((refund: Refund) => `${refund.amount}`)
  class Clerks extends Context.Tag("test/Clerks")<
    Clerks,
    Chain.Chain<Ticket, string, never, never, never>
  >() {}
  // @ts-expect-error the chain can fail and leave requests unhandled, and the service cannot
  Chain.layer(Clerks, make().use(() => Effect.fail(new Broken())).build()) // biome-ignore format: one line
})

it("takes out of a chain what middleware around it catches and provides", () => {
  const open = make()
    .useWhen(isRefund, () => Effect.zipRight(Ledger, new Broken()))
    .useWhen(isRefund, () => new Refused())
    .build()
  const caught = open.pipe(
    Chain.withMiddleware((request, next) => {
      expectTypeOf(next(request)).toEqualTypeOf<
        Effect.Effect<string, Broken | Refused | Downstream, Ledger>
      >()
      return Effect.catchTag(next(request), "Broken", () => Effect.map(Clerk, ({ name }) => name))
    })
  )
  expectTypeOf(caught).toEqualTypeOf<Chain.Chain<Ticket, string, Refused, Ledger | Clerk>>()
  const given = Chain.withMiddleware(caught, (request, next) =>
    Effect.provideService(next(request), Ledger, { open: true })
  )
  expectTypeOf(given).toEqualTypeOf<Chain.Chain<Ticket, string, Refused, Clerk>>()
  const answered = Chain.withMiddleware(open, (request, next) =>
    Effect.catchTag(next(request), "UnhandledRequestError", () => Effect.succeed("nobody"))
  )
  expectTypeOf(answered).toEqualTypeOf<Chain.Chain<Ticket, string, Broken | Refused, Ledger, never>>()
  const mapped = Chain.withMiddleware(open, (request, next) => Effect.orElseFail(next(request), () => "all"))
  expectTypeOf(mapped).toEqualTypeOf<Chain.Chain<Ticket, string, string, Ledger, never>>()
  const closed = make()
    .use(() => new Broken())
    .withFallback(() => "queued")
    .build()
  const recovered = Chain.withMiddleware(closed, (request, next) => {
    expectTypeOf(next(request)).toEqualTypeOf<Effect.Effect<string, Broken>>()
    return Effect.catchAll(next(request), ({ _tag }) => Effect.succeed(_tag))
  })
  expectTypeOf(recovered).toEqualTypeOf<Chain.Chain<Ticket, string, never, never, never>>()
  expectTypeOf(make().use(recovered)).toEqualTypeOf<ChainBuilder<Ticket, string, never, never, never>>()
  // @ts-expect-error what middleware answers is a response
  Chain.withMiddleware(open, () => 1)
  // @ts-expect-error the middleware takes refunds alone
  Chain.withMiddleware(open, (refund: Refund) => `${refund.amount}`)
  // @ts-expect-error no step fails with this
  Chain.withMiddleware(open, (request, next) => Effect.catchTag(next(request), "Lost", () => Effect.succeed("x"))) // biome-ignore format: one line
})

it("takes the chain last, for pipe", () => {
  const open = make().useWhen(isRefund, () => new Broken()).build() // biome-ignore format: one line
  const refund = { kind: "refund", amount: 1 } as const
  expectTypeOf(open.pipe(Chain.execute({ kind: "refund", amount: 1 }))).toEqualTypeOf(
    Chain.execute(open, refund)
  )
  expectTypeOf(open.pipe(Chain.executeNamed(refund))).toEqualTypeOf(Chain.executeNamed(open, refund))
  expectTypeOf(open.pipe(Chain.executeExit(refund))).toEqualTypeOf(Chain.executeExit(open, refund))
  expectTypeOf(open.pipe(Chain.executeNamedExit(refund))).toEqualTypeOf(Chain.executeNamedExit(open, refund))
  expectTypeOf(open.pipe(Chain.trace(refund))).toEqualTypeOf(Chain.trace(open, refund))
  expectTypeOf(Chain.execute(refund)(open)).toEqualTypeOf(Chain.execute(open, refund))
  const needy = make().use(() => Effect.map(Ledger, () => "x")).build() // biome-ignore format: one line
  const provided = needy.pipe(Chain.provide(Context.make(Ledger, { open: true })))
  expectTypeOf(provided).toEqualTypeOf<Chain.Chain<Ticket, string>>()
  expectTypeOf(provided.pipe(Chain.executeSync(refund))).toEqualTypeOf<string>()
  class Triage extends Context.Tag("test/Piped")<Triage, Chain.Chain<Ticket, string>>() {}
  expectTypeOf(needy.pipe(Chain.layer(Triage))).toEqualTypeOf<Layer.Layer<Triage, never, Ledger>>()
})

it("makes a service of a chain, its requirements being the layer's", () => {
  class Triage extends Context.Tag("test/Triage")<
    Triage,
    Chain.Chain<Ticket, string, Broken, never, never>
  >() {}
  const chain = make()
    .use(() => Effect.zipRight(Ledger, new Broken()))
    .withFallback(() => "queued")
    .build()
  expectTypeOf(Chain.layer(Triage, chain)).toEqualTypeOf<Layer.Layer<Triage, never, Ledger>>()
  expectTypeOf(Chain.service(Triage)).toEqualTypeOf<
    (request: Ticket) => Effect.Effect<string, Broken, Triage>
  >()
})

// A combinator that is missing here does not compile: each has a program that it refuses.
it("refuses a wrong program at every combinator", () => {
  const built = make().use(() => "x").build() // biome-ignore format: one line
  const needy = make().use(() => Effect.map(Ledger, () => "x")).build() // biome-ignore format: one line
  class Other extends Context.Tag("test/Other")<Other, Chain.Chain<string, string>>() {}
  type Programs<Names extends PropertyKey> = { readonly [Name in Names]: ReadonlyArray<() => unknown> }
  const refund = { kind: "refund", amount: 1 } as const
  const ofChain: Programs<Exclude<keyof typeof Chain, "Compiled" | "TypeId" | "isChain">> = {
    // @ts-expect-error a builder is no chain
    count: [() => Chain.count(make())],
    // @ts-expect-error a builder is no chain
    describe: [() => Chain.describe(make())],
    // @ts-expect-error a builder is no chain
    warnings: [() => Chain.warnings(make())],
    execute: [
      // @ts-expect-error a number is no ticket
      () => Chain.execute(built, 5),
      // @ts-expect-error a number is no ticket
      () => built.pipe(Chain.execute(5)),
      // @ts-expect-error a number is no ticket
      () => Chain.execute(5)(built)
    ],
    executeNamed: [
      // @ts-expect-error a number is no ticket
      () => Chain.executeNamed(built, 5),
      // @ts-expect-error a number is no ticket
      () => built.pipe(Chain.executeNamed(5))
    ],
    executeExit: [
      // @ts-expect-error a number is no ticket
      () => Chain.executeExit(built, 5),
      // @ts-expect-error a number is no ticket
      () => built.pipe(Chain.executeExit(5)),
      // @ts-expect-error the chain requires a service
      () => needy.pipe(Chain.executeExit(refund))
    ],
    executeNamedExit: [
      // @ts-expect-error the chain requires a service
      () => Chain.executeNamedExit(needy, refund),
      // @ts-expect-error a number is no ticket
      () => built.pipe(Chain.executeNamedExit(5))
    ],
    executeSync: [
      // @ts-expect-error the chain requires a service
      () => Chain.executeSync(needy, refund),
      // @ts-expect-error the chain requires a service
      () => needy.pipe(Chain.executeSync(refund)),
      // @ts-expect-error the chain requires a service
      () => Chain.executeSync(refund)(needy)
    ],
    trace: [
      // @ts-expect-error a number is no ticket
      () => Chain.trace(built, 5),
      // @ts-expect-error a number is no ticket
      () => built.pipe(Chain.trace(5))
    ],
    provide: [
      // @ts-expect-error services come in a Context
      () => Chain.provide(needy, { open: true }),
      // @ts-expect-error services come in a Context
      () => needy.pipe(Chain.provide({ open: true })),
      // @ts-expect-error the chain still requires the ledger
      () => Chain.executeSync(Chain.provide(needy, Context.make(Clerk, { name: "Bob" })), refund)
    ],
    withMiddleware: [
      // @ts-expect-error a number is no response
      () => built.pipe(Chain.withMiddleware(() => 1)),
      // @ts-expect-error a number is no response
      () => built.pipe(Chain.withMiddleware({ handle: () => 1 })),
      // @ts-expect-error a builder is no chain
      () => Chain.withMiddleware(make(), (request, next) => next(request))
    ],
    layer: [
      // @ts-expect-error the service is a chain of strings
      () => Chain.layer(Other, built),
      // @ts-expect-error the service is a chain of strings
      () => built.pipe(Chain.layer(Other))
    ],
    service: [
      // @ts-expect-error the service is no chain
      () => Chain.service(Ledger),
      // @ts-expect-error the service's chain takes strings
      () => Chain.service(Other)(5)
    ]
  }
  type Steps = Extract<keyof ChainBuilder<Ticket, string>, `${"use" | "with"}${string}`>
  const ofBuilder: Programs<Steps> = {
    // @ts-expect-error a number is no response
    use: [() => make().use({ handle: () => 1 })],
    // @ts-expect-error what configures a branch returns it
    useBranch: [() => make().useBranch(isRefund, () => "x")],
    // @ts-expect-error an entry is written by a function
    useLogging: [() => make().useLogging({ write: 5 })],
    // @ts-expect-error the span's name is a string
    useTracing: [() => make().useTracing({ spanName: 5 })],
    // @ts-expect-error a number is no response
    useWhen: [() => make().useWhen(isRefund, ({ amount }) => amount)],
    // @ts-expect-error a number is no response
    withFallback: [() => make().withFallback(() => 1)]
  }
  const failing = (_: Ticket) => Effect.fail(new Broken())
  const ofPolicy: Programs<keyof typeof Policy> = {
    // @ts-expect-error a duration has its unit
    timeout: [() => Policy.timeout(failing, 5)],
    // @ts-expect-error a schedule is no number
    retry: [() => pipe(failing, Policy.retry(3))],
    // @ts-expect-error the answer takes another failure
    recover: [() => Policy.recover(failing, (error: Refused) => error._tag)]
  }
  void [ofChain, ofBuilder, ofPolicy]
})

/** What `JSON.parse` gives, for one. */
declare const anything: any
declare const needingLedger: Chain.Chain<string, string, never, Ledger, never>

// `npm run check` refuses this file: the chain's service is not at hand, whatever the request is.
it("refuses a chain that requires a service where its request is of any type, the chain first or last", () => {
  const refusals = () => {
    // @ts-expect-error services are not at hand
    Chain.executeSync(needingLedger, anything)
    // @ts-expect-error services are not at hand
    Chain.executeSync(anything)(needingLedger)
    // @ts-expect-error services are not at hand
    pipe(needingLedger, Chain.executeSync(anything))
    // @ts-expect-error services are not at hand
    pipe(needingLedger, Chain.executeExit(anything))
    // @ts-expect-error services are not at hand
    pipe(needingLedger, Chain.executeNamedExit(anything))
  }
  void refusals
})
