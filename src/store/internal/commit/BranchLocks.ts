import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A read-write lock for each branch, for the writes of one store and of its views of other branches. */
export interface BranchLocks {
  /** Runs together with other shared holders; waits while an exclusive holder runs or waits. */
  readonly shared: <A, E, R>(branch: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits up to two seconds for the shared holders, then runs alone. */
  readonly exclusive: <A, E, R>(branch: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** How long an exclusive holder waits for shared ones, so that a hanging write blocks nobody. */
const maxWait = Duration.seconds(2)

interface BranchState {
  running: number
  /** Opens when the exclusive holder is done. */
  exclusive: Effect.Latch | undefined
  /** Opens when no shared holder is running. */
  readonly idle: Effect.Latch
}

export const make = (): BranchLocks => {
  const branches = new Map<string, BranchState>()

  const stateOf = (branch: string): BranchState => {
    const existing = branches.get(branch)
    if (existing !== undefined) return existing
    const traffic: BranchState = { running: 0, exclusive: undefined, idle: Effect.unsafeMakeLatch(true) }
    branches.set(branch, traffic)
    return traffic
  }

  /** Waits for the exclusive holder and enters. There is no asynchronous step between the check and the entry. */
  const withEntry = <A, E, R>(
    branch: string,
    enter: (traffic: BranchState) => void,
    leave: (traffic: BranchState) => void,
    run: (traffic: BranchState) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        let traffic = stateOf(branch)
        while (traffic.exclusive !== undefined) {
          yield* restore(traffic.exclusive.await)
          traffic = stateOf(branch)
        }
        enter(traffic)
        return yield* Effect.ensuring(
          restore(run(traffic)),
          Effect.sync(() => {
            leave(traffic)
            if (traffic.running === 0 && traffic.exclusive === undefined) branches.delete(branch)
          })
        )
      })
    )

  return {
    shared: (branch, effect) =>
      withEntry(
        branch,
        (traffic) => {
          traffic.running++
          traffic.idle.unsafeClose()
        },
        (traffic) => {
          if (--traffic.running === 0) traffic.idle.unsafeOpen()
        },
        () => effect
      ),
    exclusive: (branch, effect) =>
      withEntry(
        branch,
        (traffic) => {
          traffic.exclusive = Effect.unsafeMakeLatch(false)
        },
        (traffic) => {
          traffic.exclusive?.unsafeOpen()
          traffic.exclusive = undefined
        },
        (traffic) => Effect.zipRight(Effect.timeoutOption(traffic.idle.await, maxWait), effect)
      )
  }
}
