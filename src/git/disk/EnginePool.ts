import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Scope from "effect/Scope"

/** Resources by key. The users of a key share one resource. It closes when it had no user for some time. A failure is not shared. */
export interface EnginePool<A, E> {
  /** Opens the resource of a key, or shares the open one, until the scope closes. */
  readonly get: (key: string) => Effect.Effect<A, E, Scope.Scope>
  /** Removes the resource of a key. It closes when its last user leaves. */
  readonly invalidate: (key: string) => Effect.Effect<void>
}

interface Entry<A, E> {
  readonly opening: Deferred.Deferred<A, E>
  readonly scope: Scope.CloseableScope
  readonly leave: Effect.Effect<void>
  /** The open resource. */
  opened: { readonly value: A } | undefined
  users: number
  /** The time at which an unused resource closes, and the fiber that closes it. */
  expiresAt: number
  closing: Fiber.RuntimeFiber<void> | undefined
}

/**
 * A pool of the resources that `open` makes. Effect's `RcMap` does the same, but suspends the fiber of every user, also if the
 * resource is open: this took more than a quarter of the processor time of the host's requests.
 */
export const make = <A, E>(
  open: (key: string) => Effect.Effect<A, E, Scope.Scope>,
  idle: Duration.Duration
): Effect.Effect<EnginePool<A, E>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const entries = new Map<string, Entry<A, E>>()
    const idleMillis = Duration.toMillis(idle)

    const close = (key: string, entry: Entry<A, E>) =>
      Effect.suspend(() => {
        if (entries.get(key) === entry) entries.delete(key)
        return Scope.close(entry.scope, Exit.void)
      })

    const closeWhenExpired = (key: string, entry: Entry<A, E>): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const left = entry.expiresAt - now
        if (left > 0) return Effect.zipRight(Effect.sleep(left), closeWhenExpired(key, entry))
        entry.closing = undefined
        return entry.users > 0 ? Effect.void : Effect.uninterruptible(close(key, entry))
      })

    const leave = (key: string, entry: Entry<A, E>): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        entry.users--
        if (entry.users > 0) return Effect.void
        if (entries.get(key) !== entry || idleMillis === 0) return close(key, entry)
        entry.expiresAt = now + idleMillis
        if (entry.closing !== undefined || !Number.isFinite(idleMillis)) return Effect.void
        // Users leave in finalizers, from which a fiber would inherit that it cannot be interrupted.
        const closing = Effect.interruptible(closeWhenExpired(key, entry))
        return Effect.map(Effect.forkIn(closing, scope), (fiber) => {
          entry.closing = fiber
        })
      })

    /** Opens a resource in a fiber of its own, because its first user may be interrupted. */
    const start = (key: string): Effect.Effect<Entry<A, E>> =>
      Effect.flatMap(Scope.fork(scope, ExecutionStrategy.sequential), (own) => {
        const entry: Entry<A, E> = {
          opening: Deferred.unsafeMake(FiberId.none),
          scope: own,
          leave: Effect.suspend(() => leave(key, entry)),
          opened: undefined,
          users: 0,
          expiresAt: 0,
          closing: undefined
        }
        entries.set(key, entry)
        const opened = Effect.onExit(Scope.extend(open(key), own), (exit) =>
          Effect.sync(() => {
            if (Exit.isSuccess(exit)) entry.opened = { value: exit.value }
            else if (entries.get(key) === entry) entries.delete(key)
          })
        )
        return Effect.as(
          Effect.forkIn(Effect.interruptible(Effect.intoDeferred(opened, entry.opening)), own),
          entry
        )
      })

    const get = (key: string): Effect.Effect<A, E, Scope.Scope> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.scope, (user) => {
          const use = (entry: Entry<A, E>): Effect.Effect<A, E> => {
            entry.users++
            return Effect.zipRight(
              Scope.addFinalizer(user, entry.leave),
              entry.opened === undefined
                ? restore(Deferred.await(entry.opening))
                : Effect.succeed(entry.opened.value)
            )
          }
          const known = entries.get(key)
          return known === undefined ? Effect.flatMap(start(key), use) : use(known)
        })
      )

    const invalidate = (key: string) =>
      Effect.suspend(() => {
        const entry = entries.get(key)
        entries.delete(key)
        return entry === undefined || entry.users > 0 ? Effect.void : close(key, entry)
      })

    return { get, invalidate }
  })
