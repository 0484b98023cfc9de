import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Who goes first among the writes of one store to one branch. */
export interface BranchLocks {
  /** Runs beside others of its kind, and waits while something goes first on the branch. */
  readonly shared: <A, E, R>(branch: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Lets what has begun come to its end, and runs while everything else waits. */
  readonly exclusive: <A, E, R>(branch: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** How long what goes first waits for what has begun: a write that hangs holds nobody up. */
const maxWait = Duration.seconds(2)

interface BranchState {
  running: number
  /** Opens when what goes first has ended. */
  exclusive: Effect.Latch | undefined
  /** Opens when nothing is running. */
  readonly idle: Effect.Latch
}

/** For a store and its views of other branches. */
export const make = (): BranchLocks => {
  const branches = new Map<string, BranchState>()

  const stateOf = (branch: string): BranchState => {
    const known = branches.get(branch)
    if (known !== undefined) return known
    const traffic: BranchState = { running: 0, exclusive: undefined, idle: Effect.unsafeMakeLatch(true) }
    branches.set(branch, traffic)
    return traffic
  }

  /** Enters as soon as nothing goes first: what is looked at and what is done about it are one step. */
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
