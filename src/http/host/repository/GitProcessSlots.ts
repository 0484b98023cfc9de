import { Context, Effect, type Scope, Stream } from "effect"
import { HostError } from "../reply/HostError.js"

const tooBusy = new HostError({
  status: 503,
  message:
    "The server is running its maximum number of Git processes, and its queue is full. Try again later.",
  headers: { "retry-after": "1" }
})

/** A bounded number of slots with a bounded queue. If the queue is full, `acquire` fails. */
export interface Slots {
  /** Waits for a slot and holds it until the scope closes. */
  readonly acquire: Effect.Effect<void, HostError, Scope.Scope>
}

export const makeSlots = (places: number, mostWaiting: number): Slots => {
  const free = Effect.unsafeMakeSemaphore(places)
  let present = 0
  const gone = Effect.sync(() => {
    present--
  })
  return {
    acquire: Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        if (present >= places + mostWaiting) return tooBusy
        present++
        return Effect.zipRight(
          Effect.onError(restore(free.take(1)), () => gone),
          Effect.addFinalizer(() => Effect.zipRight(free.release(1), gone))
        )
      })
    )
  }
}

/**
 * The slots for Git processes. Transfers have slots of their own, because their clients determine how long they take.
 * History queries have slots of their own, because they may wait for a flush. Short processes wait for nothing else,
 * so they may run while a ref lock is held.
 */
export class GitProcessSlots extends Context.Reference<GitProcessSlots>()("chainstore/http/host/Programs", {
  defaultValue: () => shared.known
}) {}

export interface GitProcessLimits {
  /**
   * The number of concurrent clones, fetches, pushes and archives. Callers without a token have half as many.
   * Default: 16.
   */
  readonly maxTransfers?: number | undefined
  /** The length of each queue. Further requests get 503. Default: 256. */
  readonly maxWaiting?: number | undefined
}

const shortSlots = 8

/** The slots of one kind of caller. */
export const slotsFor = ({ maxTransfers = 16, maxWaiting = 256 }: GitProcessLimits) => ({
  transfers: makeSlots(maxTransfers, maxWaiting),
  short: makeSlots(shortSlots, maxWaiting),
  histories: makeSlots(shortSlots, maxWaiting)
})

/** Separate slots for callers with and without a token, so that anonymous callers cannot block the others. */
export const byCaller = ({ maxTransfers = 16, maxWaiting }: GitProcessLimits) => ({
  known: slotsFor({ maxTransfers, maxWaiting }),
  anonymous: slotsFor({ maxTransfers: Math.max(1, Math.floor(maxTransfers / 2)), maxWaiting })
})

/** The slots of the process, shared by all hosts without limits of their own. Those of known callers are the default. */
export const shared = byCaller({})

/** Acquires a slot for a transfer until the scope closes, which is after the reply is sent. */
export const transferSlot = Effect.flatMap(GitProcessSlots, ({ transfers }) => transfers.acquire)

/** Acquires a slot for a short process. */
export const shortSlot = Effect.flatMap(GitProcessSlots, ({ short }) => short.acquire)

const historySlot = Effect.flatMap(GitProcessSlots, (programs) => programs.histories.acquire)

/** Runs a history query in a slot. */
export const withHistorySlot = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.zipRight(historySlot, effect))

/** Runs a stream of history in a slot. */
export const streamWithHistorySlot = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Stream.unwrapScoped(Effect.as(historySlot, stream))
