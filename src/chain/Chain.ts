import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as Inspectable from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Pipeable from "effect/Pipeable"
import * as Tracer from "effect/Tracer"
import type * as Types from "effect/Types"
import {
  type ChainDescription,
  describe as describePlan,
  type UnreachableStep,
  unreachable
} from "./ChainDescription.js"
import type {
  Downstream,
  ErrorOf,
  HandlerFunction,
  HandlerObject,
  Marked,
  OwnErrors,
  Reply,
  ServicesOf,
  StepOptions
} from "./Handler.js"
import type { Ready, Requested, RequestedNow, Takes } from "./internal/Known.js"
import { NamedExecution } from "./internal/NamedExecution.js"
import { kindOf } from "./internal/notAFunction.js"
import { compile } from "./internal/Plan.js"
import { provided } from "./internal/provided.js"
import { Execution, orThrow, Rest, toExit } from "./internal/Run.js"
import type { Registered, Step } from "./internal/Step.js"
import { surrounded } from "./internal/surrounded.js"
import { type Trace, trace as traceProgram } from "./Trace.js"
import type { UnhandledRequestError } from "./UnhandledRequestError.js"

/**
 * The symbol by which `isChain` knows chains, of another copy of this module too.
 *
 * @since 0.1.0
 * @category symbols
 */
export const TypeId: unique symbol = Symbol.for("chainstore/Chain")
export type TypeId = typeof TypeId

/**
 * Steps in a fixed order, ready to execute. Immutable.
 * `E` and `R` are those of the steps; `U` is `UnhandledRequestError` unless a fallback rules it out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Chain<in out Req, in out Res, out E = never, out R = never, out U = UnhandledRequestError>
  extends Pipeable.Pipeable {
  readonly [TypeId]: {
    readonly _Req: Types.Invariant<Req>
    readonly _Res: Types.Invariant<Res>
    readonly _E: Types.Covariant<E>
    readonly _R: Types.Covariant<R>
    readonly _U: Types.Covariant<U>
  }
  /** The name given to `ChainBuilder.make`, or a generated one. */
  readonly name: string
}

/**
 * A chain of any type, for signatures that take all.
 *
 * @since 0.1.0
 * @category type-level
 */
export type Any = Chain<any, any, any, any, any>

/**
 * A response together with the name of the step that gave it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Handled<Res> {
  /** What the step answered. */
  readonly response: Res
  /** The name of the step that answered; of nested chains, the innermost. */
  readonly handledBy: string
}

/**
 * Middleware around a chain: `next` runs its steps, and fails and requires as they do.
 *
 * @since 0.1.0
 * @category models
 */
export type Middleware<Req, Res, E, R, U, Ret> = (
  request: Req,
  next: (request: Req) => Effect.Effect<Res, E | ([U] extends [never] ? never : Downstream), R>
) => Ret

/**
 * Middleware with its name and what it does, as handlers have them.
 *
 * @since 0.1.0
 * @category models
 */
export interface MiddlewareObject<Req, Res, E, R, U, Ret> extends StepOptions {
  /** The middleware itself. */
  readonly handle: Middleware<Req, Res, E, R, U, Ret>
}

/**
 * What a chain leaves unanswered inside middleware that fails with `E`: nothing if the middleware answers for it.
 *
 * @since 0.1.0
 * @category type-level
 */
export type Unanswered<U, E> = [Extract<E, UnhandledRequestError & Marked>] extends [never] ? never : U

/** The chain that is known from where a function is used, or any that takes the request that was given. */
type Taking<Req, Given, Req2, Res, E, R, U> = unknown extends Req
  ? Chain<Req2, Res, E, R, U> & Takes<Req2, Given>
  : Chain<Req, Res, E, R, U>

/** The same, of chains that require nothing. */
type TakingNow<Req, R, Given, Req2, Res, E, U> = unknown extends Req
  ? Chain<Req2, Res, E, never, U> & Takes<Req2, Given>
  : Chain<Req, Res, E, R, U> & Ready<R, Given>

const variance = {
  _Req: (_: any) => _,
  _Res: (_: any) => _,
  _E: (_: never) => _,
  _R: (_: never) => _,
  _U: (_: never) => _
}

/** @internal */
export class Compiled<Req, Res, E, R, U> extends Inspectable.Class implements Chain<Req, Res, E, R, U> {
  declare readonly [TypeId]: typeof variance
  private laidOut: ReadonlyArray<Step> | undefined = undefined
  private shared: Execution | undefined = undefined
  constructor(readonly registered: Registered) {
    super()
  }
  declare readonly pipe: Pipeable.Pipeable["pipe"]
  get name(): string {
    return this.registered.name
  }
  /** The steps are laid out when the first execution begins. */
  get program(): ReadonlyArray<Step> {
    this.laidOut ??= compile(this.registered)
    return this.laidOut
  }
  /** What all executions share that do not ask who answered. */
  get execution(): Execution {
    this.shared ??= new Execution(this.program, this.registered.name, false)
    return this.shared
  }
  toJSON(): unknown {
    return { _id: "Chain", ...describePlan(this.registered) }
  }
}

Object.defineProperty(Compiled.prototype, TypeId, { value: variance })
Object.defineProperty(Compiled.prototype, "pipe", { value: Pipeable.Prototype.pipe })

const compiled = (chain: Any): Compiled<any, any, any, any, any> => {
  const known = chain as Compiled<any, any, any, any, any> | undefined | null
  if (known?.registered === undefined) {
    const what = typeof chain === "object" && chain !== null && "build" in chain ? "a builder" : kindOf(chain)
    throw new TypeError(`Chain takes what build() gives, not ${what}`)
  }
  return known
}

/**
 * Whether a value is a built chain; a `ChainBuilder` is none.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isChain = (u: unknown): u is Any => typeof u === "object" && u !== null && TypeId in u

/**
 * The number of registered steps: middleware, branches and merged fragments count one each, a fallback none.
 *
 * @since 0.1.0
 * @category inspecting
 */
export const count = (chain: Any): number => compiled(chain).registered.count

/** Both argument orders; a request may be undefined, or left out where its type is void. */
const inBothOrders =
  (run: (chain: Any, request: any) => any): any =>
  (...given: [chain: any, request?: any]) =>
    given.length > 1 || isChain(given[0]) ? run(given[0], given[1]) : (chain: Any) => run(chain, given[0])

/**
 * Runs the request through the chain, each time the Effect is run.
 *
 * @example
 * ```ts
 * const reply = Chain.execute(chain, "hello")
 * const same = chain.pipe(Chain.execute("hello"))
 * ```
 *
 * @since 0.1.0
 * @category executing
 */
export const execute: {
  <Req, Given>(
    request: Requested<Req, Given>
  ): <Req2, Res, E, R, U>(chain: Taking<Req, Given, Req2, Res, E, R, U>) => Effect.Effect<Res, E | U, R>
  <Req, Res, E, R, U>(chain: Chain<Req, Res, E, R, U>, request: NoInfer<Req>): Effect.Effect<Res, E | U, R>
} = inBothOrders((chain, request) => {
  return new Rest(compiled(chain).execution, 0, request)
})

/**
 * Like `execute`, and says which step answered.
 *
 * @since 0.1.0
 * @category executing
 */
export const executeNamed: {
  <Req, Given>(
    request: Requested<Req, Given>
  ): <Req2, Res, E, R, U>(
    chain: Taking<Req, Given, Req2, Res, E, R, U>
  ) => Effect.Effect<Handled<Res>, E | U, R>
  <Req, Res, E, R, U>(
    chain: Chain<Req, Res, E, R, U>,
    request: NoInfer<Req>
  ): Effect.Effect<Handled<Res>, E | U, R>
} = inBothOrders((chain, request) => {
  const { program, name } = compiled(chain)
  return new NamedExecution(program, name, request)
})

/**
 * Runs the request at once. A step that has to wait ends it with an `AsyncStepError` as defect.
 *
 * @since 0.1.0
 * @category executing
 */
export const executeExit: {
  <Req, Given, R>(
    request: RequestedNow<Req, R, Given>
  ): <Req2, Res, E, U>(chain: TakingNow<Req, R, Given, Req2, Res, E, U>) => Exit.Exit<Res, E | U>
  <Req, Res, E, U>(chain: Chain<Req, Res, E, never, U>, request: NoInfer<Req>): Exit.Exit<Res, E | U>
} = inBothOrders((chain, request) => {
  return toExit(compiled(chain).execution, request)
})

/**
 * Like `executeExit`, and says which step answered.
 *
 * @since 0.1.0
 * @category executing
 */
export const executeNamedExit: {
  <Req, Given, R>(
    request: RequestedNow<Req, R, Given>
  ): <Req2, Res, E, U>(chain: TakingNow<Req, R, Given, Req2, Res, E, U>) => Exit.Exit<Handled<Res>, E | U>
  <Req, Res, E, U>(chain: Chain<Req, Res, E, never, U>, request: NoInfer<Req>): Exit.Exit<Handled<Res>, E | U>
} = inBothOrders((chain, request) => {
  const { program, name } = compiled(chain)
  const execution = new Execution(program, name, true)
  const exit = toExit(execution, request)
  return Exit.isFailure(exit)
    ? exit
    : Exit.succeed({ response: exit.value, handledBy: execution.answered!.name })
})

/**
 * Runs the request at once and returns the response; throws the failure itself.
 *
 * @since 0.1.0
 * @category executing
 */
export const executeSync: {
  <Req, Given, R>(
    request: RequestedNow<Req, R, Given>
  ): <Req2, Res, E, U>(chain: TakingNow<Req, R, Given, Req2, Res, E, U>) => Res
  <Req, Res, E, U>(chain: Chain<Req, Res, E, never, U>, request: NoInfer<Req>): Res
} = inBothOrders((chain, request) => {
  return orThrow(compiled(chain).execution, request)
})

/**
 * The chain as data.
 *
 * @since 0.1.0
 * @category inspecting
 */
export const describe = (chain: Any): ChainDescription => describePlan(compiled(chain).registered)

/**
 * The steps that no request can reach, because a merged fragment before them has a fallback.
 *
 * @since 0.1.0
 * @category inspecting
 */
export const warnings = (chain: Any): ReadonlyArray<UnreachableStep> =>
  unreachable(compiled(chain).registered)

/**
 * Runs the request and reports what every visited step did; a failure is part of the report.
 *
 * @example
 * ```ts
 * const { steps } = yield* Chain.trace(chain, "hello")
 * const names = steps.map(({ name, outcome }) => `${name}: ${outcome}`)
 * ```
 *
 * @since 0.1.0
 * @category inspecting
 */
export const trace: {
  <Req, Given>(
    request: Requested<Req, Given>
  ): <Req2, Res, E, R, U>(
    chain: Taking<Req, Given, Req2, Res, E, R, U>
  ) => Effect.Effect<Trace<Res, E | U>, never, R>
  <Req, Res, E, R, U>(
    chain: Chain<Req, Res, E, R, U>,
    request: NoInfer<Req>
  ): Effect.Effect<Trace<Res, E | U>, never, R>
} = inBothOrders((chain, request) => {
  const { program, name } = compiled(chain)
  return traceProgram(program, name, request)
})

/**
 * The same chain with services at hand for its steps. Merged into another, it provides nothing to later steps.
 *
 * @since 0.1.0
 * @category combinators
 */
export const provide: {
  <R2>(
    context: Context.Context<R2>
  ): <Req, Res, E, R, U>(chain: Chain<Req, Res, E, R, U>) => Chain<Req, Res, E, Exclude<R, R2>, U>
  <Req, Res, E, R, U, R2>(
    chain: Chain<Req, Res, E, R, U>,
    context: Context.Context<R2>
  ): Chain<Req, Res, E, Exclude<R, R2>, U>
} = dual(
  2,
  <Req, Res, E, R, U, R2>(
    chain: Chain<Req, Res, E, R, U>,
    context: Context.Context<R2>
  ): Chain<Req, Res, E, Exclude<R, R2>, U> => new Compiled(provided(compiled(chain).registered, context))
)

/**
 * The chain inside middleware that sees what its steps fail with and require: what `next` fails with and the middleware
 * does not is taken out of the type, and so is a service that it provides. Merged into another chain, the steps after
 * it run inside the middleware, too, as far as the chain hands on to them. Options go with the chain as the first
 * argument; with the chain last, the middleware is an object with its `name` and `description`.
 *
 * @example
 * ```ts
 * const patient = chain.pipe(
 *   Chain.withMiddleware((request, next) => Effect.catchTag(next(request), "Busy", () => Effect.succeed("later")))
 * )
 * ```
 * @since 0.1.0
 * @category combinators
 */
export const withMiddleware: {
  <Req, Res, E, R, U, Ret extends Reply<Res, any, any>>(
    middleware: Middleware<Req, Res, E, R, U, Ret> | MiddlewareObject<Req, Res, E, R, U, Ret>
  ): (
    chain: Chain<Req, Res, E, R, U>
  ) => Chain<Req, Res, OwnErrors<ErrorOf<Ret>>, ServicesOf<Ret>, Unanswered<U, ErrorOf<Ret>>>
  <Req, Res, E, R, U, Ret extends Reply<Res, any, any>>(
    chain: Chain<Req, Res, E, R, U>,
    middleware: Middleware<Req, Res, E, R, U, Ret> | MiddlewareObject<Req, Res, E, R, U, Ret>,
    options?: StepOptions
  ): Chain<Req, Res, OwnErrors<ErrorOf<Ret>>, ServicesOf<Ret>, Unanswered<U, ErrorOf<Ret>>>
} = dual(
  (args) => args.length > 1,
  (
    chain: Any,
    middleware: HandlerFunction<any, any, any> | HandlerObject<any, any, any>,
    options: StepOptions = {}
  ): any => {
    const registered = compiled(chain).registered
    if (typeof middleware === "function") return new Compiled(surrounded(registered, middleware, options))
    if (typeof middleware?.handle !== "function")
      throw new TypeError(
        `Chain.withMiddleware: middleware must be a function or an object with handle, not ${kindOf(middleware)}`
      )
    const { description = middleware.description, name = middleware.name } = options
    const run: typeof middleware.handle = (request, next) => middleware.handle(request, next)
    return new Compiled(
      surrounded(registered, run, {
        name: name ?? "middleware",
        ...(description === undefined ? {} : { description })
      })
    )
  }
)

/** A chain is traced where it is used, not where its layer was built. */
const withoutSpan: <R>(context: Context.Context<R>) => Context.Context<R> = Context.omit(
  Tracer.ParentSpan
) as never

/**
 * The chain as a service; what it requires is taken once, when the layer is built.
 *
 * @example
 * ```ts
 * class Greeter extends Context.Tag("Greeter")<Greeter, Chain.Chain<string, string>>() {}
 *
 * const greet = Chain.service(Greeter)
 * const program = Effect.provide(greet("hello"), Chain.layer(Greeter, chain))
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: {
  <Self, Req, Res, E, U>(
    tag: Context.Tag<Self, Chain<Req, Res, E, never, U>>
  ): <R>(chain: Chain<Req, Res, E, R, U>) => Layer.Layer<Self, never, R>
  <Self, Req, Res, E, R, U>(
    tag: Context.Tag<Self, Chain<Req, Res, E, never, U>>,
    chain: Chain<Req, Res, E, R, U>
  ): Layer.Layer<Self, never, R>
} = dual(
  2,
  <Self, Req, Res, E, R, U>(
    tag: Context.Tag<Self, Chain<Req, Res, E, never, U>>,
    chain: Chain<Req, Res, E, R, U>
  ): Layer.Layer<Self, never, R> =>
    Layer.effect(
      tag,
      Effect.map(Effect.context<R>(), (context) => provide(chain, withoutSpan(context)))
    )
)

/**
 * A function that executes requests with the chain that a layer provides.
 *
 * @since 0.1.0
 * @category layers
 */
export const service =
  <Self, Req, Res, E, U>(tag: Context.Tag<Self, Chain<Req, Res, E, never, U>>) =>
  (request: Req): Effect.Effect<Res, E | U, Self> =>
    Effect.flatMap(tag, (chain) => execute(chain, request))
