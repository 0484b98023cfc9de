import { Effect, Exit } from "effect"
import { Chain, ChainBuilder, Logging, type UnhandledRequestError } from "../../chain/index.js"
import type { ExecutionResult } from "../../domain/ChainExecution.js"

/** What a step of a playground chain answers. */
export interface Answer {
  readonly handledBy: string
  readonly response: string
}

/** Builds a chain anew for one execution, with the logging middleware in front writing to `write`. */
export type Composition<Req, U = UnhandledRequestError> = (
  write: (entry: Logging.LogEntry) => void
) => Chain.Chain<Req, Answer, never, never, U>

/** A builder that begins with the logging middleware. */
export const logged = <Req>(name: string, write: (entry: Logging.LogEntry) => void) =>
  ChainBuilder.make<Req, Answer>(name).useLogging({ level: "Information", write })

const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000

/** Composes, executes, and reports; what the middleware says of a failure goes to the service's own log. */
export const run = <Req, U>(
  composition: Composition<Req, U>,
  request: Req
): Effect.Effect<ExecutionResult, U> =>
  Effect.suspend(() => {
    const log: Array<string> = []
    let last: Logging.LogEntry | undefined
    const chain = composition((entry) => {
      last = entry
      log.push(Logging.format(entry))
    })
    const started = performance.now()
    const exit = Chain.executeExit(chain, request)
    const elapsedMilliseconds = rounded(performance.now() - started)
    if (Exit.isSuccess(exit)) {
      return Effect.succeed({
        response: exit.value.response,
        handledBy: exit.value.handledBy,
        elapsedMilliseconds,
        log
      })
    }
    return Effect.zipRight(
      last === undefined ? Effect.void : Effect.logError(Logging.format(last)),
      Effect.failCause(exit.cause)
    )
  })
