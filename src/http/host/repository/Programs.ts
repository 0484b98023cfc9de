import { Context, Effect, type Scope, Stream } from "effect"
import { Problem } from "../reply/Problem.js"

const busy = new Problem({
  status: 503,
  message: "The server runs as many Git programs as it may, and enough wait already. Try again in a moment.",
  headers: { "retry-after": "1" }
})

/** A place at a time for as many as there are; who finds none waits, and when too many wait, is sent away. */
export interface Gate {
  /** Waits for a place and keeps it until the scope closes. */
  readonly enter: Effect.Effect<void, Problem, Scope.Scope>
}

export const gate = (places: number, mostWaiting: number): Gate => {
  const free = Effect.unsafeMakeSemaphore(places)
  let present = 0
  const gone = Effect.sync(() => {
    present--
  })
  return {
    enter: Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        if (present >= places + mostWaiting) return busy
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
export class Programs extends Context.Reference<Programs>()("chainstore/http/host/Programs", {
  defaultValue: () => limited({})
}) {}

export interface ProgramLimits {
  /** Clones, fetches, pushes and archives at once, and half as many by callers without a token. Default 16. */
  readonly maxTransfers?: number | undefined
  /** How many more of each kind may wait for their place; the next one is answered 503. Default 256. */
  readonly maxWaiting?: number | undefined
}

const places = 8

/** The places of one kind of caller. */
export const limited = ({ maxTransfers = 16, maxWaiting = 256 }: ProgramLimits) => ({
  transfers: gate(maxTransfers, maxWaiting),
  short: gate(places, maxWaiting),
  histories: gate(places, maxWaiting)
})

/** Places for callers with a token, and others for those without: nobody can take the places of whoever has a token. */
export const forCallers = ({ maxTransfers = 16, maxWaiting }: ProgramLimits) => ({
  known: limited({ maxTransfers, maxWaiting }),
  anonymous: limited({ maxTransfers: Math.max(1, Math.floor(maxTransfers / 2)), maxWaiting })
})

/** Those of the whole process, for every host in it that has no bounds of its own. */
export const shared = forCallers({})

/** A place for a transfer, kept until the answer was sent. */
export const transfer = Effect.flatMap(Programs, ({ transfers }) => transfers.enter)

/** A place for a short program. */
export const short = Effect.flatMap(Programs, ({ short }) => short.enter)

const histories = Effect.flatMap(Programs, (programs) => programs.histories.enter)

/** Runs what asks Git for history, in its turn. */
export const history = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.zipRight(histories, effect))

/** The same for what streams it. */
export const historyStream = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Stream.unwrapScoped(Effect.as(histories, stream))
