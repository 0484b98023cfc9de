import type * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Pipeable from "effect/Pipeable"
import type * as Types from "effect/Types"
import { type Chain, Compiled, isChain } from "./Chain.js"
import { describe } from "./ChainDescription.js"
import type {
  Accepted,
  ConditionFunction,
  ErrorOf,
  HandlerFunction,
  HandlerObject,
  OwnErrors,
  Reply,
  SelectiveHandler,
  ServicesOf,
  StepKind,
  StepOptions
} from "./Handler.js"
import { slotCount } from "./internal/Compile.js"
import { Op, type Registered, type Step } from "./internal/Step.js"
import { notAFunction, typeName } from "./internal/TypeErrors.js"
import type { LogEntry } from "./LogEntry.js"
import {
  type EffectLogging,
  effectLogging,
  type LoggingOptions,
  type SyncLogging,
  toLogger
} from "./Logging.js"
import { type TracingOptions, tracingMiddleware } from "./Tracing.js"
import type { UnhandledRequestError } from "./UnhandledRequestError.js"

const leaf = (
  op: number,
  when: Step["when"],
  run: Step["run"],
  name: string,
  kind: StepKind,
  description: string | undefined,
  log: Step["log"]
): Step => ({ op, when, run, skip: 1, name, kind, description, inner: undefined, log })

/** The kinds that a step may be given. An object with `canHandle` is always a handler; a builder or chain (`U1`) has no kind. */
type KindOf<Verdict, U1> = [unknown] extends [U1]
  ? [Verdict] extends [never]
    ? "handler" | "middleware"
    : never
  : never

/**
 * Collects steps in order. It is immutable: every method returns a new builder, and every builder can be built any
 * number of times. `E` and `R` are the errors and requirements of all steps.
 *
 * @example
 * ```ts
 * const triage = ChainBuilder.make<Ticket, string>("triage")
 *   .use((ticket, next) => Effect.map(next(ticket), (reply) => `${reply}.`))
 *   .useWhen(({ kind }) => kind === "refund", ({ id }) => `refund issued for ticket ${id}`)
 *   .useBranch(({ priority }) => priority === "urgent", (urgent) => urgent.use(() => "escalated"))
 *   .withFallback(() => "queued")
 *   .build()
 * const reply = Chain.executeSync(triage, { id: 7, kind: "refund" }) // "refund issued for ticket 7."
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export class ChainBuilder<in out Req, in out Res, out E = never, out R = never, out U = UnhandledRequestError>
  implements Pipeable.Pipeable
{
  declare readonly "~types": {
    readonly _Req: Types.Invariant<Req>
    readonly _Res: Types.Invariant<Res>
    readonly _E: Types.Covariant<E>
    readonly _R: Types.Covariant<R>
    readonly _U: Types.Covariant<U>
  }

  private constructor(
    /** @internal */ readonly name: string,
    /** @internal */ readonly previous: Registered | undefined,
    /** @internal */ readonly step: Step | undefined,
    /** @internal */ readonly fallback: Step | undefined,
    /** @internal */ readonly count: number,
    /** @internal */ readonly size: number,
    /** @internal */ readonly ends: boolean
  ) {}

  /** A builder without steps. */
  static make<Req, Res>(name = "chain"): ChainBuilder<Req, Res> {
    return new ChainBuilder(name, undefined, undefined, undefined, 0, 0, false)
  }

  /** Adds a handler, or merges the steps of a builder or chain. A request that these do not handle goes to the next step. */
  use<
    Ret extends Reply<Res, any, any> = never,
    Verdict extends Reply<boolean, any, any> = never,
    E1 = never,
    R1 = never,
    U1 = unknown
  >(
    what:
      | HandlerFunction<Req, Res, Ret>
      | HandlerObject<Req, Res, Ret>
      | SelectiveHandler<Req, Res, Verdict, Ret>
      | ChainBuilder<Req, Res, E1, R1, U1>
      | Chain<Req, Res, E1, R1, U1>,
    options?: StepOptions & { readonly kind?: KindOf<Verdict, U1> }
  ): ChainBuilder<
    Req,
    Res,
    E | E1 | ErrorOf<Verdict> | OwnErrors<ErrorOf<Ret>>,
    R | R1 | ServicesOf<Verdict | Ret>,
    U & U1
  >
  use(
    what:
      | HandlerFunction<any, any, any>
      | HandlerObject<any, any, any>
      | SelectiveHandler<any, any, any, any>
      | ChainBuilder<any, any, any, any, any>
      | Chain<any, any, any, any, any>,
    options?: StepOptions & { readonly kind?: "handler" | "middleware" }
  ): any {
    if (typeof what === "function") {
      return this.register(
        Op.Handle,
        undefined,
        what,
        options?.name ?? what.name,
        options?.kind ?? "handler",
        options
      )
    }
    if (what instanceof ChainBuilder) return this.merge(what, options)
    if (isChain(what)) return this.merge((what as Compiled<any, any, any, any, any>).registered, options)
    if (typeof what === "object" && what !== null) {
      if ("canHandle" in what && typeof what.canHandle === "function" && typeof what.process === "function") {
        const { description, name = what.name ?? "" } = options ?? {}
        return this.register(
          Op.Answer,
          (request) => what.canHandle(request),
          (request) => what.process(request),
          name,
          "handler",
          { description: description ?? what.description }
        )
      }
      if ("handle" in what && typeof what.handle === "function") {
        return this.register(
          Op.Handle,
          undefined,
          (request, next) => what.handle(request, next),
          options?.name ?? what.name ?? "",
          options?.kind ?? "handler",
          { description: options?.description ?? what.description }
        )
      }
    }
    throw new TypeError(
      `ChainBuilder.use takes a handler function, an object with handle or with canHandle and process, a builder or a chain, not ${typeName(what)}`
    )
  }

  /** Adds a handler for the requests that meet the condition. A type guard narrows the handler's request type. */
  useWhen<Condition extends ConditionFunction<Req>, Ret extends Reply<Res, any, any>>(
    condition: Condition,
    handler: (request: Accepted<Req, Condition>) => Ret,
    options?: StepOptions
  ): ChainBuilder<
    Req,
    Res,
    E | ErrorOf<ReturnType<Condition> | Ret>,
    R | ServicesOf<ReturnType<Condition> | Ret>,
    U
  >
  useWhen(
    condition: (request: any) => unknown,
    handler: (request: any) => unknown,
    options?: StepOptions
  ): any {
    if (typeof condition !== "function") throw notAFunction("useWhen", "condition", condition)
    if (typeof handler !== "function") throw notAFunction("useWhen", "handler", handler)
    return this.register(Op.Answer, condition, handler, options?.name ?? handler.name, "handler", options)
  }

  /**
   * Adds steps for the requests that meet the condition. A request that these do not handle goes to the step after the
   * branch, unless the branch has its own fallback. `configure` is called once, immediately.
   */
  useBranch<Condition extends ConditionFunction<Req>, E1, R1, U1>(
    condition: Condition,
    configure: (
      branch: ChainBuilder<Accepted<Req, Condition>, Res>
    ) => ChainBuilder<Accepted<Req, Condition>, Res, E1, R1, U1>,
    options?: StepOptions
  ): ChainBuilder<
    Req,
    Res,
    E | ErrorOf<ReturnType<Condition>> | E1,
    R | ServicesOf<ReturnType<Condition>> | R1,
    U
  >
  useBranch(
    condition: (request: any) => unknown,
    configure: (branch: ChainBuilder<any, Res>) => ChainBuilder<any, any, any, any, any>,
    options?: StepOptions
  ): any {
    if (typeof condition !== "function") throw notAFunction("useBranch", "condition", condition)
    if (typeof configure !== "function") throw notAFunction("useBranch", "configure", configure)
    const name = options?.name || `branch-${this.count + 1}`
    const inner = configure(ChainBuilder.make<any, Res>(name))
    if (!(inner instanceof ChainBuilder)) {
      throw new TypeError(`ChainBuilder.useBranch: configure must return a builder, not ${typeName(inner)}`)
    }
    const places = 1 + slotCount(inner)
    return this.enter(condition, inner, places, name, options?.description, false)
  }

  /** Adds middleware that logs start, duration and outcome of the steps after it. */
  useLogging<R1 = never>(
    options: LoggingOptions | SyncLogging | EffectLogging<R1> = {}
  ): ChainBuilder<Req, Res, E, R | R1, U> {
    const { level = "Debug", name = this.name } = options
    const description = "Logs start, duration and outcome."
    if ("write" in options) {
      if (typeof options.write !== "function") throw notAFunction("useLogging", "write", options.write)
      const log = { name, level, write: options.write }
      return this.append(
        leaf(Op.Log, undefined, undefined, "logging", "middleware", description, log),
        1,
        false
      )
    }
    const log: (entry: LogEntry) => Effect.Effect<unknown, unknown, any> =
      "log" in options ? options.log : toLogger
    if (typeof log !== "function") throw notAFunction("useLogging", "log", log)
    return this.register(Op.Handle, undefined, effectLogging({ name, level }, log), "logging", "middleware", {
      description
    })
  }

  /** Adds middleware that runs the steps after it in a span of kind `internal`. */
  useTracing(options: TracingOptions = {}): ChainBuilder<Req, Res, E, R, U> {
    if (options.spanName === "") throw new TypeError("ChainBuilder.useTracing: spanName must not be empty")
    return this.register(
      Op.Handle,
      undefined,
      tracingMiddleware(this.name, options),
      "tracing",
      "middleware",
      {
        description: "Runs the rest of the chain in a span."
      }
    )
  }

  /** Sets the handler of the requests that no step accepted. The last call wins. */
  withFallback<Ret extends Reply<Res, any, any>>(
    fallback: (request: Req) => Ret,
    options?: StepOptions
  ): ChainBuilder<Req, Res, E | ErrorOf<Ret>, R | ServicesOf<Ret>, never> {
    if (typeof fallback !== "function") throw notAFunction("withFallback", "fallback", fallback)
    const name = options?.name || "fallback"
    const step = leaf(Op.Answer, undefined, fallback, name, "fallback", options?.description, undefined)
    return new ChainBuilder(this.name, this.previous, this.step, step, this.count, this.size, true)
  }

  /** Builds a chain of the steps added so far. */
  build(): Chain<Req, Res, E, R, U> {
    return new Compiled(this)
  }

  // Not `extends Pipeable.Class()`: instances of a derived class are slower to create, and every step creates one.
  /** Passes the builder through functions, from left to right. */
  declare readonly pipe: Pipeable.Pipeable["pipe"]

  /** The chain's description as text. */
  toString(): string {
    return Inspectable.format({ _id: "ChainBuilder", ...describe(this) })
  }

  [Inspectable.NodeInspectSymbol](): unknown {
    return this.toString()
  }

  private merge(inner: Registered, options: StepOptions | undefined): any {
    const name = options?.name || inner.name
    const places = slotCount(inner)
    return this.enter(undefined, inner, places, name, options?.description, inner.ends)
  }

  private register(
    op: number,
    when: ((request: any) => unknown) | undefined,
    run: (request: any, next: any) => unknown,
    name: string,
    kind: StepKind,
    options: { readonly description?: string | undefined } | undefined
  ): any {
    const shown = name === "" ? `${kind}-${this.count + 1}` : name
    return this.append(leaf(op, when, run, shown, kind, options?.description, undefined), 1, false)
  }

  private enter(
    when: Step["when"],
    inner: Registered,
    places: number,
    name: string,
    description: string | undefined,
    ends: boolean
  ): any {
    const step: Step = {
      op: Op.Enter,
      when,
      run: undefined,
      skip: places,
      name,
      kind: "branch",
      description,
      inner,
      log: undefined
    }
    return this.append(step, places, ends)
  }

  private append(step: Step, places: number, ends: boolean): any {
    return new ChainBuilder(
      this.name,
      this,
      step,
      this.fallback,
      this.count + 1,
      this.size + places,
      this.ends || ends
    )
  }
}

Object.defineProperty(ChainBuilder.prototype, "pipe", { value: Pipeable.Prototype.pipe })
