import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Option from "effect/Option"
import type { UnhandledRequestError } from "./UnhandledRequestError.js"

declare const DownstreamTypeId: unique symbol

/**
 * Marks what comes from later steps: their own place in the chain's error type already accounts for it.
 *
 * @since 0.1.0
 * @category type-level
 */
export interface Marked {
  readonly [DownstreamTypeId]: never
}

/**
 * A failure of a step further down, as a handler sees it; later steps may fail with anything.
 *
 * @since 0.1.0
 * @category errors
 */
export interface DownstreamFailure extends Marked {}

/**
 * What `next` may fail with: nobody accepted the request, or a later step failed.
 *
 * @since 0.1.0
 * @category type-level
 */
export type Downstream = (UnhandledRequestError & Marked) | DownstreamFailure

/** Option and Either double as effects; in a chain they are always plain values. */
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
 * What a reply answers.
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
 * What a reply may fail with.
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
 * What a reply requires.
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
 * Answers a request; refuses by returning `next(request)`.
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
 * A request that met a condition: what the type guard says of it, or all that is known.
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
  /** The step's name; absent: the function's own, or one made of the chain's name and the step's place. */
  readonly name?: string
  /** What the step does, for `Chain.describe`. */
  readonly description?: string
  /** Answers a request, or refuses it by returning `next(request)`. */
  readonly handle: (request: Req, next: Next<Req, Res>) => Ret
}

/**
 * A handler that says beforehand which requests it accepts.
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
  /** The step's name; absent: the function's own, or one made of the chain's name and the step's place. */
  readonly name?: string
  /** What the step does, for `Chain.describe`. */
  readonly description?: string
  /** Whether `process` answers this request. Runs once for each request that reaches the step. */
  readonly canHandle: (request: Req) => Verdict
  /** Answers a request that `canHandle` accepted; it has no `next`. */
  readonly process: (request: Req) => Ret
}

/**
 * How a step presents itself in descriptions, traces and `handledBy`.
 *
 * @since 0.1.0
 * @category options
 */
export interface StepOptions {
  /**
   * The step's name in `handledBy`, descriptions, traces and logs; absent: the function's own, or one made of the chain's
   * name and the step's place.
   */
  readonly name?: string
  /** What the step does, for `Chain.describe`. */
  readonly description?: string
}

/**
 * The kinds of steps that a description lists.
 *
 * @since 0.1.0
 * @category models
 */
export type StepKind = "handler" | "branch" | "middleware" | "fallback"

/**
 * What remains of a step's errors once those of later steps are taken out.
 *
 * @since 0.1.0
 * @category type-level
 */
export type OwnErrors<E> = Exclude<E, Downstream>
