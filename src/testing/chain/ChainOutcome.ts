import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import { Chain, UnhandledRequestError } from "../../chain/index.js"

/**
 * A law that does not hold for a chain.
 *
 * @since 0.1.0
 * @category errors
 */
export class LawViolation extends Data.TaggedError("LawViolation")<{
  readonly law: string
  readonly expected: unknown
  readonly actual: unknown
}> {
  override get message() {
    const { actual, expected, law } = this
    return `${law}: expected ${FastCheck.stringify(expected)}, got ${FastCheck.stringify(actual)}`
  }
}

/** The chain itself refused. What a step says of another chain that it executes is its failure, like any other. */
const refused = Exit.fail("unhandled" as const)

/** How an execution ended. */
export const executed = (
  chain: Chain.Chain<any, any, any, never, any>,
  request: unknown
): Effect.Effect<Exit.Exit<unknown, unknown>> =>
  Effect.map(Effect.exit(Chain.execute(chain, request)), (exit) =>
    Exit.isFailure(exit) &&
    exit.cause._tag === "Fail" &&
    exit.cause.error instanceof UnhandledRequestError &&
    exit.cause.error.chain === chain.name
      ? refused
      : exit
  )

/** Whether nobody in the chain itself accepted the request. */
export const isUnhandled = (exit: Exit.Exit<unknown, unknown>) => exit === refused

const shownError = (error: unknown) =>
  error instanceof Error ? [error.name, error.message, { ...error }] : error

/** Errors that each execution makes anew are equal when they show equally; where they were made does not count. */
const shown = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isSuccess(exit)
    ? exit.value
    : Cause.match(exit.cause, {
        onEmpty: "nothing" as unknown,
        onFail: (error) => ["failure", shownError(error)],
        onDie: (defect) => ["defect", shownError(defect)],
        onInterrupt: () => "interruption",
        onSequential: (left, right) => ["then", left, right],
        onParallel: (left, right) => ["and", left, right]
      })

/** Holds two values against each other. */
export const same = (law: string, expected: unknown, actual: unknown) =>
  Equal.equals(expected, actual) || FastCheck.stringify(expected) === FastCheck.stringify(actual)
    ? Effect.void
    : new LawViolation({ law, expected, actual })

/** Holds two executions against each other. */
export const sameOutcome = (
  law: string,
  expected: Exit.Exit<unknown, unknown>,
  actual: Exit.Exit<unknown, unknown>
) => same(law, shown(expected), shown(actual))
