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
import { compile } from "./internal/Compile.js"
import type { AcceptsRequest, RequestOf, RequiresNothing, SyncRequestOf } from "./internal/InferredTypes.js"
import { Continuation, Execution, runOrThrow, runToExit } from "./internal/Interpreter.js"
import { NamedExecution } from "./internal/NamedExecution.js"
import { provideContext } from "./internal/ProvideContext.js"
import type { Registered, Step } from "./internal/Step.js"
import { typeName } from "./internal/TypeErrors.js"
import { wrapMiddleware } from "./internal/WrapMiddleware.js"
import { type Trace, trace as traceProgram } from "./Trace.js"
import type { UnhandledRequestError } from "./UnhandledRequestError.js"

/**
 * The symbol by which `isChain` recognises chains, also those of another copy of this module.
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
 * A response together with the name of the step that handled the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Handled<Res> {
  /** The step's response. */
  readonly response: Res
  /** The name of the step that handled the request; in nested chains, of the innermost one. */
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
 * Middleware with a name and a description.
 *
 * @since 0.1.0
 * @category models
 */
export interface MiddlewareObject<Req, Res, E, R, U, Ret> extends StepOptions {
  /** The middleware itself. */
  readonly handle: Middleware<Req, Res, E, R, U, Ret>
}

/**
 * `U` if the middleware fails with `UnhandledRequestError`, otherwise `never`: then the middleware handles every request.
 *
 * @since 0.1.0
 * @category type-level
 */
export type Unanswered<U, E> = [Extract<E, UnhandledRequestError & Marked>] extends [never] ? never : U

/** The chain if its type is known from the context of the call, otherwise any chain that accepts the given request. */
type ChainAccepting<Req, Given, Req2, Res, E, R, U> = unknown extends Req
  ? Chain<Req2, Res, E, R, U> & AcceptsRequest<Req2, Given>
  : Chain<Req, Res, E, R, U>

/** Like `ChainAccepting`, for chains without requirements. */
type SyncChainAccepting<Req, R, Given, Req2, Res, E, U> = unknown extends Req
  ? Chain<Req2, Res, E, never, U> & AcceptsRequest<Req2, Given>
  : Chain<Req, Res, E, R, U> & RequiresNothing<R, Given>

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
  private cachedProgram: ReadonlyArray<Step> | undefined = undefined
  private cachedExecution: Execution | undefined = undefined
  constructor(readonly registered: Registered) {
    super()
  }
  declare readonly pipe: Pipeable.Pipeable["pipe"]
  get name(): string {
    return this.registered.name
  }
  /** The compiled steps. They are compiled when the first execution begins. */
  get program(): ReadonlyArray<Step> {
    this.cachedProgram ??= compile(this.registered)
    return this.cachedProgram
  }
  /** The execution state that all executions share which do not track the handling step. */
  get execution(): Execution {
    this.cachedExecution ??= new Execution(this.program, this.registered.name, false)
    return this.cachedExecution
  }
  toJSON(): unknown {
    return { _id: "Chain", ...describePlan(this.registered) }
  }
}

Object.defineProperty(Compiled.prototype, TypeId, { value: variance })
Object.defineProperty(Compiled.prototype, "pipe", { value: Pipeable.Prototype.pipe })

const toCompiled = (chain: Any): Compiled<any, any, any, any, any> => {
  const known = chain as Compiled<any, any, any, any, any> | undefined | null
  if (known?.registered === undefined) {
    const what =
      typeof chain === "object" && chain !== null && "build" in chain ? "a builder" : typeName(chain)
    throw new TypeError(`Chain takes what build() gives, not ${what}`)
  }
  return known
}

/**
 * Whether a value is a built chain. A `ChainBuilder` is not one.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isChain = (u: unknown): u is Any => typeof u === "object" && u !== null && TypeId in u

/**
 * The number of registered steps: middleware, branches and merged fragments count one each; a fallback does not count.
 *
 * @since 0.1.0
 * @category inspecting
 */
export const count = (chain: Any): number => toCompiled(chain).registered.count

/** Accepts both argument orders. A request may be undefined, or be left out if its type is void. */
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
    request: RequestOf<Req, Given>
  ): <Req2, Res, E, R, U>(
    chain: ChainAccepting<Req, Given, Req2, Res, E, R, U>
  ) => Effect.Effect<Res, E | U, R>
  <Req, Res, E, R, U>(chain: Chain<Req, Res, E, R, U>, request: NoInfer<Req>): Effect.Effect<Res, E | U, R>
} = inBothOrders((chain, request) => {
  return new Continuation(toCompiled(chain).execution, 0, request)
})

/**
 * Like `execute`, and returns the name of the handling step too.
 *
 * @since 0.1.0
 * @category executing
 */
export const executeNamed: {
  <Req, Given>(
    request: RequestOf<Req, Given>
  ): <Req2, Res, E, R, U>(
    chain: ChainAccepting<Req, Given, Req2, Res, E, R, U>
  ) => Effect.Effect<Handled<Res>, E | U, R>
  <Req, Res, E, R, U>(
    chain: Chain<Req, Res, E, R, U>,
    request: NoInfer<Req>
  ): Effect.Effect<Handled<Res>, E | U, R>
} = inBothOrders((chain, request) => {
  const { program, name } = toCompiled(chain)
  return new NamedExecution(program, name, request)
})

/**
 * Runs the request synchronously. If a step has to wait, the execution dies with an `AsyncStepError`.
 *
 * @since 0.1.0
 * @category executing
 */
export const executeExit: {
  <Req, Given, R>(
    request: SyncRequestOf<Req, R, Given>
  ): <Req2, Res, E, U>(chain: SyncChainAccepting<Req, R, Given, Req2, Res, E, U>) => Exit.Exit<Res, E | U>
  <Req, Res, E, U>(chain: Chain<Req, Res, E, never, U>, request: NoInfer<Req>): Exit.Exit<Res, E | U>
} = inBothOrders((chain, request) => {
  return runToExit(toCompiled(chain).execution, request)
})

/**
 * Like `executeExit`, and returns the name of the handling step too.
 *
 * @since 0.1.0
 * @category executing
 */
export const executeNamedExit: {
  <Req, Given, R>(
    request: SyncRequestOf<Req, R, Given>
  ): <Req2, Res, E, U>(
    chain: SyncChainAccepting<Req, R, Given, Req2, Res, E, U>
  ) => Exit.Exit<Handled<Res>, E | U>
  <Req, Res, E, U>(chain: Chain<Req, Res, E, never, U>, request: NoInfer<Req>): Exit.Exit<Handled<Res>, E | U>
} = inBothOrders((chain, request) => {
  const { program, name } = toCompiled(chain)
  const execution = new Execution(program, name, true)
  const exit = runToExit(execution, request)
  return Exit.isFailure(exit)
    ? exit
    : Exit.succeed({ response: exit.value, handledBy: execution.handledBy!.name })
})

/**
 * Runs the request synchronously and returns the response. Throws the failure itself.
 *
 * @since 0.1.0
 * @category executing
 */
export const executeSync: {
  <Req, Given, R>(
    request: SyncRequestOf<Req, R, Given>
  ): <Req2, Res, E, U>(chain: SyncChainAccepting<Req, R, Given, Req2, Res, E, U>) => Res
  <Req, Res, E, U>(chain: Chain<Req, Res, E, never, U>, request: NoInfer<Req>): Res
} = inBothOrders((chain, request) => {
  return runOrThrow(toCompiled(chain).execution, request)
})

/**
 * The chain as data.
 *
 * @since 0.1.0
 * @category inspecting
 */
export const describe = (chain: Any): ChainDescription => describePlan(toCompiled(chain).registered)

/**
 * The steps that no request can reach, because a merged fragment before them has a fallback.
 *
 * @since 0.1.0
 * @category inspecting
 */
export const warnings = (chain: Any): ReadonlyArray<UnreachableStep> =>
  unreachable(toCompiled(chain).registered)

/**
 * Runs the request and reports the outcome of every visited step. The Effect does not fail: a failure is in the report.
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
    request: RequestOf<Req, Given>
  ): <Req2, Res, E, R, U>(
    chain: ChainAccepting<Req, Given, Req2, Res, E, R, U>
  ) => Effect.Effect<Trace<Res, E | U>, never, R>
  <Req, Res, E, R, U>(
    chain: Chain<Req, Res, E, R, U>,
    request: NoInfer<Req>
  ): Effect.Effect<Trace<Res, E | U>, never, R>
} = inBothOrders((chain, request) => {
  const { program, name } = toCompiled(chain)
  return traceProgram(program, name, request)
})

/**
 * The chain with services provided to its steps. If it is merged into another chain, later steps do not get them.
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
  ): Chain<Req, Res, E, Exclude<R, R2>, U> =>
    new Compiled(provideContext(toCompiled(chain).registered, context))
)

/**
 * The chain inside a middleware whose type covers the errors and requirements of the steps: errors that the middleware
 * handles and services that it provides are removed from the chain's type. If the chain is merged into another, the
 * steps after it also run inside the middleware when the chain passes a request on to them. With the chain as the first
 * argument, a third argument gives the options. With the chain last, an object gives `name` and `description`.
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
    const registered = toCompiled(chain).registered
    if (typeof middleware === "function") return new Compiled(wrapMiddleware(registered, middleware, options))
    if (typeof middleware?.handle !== "function")
      throw new TypeError(
        `Chain.withMiddleware: middleware must be a function or an object with handle, not ${typeName(middleware)}`
      )
    const { description = middleware.description, name = middleware.name } = options
    const run: typeof middleware.handle = (request, next) => middleware.handle(request, next)
    return new Compiled(wrapMiddleware(registered, run, { name: name ?? "middleware", description }))
  }
)

/** Removes the span of the layer's construction: executions are traced in the span of their caller. */
const withoutSpan: <R>(context: Context.Context<R>) => Context.Context<R> = Context.omit(
  Tracer.ParentSpan
) as never

/**
 * The chain as a service. Its requirements are taken once, when the layer is built.
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
} = dual(2, (first: Any | Context.Tag<any, any>, second: Any | Context.Tag<any, any>): any => {
  // `dual` passes the tag second if the chain is piped.
  const [tag, chain]: readonly [any, any] = isChain(first) ? [second, first] : [first, second]
  return Layer.effect(
    tag,
    Effect.map(Effect.context<any>(), (context) => provide(chain, withoutSpan(context)))
  )
})

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
