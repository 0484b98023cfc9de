import { Context, Effect, type Scope, Stream } from "effect"
import { HostError } from "../reply/HostError.js"

const tooBusy = new HostError({
  status: 503,
  message: "The server runs as many Git programs as it may, and enough wait already. Try again in a moment.",
  headers: { "retry-after": "1" }
})

/** A place at a time for as many as there are; who finds none waits, and when too many wait, is sent away. */
export interface Slots {
  /** Waits for a place and keeps it until the scope closes. */
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
 * How many Git programs run at once. Transfers last as long as their client likes, so they have places of their own.
 * What asks for history may wait for a flush first; apart from it, short programs wait for nothing and nobody, and may
 * be run in the writers' turn.
 */
export class GitProcessSlots extends Context.Reference<GitProcessSlots>()("chainstore/http/host/Programs", {
  defaultValue: () => slotsFor({})
}) {}

export interface GitProcessLimits {
  /** Clones, fetches, pushes and archives at once, and half as many by callers without a token. Default 16. */
  readonly maxTransfers?: number | undefined
  /** How many more of each kind may wait for their place; the next one is answered 503. Default 256. */
  readonly maxWaiting?: number | undefined
}

const shortSlots = 8

/** The places of one kind of caller. */
export const slotsFor = ({ maxTransfers = 16, maxWaiting = 256 }: GitProcessLimits) => ({
  transfers: makeSlots(maxTransfers, maxWaiting),
  short: makeSlots(shortSlots, maxWaiting),
  histories: makeSlots(shortSlots, maxWaiting)
})

/** Places for callers with a token, and others for those without: nobody can take the places of whoever has a token. */
export const byCaller = ({ maxTransfers = 16, maxWaiting }: GitProcessLimits) => ({
  known: slotsFor({ maxTransfers, maxWaiting }),
  anonymous: slotsFor({ maxTransfers: Math.max(1, Math.floor(maxTransfers / 2)), maxWaiting })
})

/** Those of the whole process, for every host in it that has no bounds of its own. */
export const shared = byCaller({})

/** A place for a transfer, kept until the answer was sent. */
export const transferSlot = Effect.flatMap(GitProcessSlots, ({ transfers }) => transfers.acquire)

/** A place for a short program. */
export const shortSlot = Effect.flatMap(GitProcessSlots, ({ short }) => short.acquire)

const historySlot = Effect.flatMap(GitProcessSlots, (programs) => programs.histories.acquire)

/** Runs what asks Git for history, in its turn. */
export const withHistorySlot = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.zipRight(historySlot, effect))

/** The same for what streams it. */
export const streamWithHistorySlot = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Stream.unwrapScoped(Effect.as(historySlot, stream))
