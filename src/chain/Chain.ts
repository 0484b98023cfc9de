import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Inspectable from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import type * as Types from "effect/Types"
import {
  type ChainDescription,
  describe as describePlan,
  type UnreachableStep,
  unreachable
} from "./ChainDescription.js"
import { kindOf } from "./internal/notAFunction.js"
import { compile } from "./internal/Plan.js"
import { provided } from "./internal/provided.js"
import { Execution, Lazily, orThrow, Rest, toExit, walked } from "./internal/Run.js"
import type { Registered, Step } from "./internal/Step.js"
import { type Trace, trace as traceProgram } from "./Trace.js"
import type { UnhandledRequestError } from "./UnhandledRequestError.js"

export const TypeId: unique symbol = Symbol.for("chainstore/Chain")
export type TypeId = typeof TypeId

/**
 * Steps in a fixed order, ready to execute. Immutable.
 * `E` and `R` are those of the steps; `U` is `UnhandledRequestError` unless a fallback rules it out.
 */
export interface Chain<in out Req, in out Res, out E = never, out R = never, out U = UnhandledRequestError> {
  readonly [TypeId]: {
    readonly _Req: Types.Invariant<Req>
    readonly _Res: Types.Invariant<Res>
    readonly _E: Types.Covariant<E>
    readonly _R: Types.Covariant<R>
    readonly _U: Types.Covariant<U>
  }
  readonly name: string
}

export type Any = Chain<any, any, any, any, any>

/** A response together with the name of the step that gave it. */
export interface Handled<Res> {
  readonly response: Res
  readonly handledBy: string
}

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

const compiled = (chain: Any): Compiled<any, any, any, any, any> => {
  const known = chain as Compiled<any, any, any, any, any> | undefined | null
  if (known?.registered === undefined) {
    const what = typeof chain === "object" && chain !== null && "build" in chain ? "a builder" : kindOf(chain)
    throw new TypeError(`Chain takes what build() gives, not ${what}`)
  }
  return known
}

class NamedExecution extends Lazily {
  constructor(
    readonly program: ReadonlyArray<Step>,
    readonly chain: string,
    readonly request: unknown
  ) {
    super()
  }
  override commit() {
    const execution = new Execution(this.program, this.chain, true)
    const named = (response: unknown) => ({ response, handledBy: execution.answered!.name })
    const rest = walked(execution, 0, this.request, false)
    return Exit.isExit(rest) ? Exit.map(rest, named) : Effect.map(rest, named)
  }
}

export const isChain = (u: unknown): u is Any => typeof u === "object" && u !== null && TypeId in u

/** The number of registered steps: middleware, branches and merged fragments count one each, a fallback none. */
export const count = (chain: Any): number => compiled(chain).registered.count

/** Runs the request through the chain, each time the Effect is run. */
export const execute = <Req, Res, E, R, U>(
  chain: Chain<Req, Res, E, R, U>,
  request: NoInfer<Req>
): Effect.Effect<Res, E | U, R> => {
  return new Rest(compiled(chain).execution, 0, request)
}

/** Like `execute`, and says which step answered. */
export const executeNamed = <Req, Res, E, R, U>(
  chain: Chain<Req, Res, E, R, U>,
  request: NoInfer<Req>
): Effect.Effect<Handled<Res>, E | U, R> => {
  const { program, name } = compiled(chain)
  return new NamedExecution(program, name, request)
}

/** Runs the request at once. A step that has to wait ends it with an `AsyncStepError` as defect. */
export const executeExit = <Req, Res, E, U>(
  chain: Chain<Req, Res, E, never, U>,
  request: NoInfer<Req>
): Exit.Exit<Res, E | U> => {
  return toExit(compiled(chain).execution, request)
}

/** Like `executeExit`, and says which step answered. */
export const executeNamedExit = <Req, Res, E, U>(
  chain: Chain<Req, Res, E, never, U>,
  request: NoInfer<Req>
): Exit.Exit<Handled<Res>, E | U> => {
  const { program, name } = compiled(chain)
  const execution = new Execution(program, name, true)
  const exit = toExit(execution, request)
  return Exit.isFailure(exit)
    ? exit
    : Exit.succeed({ response: exit.value, handledBy: execution.answered!.name })
}

/** Runs the request at once and returns the response; throws the failure itself. */
export const executeSync = <Req, Res, E, U>(
  chain: Chain<Req, Res, E, never, U>,
  request: NoInfer<Req>
): Res => {
  return orThrow(compiled(chain).execution, request) as Res
}

/** The chain as data. */
export const describe = (chain: Any): ChainDescription => describePlan(compiled(chain).registered)

/** The steps that no request can reach, because a merged fragment before them has a fallback. */
export const warnings = (chain: Any): ReadonlyArray<UnreachableStep> =>
  unreachable(compiled(chain).registered)

/** Runs the request and reports what every visited step did; a failure is part of the report. */
export const trace = <Req, Res, E, R, U>(
  chain: Chain<Req, Res, E, R, U>,
  request: NoInfer<Req>
): Effect.Effect<Trace<Res, E | U>, never, R> => {
  const { program, name } = compiled(chain)
  return traceProgram(program, name, request)
}

/** The same chain with services at hand for its steps. Merged into another, it provides nothing to later steps. */
export const provide = <Req, Res, E, R, U, R2>(
  chain: Chain<Req, Res, E, R, U>,
  context: Context.Context<R2>
): Chain<Req, Res, E, Exclude<R, R2>, U> => new Compiled(provided(compiled(chain).registered, context))

/** A chain is traced where it is used, not where its layer was built. */
const withoutSpan: <R>(context: Context.Context<R>) => Context.Context<R> = Context.omit(
  Tracer.ParentSpan
) as never

/** The chain as a service; what it requires is taken once, when the layer is built. */
export const layer = <Self, Req, Res, E, R, U>(
  tag: Context.Tag<Self, Chain<Req, Res, E, never, U>>,
  chain: Chain<Req, Res, E, R, U>
): Layer.Layer<Self, never, R> =>
  Layer.effect(
    tag,
    Effect.map(Effect.context<R>(), (context) => provide(chain, withoutSpan(context)))
  )

/** A function that executes requests with the chain that a layer provides. */
export const service =
  <Self, Req, Res, E, U>(tag: Context.Tag<Self, Chain<Req, Res, E, never, U>>) =>
  (request: Req): Effect.Effect<Res, E | U, Self> =>
    Effect.flatMap(tag, (chain) => execute(chain, request))
