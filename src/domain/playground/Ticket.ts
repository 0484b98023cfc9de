import * as Schema from "effect/Schema"
import { Int32, oneOf } from "./WireSchema.js"

/** The kind of a support ticket. */
export const TicketKind = oneOf("refund", "passwordReset", "other")

/** The priority of a support ticket. */
export const TicketPriority = oneOf("normal", "urgent").annotations({
  description: "Default: normal",
  default: "normal"
})

/** A support ticket: the request of the triage chain. */
export const Ticket = Schema.Struct({
  id: Int32,
  kind: TicketKind,
  priority: Schema.optionalWith(TicketPriority, { exact: true })
}).annotations({
  identifier: "Ticket",
  message: () => "must be an object",
  parseOptions: { errors: "all" }
})

/** A support ticket: the request of the triage chain. */
export type Ticket = typeof Ticket.Type

/** Whether a ticket is urgent. The default priority is normal. */
export const isUrgent = (ticket: Ticket): boolean => ticket.priority === "urgent"
