import { Deferred, Effect, FiberId, Scope } from "effect"
import type { DurationInput } from "../../../domain/time/DurationInput.js"

/** Counts the users of named resources, so that a resource can be removed when it is unused. */
export interface RepositoryUsage {
  /** Counts the caller as a user until its scope closes. Returns false if the resource is being removed. */
  readonly acquire: (name: string) => Effect.Effect<boolean, never, Scope.Scope>
  /**
   * Admits no new users, waits until there are none, and runs `effect`. Fails with `otherwise` if the wait times out.
   */
  readonly whenUnused: <A, E, R, E2>(
    name: string,
    effect: Effect.Effect<A, E, R>,
    options: { readonly within: DurationInput; readonly otherwise: E2 }
  ) => Effect.Effect<A, E | E2, R>
}

export const make: Effect.Effect<RepositoryUsage> = Effect.sync(() => {
  const present = new Map<string, number>()
  const closed = new Map<string, Deferred.Deferred<void>>()

  const leave = (name: string) =>
    Effect.suspend(() => {
      const left = (present.get(name) ?? 1) - 1
      if (left > 0) {
        present.set(name, left)
        return Effect.void
      }
      present.delete(name)
      const waiting = closed.get(name)
      return waiting === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(waiting, undefined))
    })

  const acquire = (name: string) =>
    Effect.flatMap(Effect.scope, (scope) => {
      if (closed.has(name)) return Effect.succeed(false)
      present.set(name, (present.get(name) ?? 0) + 1)
      return Effect.as(Scope.addFinalizer(scope, leave(name)), true)
    }).pipe(Effect.uninterruptible)

  const whenUnused: RepositoryUsage["whenUnused"] = (name, effect, { otherwise, within }) =>
    Effect.acquireUseRelease(
      Effect.suspend(() => {
        if (closed.has(name)) return Effect.fail(otherwise)
        const empty = Deferred.unsafeMake<void>(FiberId.none)
        closed.set(name, empty)
        return Effect.succeed(empty)
      }),
      (empty) =>
        Effect.zipRight(
          present.has(name)
            ? Effect.timeoutFail(Deferred.await(empty), { duration: within, onTimeout: () => otherwise })
            : Effect.void,
          effect
        ),
      () => Effect.sync(() => void closed.delete(name))
    )

  return { acquire, whenUnused }
})
