import * as Effect from "effect/Effect"
import type { QueryAnswer } from "../../store/browse/Browse.js"
import { Problem } from "../components/Problem.js"
import type { RateBudget } from "./DataSource.js"

/** How far a long read is. */
export interface ReadProgress {
  /** The requests that it has taken; undefined where the remote does not count them. */
  readonly requests: number | undefined
}

/** The share of the limit that a read leaves to others. */
const reservedShare = 10

/** A read has at most so many steps: each lists the collection once more. */
const maxSteps = 5
const minStep = 10

const coreOf = (budgets: ReadonlyArray<RateBudget>): RateBudget | undefined =>
  budgets.find(({ resource }) => resource === "core")

/** Whether less than the part that is kept back is left of a limit. */
export const isSpent = ({ limit, remaining }: RateBudget): boolean => remaining < limit / reservedShare

const stopped = ({ limit, remaining }: RateBudget): Problem =>
  new Problem({
    kind: "rateLimit",
    title: "Reading stopped: a tenth of the rate limit is reserved",
    message: `${remaining.toLocaleString("en")} of ${limit.toLocaleString("en")} requests are left. The documents read so far are kept.`,
    next: "Narrow the query, add an index for the field, or continue after the limit is reset."
  })

/** Reads many documents in steps, so that those read stay if it is cancelled, fails, or has to stop for the rate limit. */
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
    // What is left cannot always be told: the read goes on then.
    const core = Effect.map(
      Effect.orElseSucceed(options.rate, () => []),
      coreOf
    )
    const first = yield* core
    const check = Effect.flatMap(core, (now) => {
      options.onProgress({
        requests: first === undefined || now === undefined ? undefined : first.remaining - now.remaining
      })
      return now !== undefined && isSpent(now) ? Effect.fail(stopped(now)) : Effect.void
    })
    const step = Math.max(minStep, Math.ceil(options.limit / maxSteps))
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
