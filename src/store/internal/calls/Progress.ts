import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"

/**
 * Runs work that holds a lock of the branch, and calls the caller's progress function in another fiber, without the
 * lock. So the function may write to the branch, and the work does not wait for it. A defect of the function ends the
 * work.
 */
export const reportingOutsideLock = <Progress, A, E>(
  tell: ((progress: Progress) => Effect.Effect<void>) | undefined,
  work: (told: ((progress: Progress) => Effect.Effect<void>) | undefined) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  tell === undefined
    ? work(undefined)
    : Effect.flatMap(Queue.unbounded<Option.Option<Progress>>(), (queue) => {
        const telling: Effect.Effect<void> = Effect.flatMap(
          Queue.take(queue),
          Option.match({
            onNone: () => Effect.void,
            onSome: (progress) => Effect.zipRight(tell(progress), telling)
          })
        )
        const working = Effect.zipLeft(
          work((progress) => Queue.offer(queue, Option.some(progress))),
          Queue.offer(queue, Option.none())
        )
        return Effect.zipLeft(working, telling, { concurrent: true })
      })
