import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * Runs to its end even when the caller is interrupted, who then waits for it: for writes that may have to be taken
 * back. A fiber of its own, since time-outs inside must still be able to break off a request.
 */
export const toItsEnd = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptible(Effect.flatMap(Effect.forkDaemon(Effect.interruptible(effect)), Fiber.join))
