import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Runtime from "effect/Runtime"
import type { StoreCore } from "../commit/StoreCore.js"

/** The work branch on which a fiber's operations on a branch of a store run. */
interface Joined {
  readonly of: StoreCore
  readonly inside: StoreCore
}

/** One entry for a branch of a store. Child fibers inherit the entries of the fiber that starts them. */
const joined = FiberRef.unsafeMake<ReadonlyArray<Joined>>([])

/** A store and its views of other branches share their precedence. */
const isSame = (a: StoreCore, b: StoreCore): boolean => a.precedence === b.precedence && a.branch === b.branch

/** The core that an operation of the running fiber works on: its innermost transaction's, or the store's own. */
export const coreNow = (core: StoreCore): Effect.Effect<StoreCore> =>
  Effect.map(FiberRef.get(joined), (all) => all.find(({ of }) => isSame(of, core))?.inside ?? core)

/** Runs an effect whose operations on the core's branch, and those that had joined it, join a transaction. */
export const joining =
  (core: StoreCore, inside: StoreCore) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locallyWith(effect, joined, (all) => [
      { of: core, inside },
      ...all.map((one) => (isSame(one.inside, core) ? { of: one.of, inside } : one))
    ])

/** Lets what other fibers run join the same transactions. */
export interface JoinedFibers {
  readonly effect: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly runtime: <R>(runtime: Runtime.Runtime<R>) => Runtime.Runtime<R>
}

/** The transactions that the running fiber has joined. */
export const joinedNow: Effect.Effect<JoinedFibers> = Effect.map(FiberRef.get(joined), (all) => ({
  effect: Effect.locally(joined, all),
  runtime: Runtime.setFiberRef(joined, all)
}))
