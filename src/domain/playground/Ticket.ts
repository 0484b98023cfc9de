import * as Schema from "effect/Schema"
import { Int32, oneOf } from "./WireSchema.js"

/** What a support ticket asks for. */
export const TicketKind = oneOf("refund", "passwordReset", "other")

/** How soon a ticket wants an answer. */
export const TicketPriority = oneOf("normal", "urgent").annotations({
  description: "Default: normal",
  default: "normal"
})

/** A support ticket, as the triage chain takes it. */
export const Ticket = Schema.Struct({
  id: Int32,
  kind: TicketKind,
  priority: Schema.optionalWith(TicketPriority, { exact: true })
}).annotations({
  identifier: "Ticket",
  message: () => "must be an object",
  parseOptions: { errors: "all" }
})

/** A support ticket, as the triage chain takes it. */
export type Ticket = typeof Ticket.Type

/** Whether a ticket is urgent; one without a priority is normal. */
export const isUrgent = (ticket: Ticket): boolean => ticket.priority === "urgent"
