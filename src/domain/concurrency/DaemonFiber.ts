import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"

/**
 * Runs an effect in a fibre of its own and waits for it, for work that must go on when the calling fibre is
 * interrupted or cannot be: there a timeout could not end it, or every wait would end at once. It bounds itself.
 */
export const inDaemonFiber = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.flatMap(Effect.forkDaemon(Effect.interruptible(effect)), Fiber.await)

/**
 * Runs to its end once it has `begun`, even when the caller is interrupted, who then waits for it: for writes that may have to be
 * taken back. Until then an interruption ends it. Where one lies within another, the outer one must have begun: it would end
 * while the inner one goes on.
 */
export const completeOnceStarted = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  begun: () => boolean = () => true
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDaemon(Effect.interruptible(effect)), (fiber) =>
      Effect.onInterrupt(restore(Effect.flatten(Fiber.await(fiber))), () => {
        // In one step: between a look and an interruption the work may begin.
        if (!begun()) fiber.unsafeInterruptAsFork(FiberId.none)
        return Fiber.await(fiber)
      })
    )
  )
