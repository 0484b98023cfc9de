import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { Chain, ChainBuilder, Logging, UnhandledRequestError } from "../../chain/index.js"
import { ChainExecutionRequest, matches, render } from "../../domain/ChainExecution.js"
import { isUrgent, Ticket } from "../../domain/Ticket.js"

/** What became of one step of the chain, for the person who composed it. */
export interface StepReport {
  readonly name: string
  readonly kind: string
  readonly path: ReadonlyArray<string>
  readonly outcome: "matched" | "passed" | "skipped" | "failed" | "not reached"
}

/** What a run gives, in the service's own shape: a status and a body. */
export interface Ran {
  readonly status: number
  readonly body:
    | {
        readonly response: string
        readonly handledBy: string
        readonly elapsedMilliseconds: number
        readonly log: ReadonlyArray<string>
      }
    | { readonly error: string; readonly message: string }
  readonly steps: ReadonlyArray<StepReport>
}

type Write = (line: string) => void

/** A response and the name under which it is reported: a branch answers for the steps inside it. */
interface Answer {
  readonly handledBy: string
  readonly response: string
}

const logged = <Req>(name: string, write: Write): ChainBuilder<Req, Answer> =>
  ChainBuilder.make<Req, Answer>(name).useLogging({
    level: "Information",
    write: (entry) => write(Logging.format(entry))
  })

/** The chain that a person composed. */
export const adHoc = (description: ChainExecutionRequest, write: Write) => {
  let builder: ChainBuilder<number, Answer> = logged<number>("ad-hoc", write)
  for (const { name, respond, when } of description.handlers) {
    builder = builder.useWhen(
      (request) => matches(when, request),
      (request) => ({ handledBy: name, response: render(respond, request) }),
      { name }
    )
  }
  const { fallback } = description
  return typeof fallback === "string"
    ? builder
        .withFallback((request) => ({ handledBy: "fallback", response: render(fallback, request) }))
        .build()
    : builder.build()
}

/** The triage chain for support tickets, as the service has it. */
export const triage = (write: Write) =>
  logged<Ticket>("ticket-triage", write)
    .useWhen(
      (ticket) => ticket.kind === "refund",
      (ticket) => ({ handledBy: "refund", response: `refund issued for ticket ${ticket.id}` }),
      { name: "refund", description: "Issues the refund for tickets of kind refund" }
    )
    .useWhen(
      (ticket) => ticket.kind === "passwordReset",
      (ticket) => ({ handledBy: "password-reset", response: `reset link sent for ticket ${ticket.id}` }),
      { name: "password-reset", description: "Sends a reset link for tickets of kind passwordReset" }
    )
    .useBranch(
      isUrgent,
      (branch) =>
        branch.useWhen(
          isUrgent,
          (ticket) => ({
            handledBy: "escalation",
            response: `ticket ${ticket.id} escalated to a human agent`
          }),
          {
            name: "human-agent"
          }
        ),
      {
        name: "escalation",
        description: "Escalates urgent tickets of any other kind to a human agent"
      }
    )
    .withFallback(
      (ticket) => ({ handledBy: "fallback", response: `ticket ${ticket.id} queued for triage` }),
      {
        name: "fallback",
        description: "Queues every other ticket for triage"
      }
    )
    .build()

const refused = (error: ParseResult.ParseError): Ran => ({
  status: 400,
  body: {
    error: "ValidationError",
    message: `The request body is invalid: ${ParseResult.ArrayFormatter.formatErrorSync(error)
      .map(({ message, path }) => `${pathOf(path)} ${message}`)
      .join("; ")}.`
  },
  steps: []
})

const pathOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.length === 0
    ? "the body"
    : path
        .map((key, i) => (typeof key === "number" ? `[${key}]` : i === 0 ? String(key) : `.${String(key)}`))
        .join("")

const reached = (
  described: ReadonlyArray<{ readonly name: string; readonly kind: string }>,
  visited: ReadonlyArray<{
    readonly name: string
    readonly kind: string
    readonly path: ReadonlyArray<string>
    readonly outcome: string
  }>
): ReadonlyArray<StepReport> => {
  const outer = visited.filter(({ path }) => path.length === 1)
  const inner = visited.filter(({ path }) => path.length > 1)
  let next = 0
  return [
    ...described.map(({ kind, name }): StepReport => {
      const visit = outer[next]
      if (visit?.name === name && visit.kind === kind) {
        next++
        return { name, kind, path: [name], outcome: visit.outcome as StepReport["outcome"] }
      }
      // Logging has no visit of its own: it hands on by its nature.
      return { name, kind, path: [name], outcome: kind === "middleware" ? "passed" : "not reached" }
    }),
    ...inner.map(({ kind, name, outcome, path }) => ({
      name,
      kind,
      path,
      outcome: outcome as StepReport["outcome"]
    }))
  ]
}

const run = <Req>(
  build: (write: Write) => Chain.Chain<Req, Answer, never, never, UnhandledRequestError | never>,
  request: Req
): Effect.Effect<Ran> =>
  Effect.suspend(() => {
    const log: Array<string> = []
    const chain = build((line) => log.push(line))
    return Effect.map(Chain.trace(chain, request), (trace): Ran => {
      const steps = reached(Chain.describe(chain).handlers, trace.steps)
      if (Exit.isFailure(trace.exit)) {
        const error = Cause.squash(trace.exit.cause)
        const message = error instanceof Error ? error.message : String(error)
        return error instanceof UnhandledRequestError
          ? { status: 422, body: { error: "UnhandledRequestError", message }, steps }
          : { status: 500, body: { error: "InternalError", message }, steps }
      }
      return {
        status: 200,
        body: {
          ...trace.exit.value,
          elapsedMilliseconds: Math.round(trace.elapsedMillis * 1000) / 1000,
          log
        },
        steps
      }
    })
  })

/** Checks and runs a composed chain in this page, answering as the service would. */
export const executeAdHoc = (body: unknown): Effect.Effect<Ran> =>
  Either.match(Schema.decodeUnknownEither(ChainExecutionRequest, { errors: "all" })(body), {
    onLeft: (error) => Effect.succeed(refused(error)),
    onRight: (description) => run((write) => adHoc(description, write), description.request)
  })

/** Checks and runs a ticket in this page, answering as the service would. */
export const executeTriage = (body: unknown): Effect.Effect<Ran> =>
  Either.match(Schema.decodeUnknownEither(Ticket, { errors: "all" })(body), {
    onLeft: (error) => Effect.succeed(refused(error)),
    onRight: (ticket) => run<Ticket>((write) => triage(write), ticket)
  })
