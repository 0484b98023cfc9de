import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"

/** A push that was refused because of one of its commits. */
export interface SplitPush {
  /** The largest number of its commits that are pushed together again. */
  readonly limit: number
}

/** The commit was in a push that was split, or the edit was based on such a commit. It did not lose a race, and is built again. */
export class PushSplit extends Data.TaggedError("PushSplit")<{
  readonly push: SplitPush
  /** Whether the edit makes no commit that is pushed. */
  readonly isWithoutCommit: boolean
}> {}

/** The callers whose commits are pushed together again. */
interface Group {
  readonly push: SplitPush
  readonly started: Deferred.Deferred<void>
  /** The callers that wait or run. */
  members: number
  /** The callers with a commit that have joined. */
  joined: number
}

const splitOf = (exit: Exit.Exit<unknown, unknown>): PushSplit | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
  return error instanceof PushSplit ? error : undefined
}

/**
 * Divides the callers of a refused push into groups that are pushed one after the other, each again divided if it is refused. New
 * callers wait until there are no more groups, because each of them would delay the proof which commit is refused.
 */
export const make = () => {
  /** The first group runs, and the others wait. */
  const groups: Array<Group> = []
  const newDeferred = () => Deferred.unsafeMake<void>(FiberId.none)
  /** Done when there are no more groups. */
  let settled = newDeferred()
  /** A caller inside another one does not wait for it. */
  const isInside = FiberRef.unsafeMake(false)

  const join = ({ isWithoutCommit, push }: PushSplit, inside: boolean): Group => {
    if (inside) {
      // The groups may wait for the caller around this one, so it runs at once and they wait for it.
      const own = { push, started: newDeferred(), members: 1, joined: push.limit }
      groups.unshift(own)
      Deferred.unsafeDone(own.started, Effect.void)
      return own
    }
    const open = groups.findLast(
      (group) => group.push === push && (isWithoutCommit || group.joined < push.limit)
    )
    const group = open ?? { push, started: newDeferred(), members: 0, joined: 0 }
    group.members++
    if (!isWithoutCommit) group.joined++
    if (open === undefined && groups.push(group) === 1) Deferred.unsafeDone(group.started, Effect.void)
    return group
  }

  const leave = (group: Group): void => {
    if (--group.members > 0) return
    const at = groups.indexOf(group)
    groups.splice(at, 1)
    const [next] = groups
    if (next === undefined) {
      Deferred.unsafeDone(settled, Effect.void)
      settled = newDeferred()
    } else if (at === 0) Deferred.unsafeDone(next.started, Effect.void)
  }

  /** Runs a call. If its push is split, runs it again in a group of that push. */
  const run = <A, E, R>(call: Effect.Effect<A, E | PushSplit, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(FiberRef.get(isInside), (inside) => {
      const inner = Effect.locally(call, isInside, true)
      const isFree = inside || groups.length === 0
      return Effect.uninterruptibleMask((restore) => {
        const after = (start: Deferred.Deferred<void>) =>
          Effect.exit(restore(Effect.zipRight(Deferred.await(start), inner)))
        const proceed = (
          exit: Exit.Exit<A, E | PushSplit>,
          group: Group | undefined
        ): Effect.Effect<A, E, R> => {
          const split = splitOf(exit)
          // It joins before it leaves, so that new callers go on waiting.
          const next = split && join(split, inside)
          if (group !== undefined) leave(group)
          if (next === undefined) return exit as Exit.Exit<A, E>
          return Effect.flatMap(after(next.started), (again) => proceed(again, next))
        }
        return Effect.flatMap(isFree ? Effect.exit(restore(inner)) : after(settled), (exit) =>
          proceed(exit, undefined)
        )
      })
    })

  return { run } as const
}
