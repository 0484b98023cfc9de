import { isUrgent, type Ticket } from "../../domain/playground/Ticket.js"
import { builderWithLogging, type Composition, type StepResult } from "./Composition.js"

const answer =
  (handledBy: string, response: (ticket: Ticket) => string) =>
  (ticket: Ticket): StepResult => ({
    handledBy,
    response: response(ticket)
  })

const refund = answer("refund", (ticket) => `refund issued for ticket ${ticket.id}`)
const reset = answer("password-reset", (ticket) => `reset link sent for ticket ${ticket.id}`)
const escalate = answer("escalation", (ticket) => `ticket ${ticket.id} escalated to a human agent`)
const queue = answer("fallback", (ticket) => `ticket ${ticket.id} queued for triage`)

/** Builds the triage chain for support tickets, `ticket-triage`. */
export const compose: Composition<Ticket, never> = (write) =>
  builderWithLogging<Ticket>("ticket-triage", write)
    .useWhen((ticket) => ticket.kind === "refund", refund, {
      name: "refund",
      description: "Issues the refund for tickets of kind refund"
    })
    .useWhen((ticket) => ticket.kind === "passwordReset", reset, {
      name: "password-reset",
      description: "Sends a reset link for tickets of kind passwordReset"
    })
    .useBranch(isUrgent, (branch) => branch.useWhen(isUrgent, escalate, { name: "human-agent" }), {
      name: "escalation",
      description: "Escalates urgent tickets of any other kind to a human agent"
    })
    .withFallback(queue, { name: "fallback", description: "Queues every other ticket for triage" })
    .build()
