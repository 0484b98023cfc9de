import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { type Chain, ChainBuilder, Logging, Policy } from "../../chain/index.js"
import { matches } from "../../domain/playground/Comparison.js"
import { render } from "../../domain/playground/ResponseTemplate.js"
import type { Ticket } from "../../domain/playground/Ticket.js"
import type { ChainBody, HandlerBody, StepBody } from "./ChainDraft.js"
import { fallbackName } from "./DiagramSteps.js"
import type { HandlerWork } from "./HandlerWork.js"

/** A response and the name that is reported for it. For steps of a branch it is the name of the branch. */
export interface Answer {
  readonly handledBy: string
  readonly response: string
}

/** A handler failed because its work is set to fail. */
export class StepFailed extends Data.TaggedError("StepFailed")<{ readonly message: string }> {}

/** The events of a chain while it runs. */
export interface RunListener {
  readonly write: (line: string) => void
  /** A step begins another attempt of its work. */
  readonly tries: (handler: HandlerBody) => number
}

export type ComposedChain<Req> = Chain.Chain<Req, Answer, any, never, any>

type Builder = ChainBuilder<number, Answer, any, never, any>

const logged = <Req>(name: string, { write }: RunListener): ChainBuilder<Req, Answer> =>
  ChainBuilder.make<Req, Answer>(name).useLogging({
    level: "Information",
    write: (entry) => write(Logging.format(entry))
  })

/** The handler with the policies of its work: a time limit for each attempt, retries, and a response after failures. */
const working = (handler: HandlerBody, work: HandlerWork, listener: RunListener) => {
  const { delayMilliseconds = 0, failures = 0, recover, retries = 0, timeoutMilliseconds } = work
  const answer = (respond: string, request: number): Answer => ({
    handledBy: handler.name,
    response: render(respond, request)
  })
  const once = (request: number) =>
    Effect.suspend(() => {
      const tries = listener.tries(handler)
      const outcome =
        tries <= failures
          ? Effect.fail(new StepFailed({ message: `${handler.name} failed on try ${tries}.` }))
          : Effect.succeed(answer(handler.respond, request))
      return delayMilliseconds === 0 ? outcome : Effect.delay(outcome, delayMilliseconds)
    })
  const limited =
    timeoutMilliseconds === undefined ? once : Policy.timeout(once, `${timeoutMilliseconds} millis`)
  const retried = retries === 0 ? limited : Policy.retry(limited, Schedule.recurs(retries))
  return recover === undefined
    ? retried
    : (request: number) => Policy.recover(retried, () => answer(recover, request))(request)
}

const withStep =
  (listener: RunListener) =>
  (builder: Builder, step: StepBody): Builder => {
    const { name } = step
    if ("steps" in step) {
      const filled = (empty: Builder): Builder => {
        const whole = step.steps.reduce(withStep(listener), empty)
        const { fallback } = step
        return typeof fallback === "string"
          ? whole.withFallback(
              (request) => ({ handledBy: fallbackName(name), response: render(fallback, request) }),
              { name: fallbackName(name) }
            )
          : whole
      }
      const { when } = step
      return when === undefined
        ? builder.use(filled(ChainBuilder.make<number, Answer>(name)), { name })
        : builder.useBranch((request) => matches(when, request), filled, { name })
    }
    const { respond, when, work } = step
    const accepts = (request: number) => matches(when, request)
    return work === undefined
      ? builder.useWhen(accepts, (request) => ({ handledBy: name, response: render(respond, request) }), {
          name
        })
      : builder.useWhen(accepts, working(step, work, listener), { name })
  }

/** The chain of the user. */
export const composeChain = (
  { fallback, handlers }: ChainBody,
  listener: RunListener
): ComposedChain<number> => {
  const builder = handlers.reduce(withStep(listener), logged<number>("ad-hoc", listener) as Builder)
  return typeof fallback === "string"
    ? builder
        .withFallback((request) => ({ handledBy: "fallback", response: render(fallback, request) }))
        .build()
    : builder.build()
}

const answering =
  (handledBy: string, response: (ticket: Ticket) => string) =>
  (ticket: Ticket): Answer => ({ handledBy, response: response(ticket) })

const isUrgent = ({ priority }: Ticket) => priority === "urgent"

/** The triage chain for support tickets, the same as in the service. */
export const triageChain = (listener: RunListener): ComposedChain<Ticket> =>
  logged<Ticket>("ticket-triage", listener)
    .useWhen(
      ({ kind }) => kind === "refund",
      answering("refund", ({ id }) => `refund issued for ticket ${id}`),
      { name: "refund" }
    )
    .useWhen(
      ({ kind }) => kind === "passwordReset",
      answering("password-reset", ({ id }) => `reset link sent for ticket ${id}`),
      { name: "password-reset" }
    )
    .useBranch(
      isUrgent,
      (branch) =>
        branch.useWhen(
          isUrgent,
          answering("escalation", ({ id }) => `ticket ${id} escalated to a human agent`),
          { name: "human-agent" }
        ),
      { name: "escalation" }
    )
    .withFallback(answering("fallback", ({ id }) => `ticket ${id} queued for triage`))
    .build()
