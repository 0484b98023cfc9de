import * as Effect from "effect/Effect"
import type { QueryAnswer } from "../../store/browse/Browse.js"
import { Problem } from "../components/Problem.js"
import type { RateBudget } from "./DataSource.js"

/** The progress of a long read. */
export interface ReadProgress {
  /** The requests made so far; undefined if the remote does not count them. */
  readonly requests: number | undefined
}

/** A read stops when one tenth of the limit is left. */
const reservedShare = 10

/** The maximum number of steps: each step lists the collection again. */
const maxSteps = 5
const minStep = 10

const coreOf = (budgets: ReadonlyArray<RateBudget>): RateBudget | undefined =>
  budgets.find(({ resource }) => resource === "core")

/** Whether less than the reserved share of a limit is left. */
export const isSpent = ({ limit, remaining }: RateBudget): boolean => remaining < limit / reservedShare

const stopped = ({ limit, remaining }: RateBudget): Problem =>
  new Problem({
    kind: "rateLimit",
    title: "Reading stopped: a tenth of the rate limit is reserved",
    message: `${remaining.toLocaleString("en")} of ${limit.toLocaleString("en")} requests are left. The documents read so far are kept.`,
    next: "Narrow the query, add an index for the field, or continue after the limit is reset."
  })

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
