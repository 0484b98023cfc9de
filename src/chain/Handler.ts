import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Option from "effect/Option"
import type { UnhandledRequestError } from "./UnhandledRequestError.js"

declare const DownstreamTypeId: unique symbol

/**
 * Marks the errors of later steps, which those steps themselves add to the chain's error type.
 *
 * @since 0.1.0
 * @category type-level
 */
export interface Marked {
  readonly [DownstreamTypeId]: never
}

/**
 * The failure of a later step, as a handler sees it. Later steps may fail with any error.
 *
 * @since 0.1.0
 * @category errors
 */
export interface DownstreamFailure extends Marked {}

/**
 * The errors of `next`: no later step accepted the request, or a later step failed.
 *
 * @since 0.1.0
 * @category type-level
 */
export type Downstream = (UnhandledRequestError & Marked) | DownstreamFailure

/** Option and Either are also effects to Effect. In a chain they are always plain values. */
interface NotPlainData {
  readonly [Option.TypeId]?: never
  readonly [Either.TypeId]?: never
}

/**
 * A plain value, or an Effect of one. An Option or Either counts as a plain value.
 *
 * @since 0.1.0
 * @category models
 */
export type Reply<A, E = never, R = never> = A | (Effect.Effect<A, E, R> & NotPlainData)

interface PlainData {
  readonly [Option.TypeId]: unknown
}

interface PlainEither {
  readonly [Either.TypeId]: unknown
}

/**
 * The response type of a reply.
 *
 * @since 0.1.0
 * @category type-level
 */
export type AnswerOf<Ret> = Ret extends PlainData | PlainEither
  ? Ret
  : Ret extends Effect.Effect<infer A, infer _E, infer _R>
    ? A
    : Ret

/**
 * The error type of a reply.
 *
 * @since 0.1.0
 * @category type-level
 */
export type ErrorOf<Ret> = Ret extends PlainData | PlainEither
  ? never
  : Ret extends Effect.Effect<infer _A, infer E, infer _R>
    ? E
    : never

/**
 * The requirements of a reply.
 *
 * @since 0.1.0
 * @category type-level
 */
export type ServicesOf<Ret> = Ret extends PlainData | PlainEither
  ? never
  : Ret extends Effect.Effect<infer _A, infer _E, infer R>
    ? R
    : never

/**
 * The rest of the chain. Every call runs the steps after this one, with the request it is given.
 *
 * @since 0.1.0
 * @category models
 */
export type Next<Req, Res> = (request: Req) => Effect.Effect<Res, Downstream>

/**
 * Handles a request, or passes it on by returning `next(request)`.
 *
 * @since 0.1.0
 * @category models
 */
export type HandlerFunction<Req, Res, Ret extends Reply<Res, any, any> = Reply<Res>> = (
  request: Req,
  next: Next<Req, Res>
) => Ret

/**
 * Decides whether a step is for a request: a plain predicate, a type guard, or a function that gives an Effect.
 *
 * @since 0.1.0
 * @category models
 */
export type ConditionFunction<Req> = (request: Req) => Reply<boolean, any, any>

/**
 * The type of a request that meets a condition: narrowed by a type guard, otherwise unchanged.
 *
 * @since 0.1.0
 * @category type-level
 */
export type Accepted<Req, Condition> = Condition extends (request: any) => request is infer Narrow
  ? Narrow extends Req
    ? Narrow
    : Req & Narrow
  : Req

/**
 * The object form of a handler.
 *
 * @since 0.1.0
 * @category models
 */
export interface HandlerObject<Req, Res, Ret extends Reply<Res, any, any> = Reply<Res>> {
  /** The step's name. Default: the function's name, or the kind of the step and its position. */
  readonly name?: string
  /** A description of the step for `Chain.describe`. */
  readonly description?: string
  /** Handles a request, or passes it on by returning `next(request)`. */
  readonly handle: (request: Req, next: Next<Req, Res>) => Ret
}

/**
 * A handler that decides with `canHandle` which requests it accepts.
 *
 * @since 0.1.0
 * @category models
 */
export interface SelectiveHandler<
  Req,
  Res,
  Verdict extends Reply<boolean, any, any> = boolean,
  Ret extends Reply<Res, any, any> = Reply<Res>
> {
  /** The step's name. Default: the function's name, or the kind of the step and its position. */
  readonly name?: string
  /** A description of the step for `Chain.describe`. */
  readonly description?: string
  /** Whether `process` handles this request. Runs once for each request that reaches the step. */
  readonly canHandle: (request: Req) => Verdict
  /** Handles a request that `canHandle` accepted. It has no `next`. */
  readonly process: (request: Req) => Ret
}

/**
 * The name and description of a step.
 *
 * @since 0.1.0
 * @category options
 */
export interface StepOptions {
  /**
   * The step's name in `handledBy`, descriptions, traces and logs. Default: the function's name, or the kind of the step
   * and its position.
   */
  readonly name?: string
  /** A description of the step for `Chain.describe`. */
  readonly description?: string
}

/**
 * The kinds of steps in a description.
 *
 * @since 0.1.0
 * @category models
 */
export type StepKind = "handler" | "branch" | "middleware" | "fallback"

/**
 * The errors of a step without those of later steps.
 *
 * @since 0.1.0
 * @category type-level
 */
export type OwnErrors<E> = Exclude<E, Downstream>
