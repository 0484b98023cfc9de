import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Who goes first among the writes of one store to one branch. */
export interface Precedence {
  /** Runs beside others of its kind, and waits while something goes first on the branch. */
  readonly beside: <A, E, R>(branch: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Lets what has begun come to its end, and runs while everything else waits. */
  readonly first: <A, E, R>(branch: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** How long what goes first waits for what has begun: a write that hangs holds nobody up. */
const patience = Duration.seconds(2)

interface Traffic {
  running: number
  /** Opens when what goes first has ended. */
  first: Effect.Latch | undefined
  /** Opens when nothing is running. */
  readonly quiet: Effect.Latch
}

/** For a store and its views of other branches. */
export const make = (): Precedence => {
  const branches = new Map<string, Traffic>()

  const trafficOf = (branch: string): Traffic => {
    const known = branches.get(branch)
    if (known !== undefined) return known
    const traffic: Traffic = { running: 0, first: undefined, quiet: Effect.unsafeMakeLatch(true) }
    branches.set(branch, traffic)
    return traffic
  }

  /** Enters as soon as nothing goes first: what is looked at and what is done about it are one step. */
  const entering = <A, E, R>(
    branch: string,
    enter: (traffic: Traffic) => void,
    leave: (traffic: Traffic) => void,
    run: (traffic: Traffic) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        let traffic = trafficOf(branch)
        while (traffic.first !== undefined) {
          yield* restore(traffic.first.await)
          traffic = trafficOf(branch)
        }
        enter(traffic)
        return yield* Effect.ensuring(
          restore(run(traffic)),
          Effect.sync(() => {
            leave(traffic)
            if (traffic.running === 0 && traffic.first === undefined) branches.delete(branch)
          })
        )
      })
    )

  return {
    beside: (branch, effect) =>
      entering(
        branch,
        (traffic) => {
          traffic.running++
          traffic.quiet.unsafeClose()
        },
        (traffic) => {
          if (--traffic.running === 0) traffic.quiet.unsafeOpen()
        },
        () => effect
      ),
    first: (branch, effect) =>
      entering(
        branch,
        (traffic) => {
          traffic.first = Effect.unsafeMakeLatch(false)
        },
        (traffic) => {
          traffic.first?.unsafeOpen()
          traffic.first = undefined
        },
        (traffic) => Effect.zipRight(Effect.timeoutOption(traffic.quiet.await, patience), effect)
      )
  }
}
