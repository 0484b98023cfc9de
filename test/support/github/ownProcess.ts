import { Effect } from "effect"
import { makeExclusively } from "../../../src/domain/Mutex.js"
import { WriteTurns } from "../../../src/store/remote/github/writes/WriteTurns.js"

/** A client that stands for a process of its own: it does not queue with the other clients of this one. */
export const ownProcess = <A, E, R>(client: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideServiceEffect(client, WriteTurns, Effect.sync(makeExclusively))
