import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Runtime from "effect/Runtime"
import type { StoreCore } from "../commit/StoreCore.js"

/** The work branch for a fiber's operations on one branch of a store. */
interface JoinedTransaction {
  readonly target: StoreCore
  readonly inside: StoreCore
}

/** At most one entry for each branch of a store. Child fibers inherit the entries. */
const currentTransactions = FiberRef.unsafeMake<ReadonlyArray<JoinedTransaction>>([])

/** A store and its views of other branches share their branch locks. */
const isSame = (a: StoreCore, b: StoreCore): boolean =>
  a.branchLocks === b.branchLocks && a.branch === b.branch

/** The core for operations of the running fiber: that of its innermost transaction, or the given one. */
export const currentCore = (core: StoreCore): Effect.Effect<StoreCore> =>
  Effect.map(
    FiberRef.get(currentTransactions),
    (all) => all.find(({ target: of }) => isSame(of, core))?.inside ?? core
  )

/** Whether the running fiber has joined a transaction. */
export const isInTransaction: Effect.Effect<boolean> = Effect.map(
  FiberRef.get(currentTransactions),
  (all) => all.length > 0
)

/**
 * Runs an effect whose operations on the core's branch join a transaction, including those that had joined an outer
 * one.
 */
export const joinTransaction =
  (core: StoreCore, inside: StoreCore) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locallyWith(effect, currentTransactions, (all) => [
      { target: core, inside },
      ...all.map((one) => (isSame(one.inside, core) ? { target: one.target, inside } : one))
    ])

/** Lets other fibers join the same transactions. */
export interface CapturedTransactions {
  readonly effect: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly runtime: <R>(runtime: Runtime.Runtime<R>) => Runtime.Runtime<R>
}

/** The transactions that the running fiber has joined. */
export const captureTransactions: Effect.Effect<CapturedTransactions> = Effect.map(
  FiberRef.get(currentTransactions),
  (all) => ({
    effect: Effect.locally(currentTransactions, all),
    runtime: Runtime.setFiberRef(currentTransactions, all)
  })
)
