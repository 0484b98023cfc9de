import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Option from "effect/Option"
import type { UnhandledRequestError } from "./UnhandledRequestError.js"

declare const DownstreamTypeId: unique symbol

/** Marks what comes from later steps: their own place in the chain's error type already accounts for it. */
export interface Marked {
  readonly [DownstreamTypeId]: never
}

/** A failure of a step further down, as a handler sees it; later steps may fail with anything. */
export interface DownstreamFailure extends Marked {}

/** What `next` may fail with: nobody accepted the request, or a later step failed. */
export type Downstream = (UnhandledRequestError & Marked) | DownstreamFailure

/** Option and Either double as effects; in a chain they are always plain values. */
interface NotPlainData {
  readonly [Option.TypeId]?: never
  readonly [Either.TypeId]?: never
}

/** A plain value, or an Effect of one. An Option or Either counts as a plain value. */
export type Reply<A, E = never, R = never> = A | (Effect.Effect<A, E, R> & NotPlainData)

/** The rest of the chain. Every call runs the steps after this one, with the request it is given. */
export type Next<Req, Res> = (request: Req) => Effect.Effect<Res, Downstream>

/** Answers a request; refuses by returning `next(request)`. */
export type HandlerFunction<Req, Res, E = never, R = never> = (
  request: Req,
  next: Next<Req, Res>
) => Reply<Res, E, R>

/** The object form of a handler. */
export interface HandlerObject<Req, Res, E = never, R = never> {
  readonly name?: string
  readonly description?: string
  handle(request: Req, next: Next<Req, Res>): Reply<Res, E, R>
}

/** A handler that says beforehand which requests it accepts. */
export interface SelectiveHandler<Req, Res, EC = never, RC = never, E = never, R = never> {
  readonly name?: string
  readonly description?: string
  canHandle(request: Req): Reply<boolean, EC, RC>
  process(request: Req): Reply<Res, E, R>
}

/** How a step presents itself in descriptions, traces and `handledBy`. */
export interface StepOptions {
  readonly name?: string
  readonly description?: string
}

/** The kinds of steps that a description lists. */
export type StepKind = "handler" | "branch" | "middleware" | "fallback"

/** What remains of a step's errors once those of later steps are taken out. */
export type OwnErrors<E> = Exclude<E, Downstream>
