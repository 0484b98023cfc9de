import { Effect, Exit, Scope } from "effect"

interface Lease<A> {
  readonly value: A
  readonly scope: Scope.CloseableScope
  users: number
  /** Looks of the sweeper since it was used last. */
  unseen: number
  gone: boolean
}

/** Values that requests share and that are expensive to open: each is held while it is used, and for some time after. */
export interface Pool<A> {
  /** The value for as long as the caller's scope lasts; opened when it is not there. */
  readonly hold: <E, R>(
    key: string,
    open: Effect.Effect<A, E, R | Scope.Scope>
  ) => Effect.Effect<A, E, Exclude<R, Scope.Scope> | Scope.Scope>
  /** The value, if it is open now. */
  readonly peek: (key: string) => A | undefined
  /** Lets go of a value that is no longer what its key means, once nobody uses it. */
  readonly drop: (key: string) => Effect.Effect<void>
}

const between = "15 seconds"
const patience = 2

/** A pool that ends with the scope in which it is made. */
export const make = <A>(): Effect.Effect<Pool<A>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const leases = new Map<string, Lease<A>>()
    const close = (lease: Lease<A>) => Scope.close(lease.scope, Exit.void)

    const drop = (key: string) =>
      Effect.suspend(() => {
        const lease = leases.get(key)
        if (lease === undefined) return Effect.void
        leases.delete(key)
        lease.gone = true
        return lease.users === 0 ? close(lease) : Effect.void
      })

    const use = (lease: Lease<A>) =>
      Effect.flatMap(Effect.scope, (scope) => {
        lease.users++
        lease.unseen = 0
        // Added to the scope itself: this is done for each request, and the value needs nothing of its fiber.
        const leave = Effect.suspend(() => (--lease.users === 0 && lease.gone ? close(lease) : Effect.void))
        return Effect.as(Scope.addFinalizer(scope, leave), lease.value)
      })

    const sweep = Effect.suspend(() =>
      Effect.forEach(
        Array.from(leases).filter(([, lease]) => lease.users === 0 && ++lease.unseen >= patience),
        ([key]) => drop(key),
        { discard: true }
      )
    )
    yield* Effect.addFinalizer(() => Effect.forEach(Array.from(leases.values()), close, { discard: true }))
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(between), sweep)))

    const opened = <E, R>(key: string, open: Effect.Effect<A, E, R | Scope.Scope>) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const value = yield* Effect.onError(restore(Scope.extend(open, scope)), (cause) =>
            Scope.close(scope, Exit.failCause(cause))
          )
          const meanwhile = leases.get(key)
          if (meanwhile !== undefined) {
            yield* Scope.close(scope, Exit.void)
            return yield* use(meanwhile)
          }
          const lease = { value, scope, users: 0, unseen: 0, gone: false }
          leases.set(key, lease)
          return yield* use(lease)
        })
      )

    const hold = <E, R>(
      key: string,
      open: Effect.Effect<A, E, R | Scope.Scope>
    ): Effect.Effect<A, E, Exclude<R, Scope.Scope> | Scope.Scope> =>
      Effect.suspend(() => {
        const known = leases.get(key)
        return known === undefined ? opened(key, open) : Effect.uninterruptible(use(known))
      })

    return { drop, hold, peek: (key) => leases.get(key)?.value }
  })
