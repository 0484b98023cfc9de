import { Effect, Exit } from "effect"
import { Chain, ChainBuilder, Logging, type UnhandledRequestError } from "../../chain/index.js"
import {
  type ChainExecutionRequest,
  type ExecutionResult,
  render
} from "../../domain/playground/ChainExecution.js"
import { matches } from "../../domain/playground/Condition.js"

/** The result of a step of a playground chain. */
export interface StepResult {
  readonly handledBy: string
  readonly response: string
}

/** Builds a chain for one execution. Its first step is the logging middleware, which passes entries to `write`. */
export type Composition<Req, U = UnhandledRequestError> = (
  write: (entry: Logging.LogEntry) => void
) => Chain.Chain<Req, StepResult, never, never, U>

/** A chain builder whose first step is the logging middleware. */
export const builderWithLogging = <Req>(name: string, write: (entry: Logging.LogEntry) => void) =>
  ChainBuilder.make<Req, StepResult>(name).useLogging({ level: "Information", write })

/** The chain that a request describes: its handlers in order, and its optional fallback. */
export const adHoc =
  (description: ChainExecutionRequest): Composition<number> =>
  (write) => {
    let builder: ChainBuilder<number, StepResult> = builderWithLogging<number>("ad-hoc", write)
    for (const { name, respond, when } of description.handlers) {
      builder = builder.useWhen(
        (request) => matches(when, request),
        (request) => ({ handledBy: name, response: render(respond, request) }),
        { name }
      )
    }
    const fallback = description.fallback
    return fallback === undefined || fallback === null
      ? builder.build()
      : builder
          .withFallback((request) => ({ handledBy: "fallback", response: render(fallback, request) }))
          .build()
  }

const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000

/**
 * Builds and executes a chain. If it fails, the last entry of the logging middleware is written to the service's log.
 */
export const run = <Req, U>(
  composition: Composition<Req, U>,
  request: Req
): Effect.Effect<ExecutionResult, U> =>
  Effect.suspend(() => {
    const entries: Array<Logging.LogEntry> = []
    const chain = composition((entry) => entries.push(entry))
    const started = performance.now()
    const exit = Chain.executeExit(chain, request)
    const elapsedMilliseconds = rounded(performance.now() - started)
    if (Exit.isSuccess(exit)) {
      return Effect.succeed({
        response: exit.value.response,
        handledBy: exit.value.handledBy,
        elapsedMilliseconds,
        log: entries.map(Logging.format)
      })
    }
    const last = entries.at(-1)
    return Effect.zipRight(
      last === undefined ? Effect.void : Effect.logError(Logging.format(last)),
      Effect.failCause(exit.cause)
    )
  })

/** Builds and executes the chain that a request describes. */
export const executeAdHoc = (
  description: ChainExecutionRequest
): Effect.Effect<ExecutionResult, UnhandledRequestError> => run(adHoc(description), description.request)
