import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"

/**
 * Runs an effect in a daemon fiber and waits for its exit. For work that must continue when the caller is interrupted,
 * and for work with a timeout inside an uninterruptible region, where the timeout could not end it. The effect must
 * limit its own duration.
 */
export const inDaemonFiber = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.flatMap(Effect.forkDaemon(Effect.interruptible(effect)), Fiber.await)

/**
 * Runs an effect that cannot be interrupted once `begun` returns true: an interrupted caller waits for its end. Before
 * that, an interruption ends the effect. For writes that may have to be reverted. If calls are nested, the outer effect
 * must have begun, otherwise an interruption would end it while the inner one continues.
 */
export const completeOnceStarted = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  begun: () => boolean = () => true
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDaemon(Effect.interruptible(effect)), (fiber) =>
      Effect.onInterrupt(restore(Effect.flatten(Fiber.await(fiber))), () => {
        // No yield between the check and the interruption: the work could begin in between.
        if (!begun()) fiber.unsafeInterruptAsFork(FiberId.none)
        return Fiber.await(fiber)
      })
    )
  )
