import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

/** A push that was refused because of one of its commits. */
export interface SplitPush {
  /** The largest number of its commits that are pushed together again. */
  readonly limit: number
}

interface Group {
  /** The push that it is a part of; undefined for new callers. */
  readonly split: SplitPush | undefined
  readonly started: Deferred.Deferred<void>
  /** The callers that wait or run. */
  members: number
  /** The callers that have joined. */
  joined: number
}

/**
 * Divides the callers of a refused push into groups that are pushed one after the other, each again divided if it is refused. New
 * callers wait until then, because each of them would delay the proof which commit is refused.
 */
export const make = () => {
  /** The first group runs, and the others wait. */
  const groups: Array<Group> = []
  /** A caller inside another one does not wait for it. */
  const isInside = FiberRef.unsafeMake(false)

  const join = (split: SplitPush | undefined): Effect.Effect<Group> =>
    Effect.map(Deferred.make<void>(), (started) => {
      const open = groups.findLast(
        (group, at) => group.split === split && (split === undefined ? at > 0 : group.joined < split.limit)
      )
      const group = open ?? { split, started, members: 0, joined: 0 }
      group.members++
      group.joined++
      if (open === undefined && groups.push(group) === 1) Deferred.unsafeDone(started, Effect.void)
      return group
    })

  const leave = (group: Group) =>
    Effect.sync(() => {
      if (--group.members > 0) return
      const at = groups.indexOf(group)
      groups.splice(at, 1)
      const [next] = groups
      if (at === 0 && next !== undefined) Deferred.unsafeDone(next.started, Effect.void)
    })

  /** Runs a call of a split push, or a new one. */
  const run = <A, E, R>(call: Effect.Effect<A, E, R>, split?: SplitPush): Effect.Effect<A, E, R> =>
    Effect.flatMap(FiberRef.get(isInside), (inside) => {
      const inner = Effect.locally(call, isInside, true)
      if (inside || (split === undefined && groups.length === 0)) return inner
      return Effect.acquireUseRelease(
        join(split),
        ({ started }) => Effect.zipRight(Deferred.await(started), inner),
        leave
      )
    })

  return { run } as const
}
