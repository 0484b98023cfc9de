import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import type * as Schedule from "effect/Schedule"
import { type DurationInput, readDuration } from "../domain/time/DurationInput.js"
import type { AnswerOf, ErrorOf, ServicesOf } from "./Handler.js"
import type { InferredOr } from "./internal/InferredTypes.js"
import { isEffect } from "./internal/Interpreter.js"

type Arguments = ReadonlyArray<any>

/**
 * A handler with or without `next`. A policy of a handler with `next` covers the steps that `next` runs.
 *
 * @since 0.1.0
 * @category models
 */
export type Handling<Args extends Arguments, Ret> = (...args: Args) => Ret

/** Accepts a handler whose errors are all in `E`. For any other handler the type names the missing errors. */
type FailsWithin<Ret, E> = [ErrorOf<Ret>] extends [E]
  ? unknown
  : { readonly "this handler also fails with": Exclude<ErrorOf<Ret>, E> }

/** The handler if its type is known from the context of the call, otherwise any handler whose errors are in `E`. */
type Covered<Ret, E, Args extends Arguments, Ret2> = unknown extends Ret
  ? Handling<Args, Ret2> & FailsWithin<Ret2, E>
  : Handling<Args, Ret>

const lazily = <Args extends Arguments, Ret>(
  handler: Handling<Args, Ret>,
  args: Args
): Effect.Effect<AnswerOf<Ret>, ErrorOf<Ret>, ServicesOf<Ret>> =>
  Effect.suspend(() => {
    const reply = handler(...args)
    return isEffect(reply) ? reply : Effect.succeed(reply as AnswerOf<Ret>)
  })

/**
 * Interrupts a handler that takes longer, and fails with a TimeoutException.
 *
 * @example
 * ```ts
 * const builder = ChainBuilder.make<Ticket, string>()
 *   .use(pipe(ask, Policy.timeout("2 seconds"), Policy.recover(() => "later")))
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const timeout: {
  (
    duration: DurationInput
  ): <Args extends Arguments, Ret>(
    handler: Handling<Args, Ret>
  ) => Handling<Args, Effect.Effect<AnswerOf<Ret>, ErrorOf<Ret> | Cause.TimeoutException, ServicesOf<Ret>>>
  <Args extends Arguments, Ret>(
    handler: Handling<Args, Ret>,
    duration: DurationInput
  ): Handling<Args, Effect.Effect<AnswerOf<Ret>, ErrorOf<Ret> | Cause.TimeoutException, ServicesOf<Ret>>>
} = dual(2, <Args extends Arguments, Ret>(handler: Handling<Args, Ret>, duration: DurationInput) => {
  const limit = Either.getOrThrowWith(
    readDuration(duration),
    (problem) => new TypeError(`Policy.timeout: duration ${problem}`)
  )
  return (...args: Args) => Effect.timeout(lazily(handler, args), limit)
})

/**
 * Runs the handler again after a failure, as long as the schedule continues.
 *
 * @example
 * ```ts
 * const builder = ChainBuilder.make<Ticket, string>()
 *   .use(Policy.retry(ask, Schedule.recurs(3)))
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const retry: {
  <Ret, B, E, R>(
    schedule: Schedule.Schedule<B, unknown extends Ret ? E : ErrorOf<Ret>, R>
  ): <Args extends Arguments, Ret2>(
    handler: Covered<Ret, E, Args, Ret2>
  ) => Handling<
    Args,
    Effect.Effect<
      AnswerOf<InferredOr<Ret, Ret2>>,
      ErrorOf<InferredOr<Ret, Ret2>>,
      ServicesOf<InferredOr<Ret, Ret2>> | R
    >
  >
  <Args extends Arguments, Ret, B, R>(
    handler: Handling<Args, Ret>,
    schedule: Schedule.Schedule<B, NoInfer<ErrorOf<Ret>>, R>
  ): Handling<Args, Effect.Effect<AnswerOf<Ret>, ErrorOf<Ret>, ServicesOf<Ret> | R>>
} = dual(
  2,
  <Args extends Arguments, Ret, B, R>(
    handler: Handling<Args, Ret>,
    schedule: Schedule.Schedule<B, ErrorOf<Ret>, R>
  ) =>
    (...args: Args) =>
      Effect.retry(lazily(handler, args), schedule)
)

/**
 * Responds in place of a handler that failed. Defects and interruption are not caught.
 *
 * @example
 * ```ts
 * const builder = ChainBuilder.make<Ticket, string>()
 *   .use(Policy.recover(ask, ({ _tag }) => `no answer: ${_tag}`))
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const recover: {
  <Ret, E, Ret3>(
    answer: (error: unknown extends Ret ? E : ErrorOf<Ret>) => Ret3
  ): <Args extends Arguments, Ret2>(
    handler: Covered<Ret, E, Args, Ret2>
  ) => Handling<
    Args,
    Effect.Effect<
      AnswerOf<InferredOr<Ret, Ret2>> | AnswerOf<Ret3>,
      ErrorOf<Ret3>,
      ServicesOf<InferredOr<Ret, Ret2>> | ServicesOf<Ret3>
    >
  >
  <Args extends Arguments, Ret, Ret2>(
    handler: Handling<Args, Ret>,
    answer: (error: ErrorOf<Ret>) => Ret2
  ): Handling<
    Args,
    Effect.Effect<AnswerOf<Ret> | AnswerOf<Ret2>, ErrorOf<Ret2>, ServicesOf<Ret> | ServicesOf<Ret2>>
  >
} = dual(
  2,
  <Args extends Arguments, Ret, Ret2>(handler: Handling<Args, Ret>, answer: (error: ErrorOf<Ret>) => Ret2) =>
    (...args: Args) =>
      Effect.catchAll(lazily(handler, args), (error) => lazily(answer, [error]))
)
