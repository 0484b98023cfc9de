import * as Effect from "effect/Effect"
import type { QueryAnswer } from "../../store/browse/Browse.js"
import { Problem } from "../components/Problem.js"
import type { RateBudget } from "./DataSource.js"
import { coreOf, describeBudget, isSpentAfter, maxUnconfirmed } from "./RateBudget.js"

/** The progress of a long read. */
export interface ReadProgress {
  /** The requests made so far; undefined if the remote does not count them. */
  readonly requests: number | undefined
}

/** The maximum number of steps: each step lists the collection again. */
const maxSteps = 5
const minStep = 10
/** The largest number of documents of one query. */
const maxStep = 500

const narrower = "Narrow the query, add an index for the field, or continue after the limit is reset."

const stopped = (budget: RateBudget, next: string): Problem =>
  new Problem({
    kind: "rateLimit",
    title: "Reading stopped: a tenth of the rate limit is reserved",
    message: `${describeBudget(budget)} What was read so far is kept.`,
    next
  })

/**
 * Fails before a read of many requests if less than the reserved share of the limit is left. If the limit is unknown, it
 * succeeds.
 */
export const reserveRate = (
  rate: Effect.Effect<ReadonlyArray<RateBudget>, Problem>,
  requests: number
): Effect.Effect<void, Problem> =>
  requests <= maxUnconfirmed
    ? Effect.void
    : rate.pipe(
        Effect.orElseSucceed(() => []),
        Effect.flatMap((budgets) => {
          const core = coreOf(budgets)
          return core !== undefined && isSpentAfter(core, 0)
            ? Effect.fail(stopped(core, "Continue after the limit is reset."))
            : Effect.void
        })
      )

/** Reads many documents in steps, so that documents already read are kept if the read is cancelled, fails or reaches the limit. */
export const readInSteps = (options: {
  readonly ask: (cursor: string | null, limit: number) => Effect.Effect<QueryAnswer, Problem>
  readonly rate: Effect.Effect<ReadonlyArray<RateBudget>, Problem>
  readonly cursor: string | null
  readonly limit: number
  /** Called with the answer of each step. */
  readonly onAnswer: (answer: QueryAnswer) => void
  readonly onProgress: (progress: ReadProgress) => void
}): Effect.Effect<void, Problem> =>
  Effect.gen(function* () {
    // If the limit is unknown, the read continues.
    const core = Effect.map(
      Effect.orElseSucceed(options.rate, () => []),
      coreOf
    )
    const first = yield* core
    const check = Effect.flatMap(core, (now) => {
      options.onProgress({
        requests: first === undefined || now === undefined ? undefined : first.remaining - now.remaining
      })
      return now !== undefined && isSpentAfter(now, 0) ? Effect.fail(stopped(now, narrower)) : Effect.void
    })
    const step = Math.min(maxStep, Math.max(minStep, Math.ceil(options.limit / maxSteps)))
    const steps = Effect.gen(function* () {
      let cursor = options.cursor
      let left = options.limit
      do {
        const answer = yield* options.ask(cursor, Math.min(step, left))
        yield* Effect.sync(() => options.onAnswer(answer))
        cursor = answer.cursor
        left -= answer.documents.length
        if (cursor !== null && left > 0) yield* check
      } while (cursor !== null && left > 0)
    })
    yield* check
    yield* Effect.raceFirst(steps, Effect.forever(Effect.delay(check, "1 second")))
  })
