import { Effect } from "effect"
import { makeKeyedMutex } from "../../../src/domain/concurrency/KeyedMutex.js"
import { CommitQueue } from "../../../src/store/remote/github/commits/CommitQueue.js"

/** A client that stands for a process of its own: it does not queue with the other clients of this one. */
export const ownProcess = <A, E, R>(client: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideServiceEffect(client, CommitQueue, Effect.sync(makeKeyedMutex))
