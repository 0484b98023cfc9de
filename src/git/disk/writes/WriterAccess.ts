import * as Effect from "effect/Effect"
import type { Condition } from "../files/Condition.js"
import { FairMutex } from "../files/FairMutex.js"

/** Makes a part of an uninterruptible effect interruptible. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export interface WriterAccessOptions<E> {
  readonly condition: Condition
  /** The error of writers that come now, such as after closing. */
  readonly refusal: () => E | undefined
  /** Called when a branch has no writer any more. */
  readonly left: (branch: string) => void
}

/**
 * Who may write in this process: one writer of each branch at a time, or one effect with exclusive access. Callers run in an
 * uninterruptible region, and only the waiting can be interrupted.
 */
export const make = <E>({ condition, left, refusal }: WriterAccessOptions<E>) => {
  const { notifyAll, waitUntil } = condition
  /** The mutexes of the branches, and the number of writers that hold or wait for each. */
  const branches = new Map<string, { readonly mutex: FairMutex; users: number }>()
  const exclusiveMutex = new FairMutex()
  /** False while an effect has exclusive access. */
  let gateOpen = true
  let writers = 0

  const enter = (branch: string): FairMutex => {
    const entry = branches.get(branch) ?? { mutex: new FairMutex(), users: 0 }
    branches.set(branch, entry)
    entry.users++
    writers++
    return entry.mutex
  }

  const leave = (branch: string): void => {
    const entry = branches.get(branch)!
    writers--
    if (--entry.users === 0) {
      branches.delete(branch)
      left(branch)
    }
    notifyAll()
  }

  const withBranch = <A, E2, R>(
    restore: Restore,
    branch: string,
    body: Effect.Effect<A, E2, R>
  ): Effect.Effect<A, E | E2, R> =>
    Effect.suspend(() => {
      const error = refusal()
      if (error !== undefined) return Effect.fail(error)
      if (!gateOpen)
        return Effect.zipRight(restore(waitUntil(() => gateOpen)), withBranch(restore, branch, body))
      return Effect.ensuring(
        enter(branch).run(restore, body),
        Effect.sync(() => leave(branch))
      )
    })

  return {
    /** The number of writers that hold or wait for the mutex of a branch. */
    writers: () => writers,
    hasWriter: (branch: string) => branches.has(branch),

    /** Runs `body` while it holds the mutex of a branch, after any exclusive access. */
    withBranch,

    /** Runs `effect` once no writer runs and `isIdle` holds. New writers wait until it has ended. */
    withExclusive: <A, E, R>(
      restore: Restore,
      isIdle: () => boolean,
      effect: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E, R> =>
      exclusiveMutex.run(
        restore,
        Effect.suspend(() => {
          gateOpen = false
          return Effect.ensuring(
            restore(
              Effect.zipRight(
                waitUntil(() => writers === 0 && isIdle()),
                effect
              )
            ),
            Effect.sync(() => {
              gateOpen = true
              notifyAll()
            })
          )
        })
      )
  } as const
}
