/**
 * A chain with logging, a condition, a branch and a fallback, run and described.
 *
 * Output:
 * { response: 'refund issued for ticket 41', handledBy: 'refund' }
 * UnhandledRequestError
 * ticket 43 escalated to a human agent
 * logging (middleware), refund (handler), escalation (branch), fallback (fallback)
 * Information: Executing chain ticket-triage.
 */
import { Chain, ChainBuilder, Logging } from "chainstore/chain"
import { Effect } from "effect"

interface Ticket {
  readonly id: number
  readonly kind: "refund" | "passwordReset" | "other"
  readonly priority: "normal" | "urgent"
}

const lines: Array<string> = []

const triage = ChainBuilder.make<Ticket, string>("ticket-triage")
  .useLogging({ level: "Information", write: (entry) => lines.push(Logging.format(entry)) })
  .useWhen(
    (ticket) => ticket.kind === "refund",
    (ticket) => `refund issued for ticket ${ticket.id}`,
    { name: "refund", description: "Refunds at once." }
  )
  .useBranch(
    (ticket) => ticket.priority === "urgent",
    (branch) => branch.use((ticket) => `ticket ${ticket.id} escalated to a human agent`, { name: "human" }),
    { name: "escalation", description: "Urgent tickets of any other kind." }
  )

// Without a fallback, the type says that a ticket may go unhandled.
const open: Effect.Effect<string, { readonly _tag: "UnhandledRequestError" }> = Chain.execute(
  triage.build(),
  {
    id: 7,
    kind: "other",
    priority: "normal"
  }
)

// With one, it cannot.
const chain = triage.withFallback((ticket) => `ticket ${ticket.id} queued for triage`).build()
const handled: Effect.Effect<Chain.Handled<string>> = Chain.executeNamed(chain, {
  id: 41,
  kind: "refund",
  priority: "normal"
})

console.log(Effect.runSync(handled))
console.log(Effect.runSync(Effect.flip(open))._tag)
console.log(Chain.executeSync(chain, { id: 43, kind: "other", priority: "urgent" }))
console.log(
  Chain.describe(chain)
    .handlers.map(({ kind, name }) => `${name} (${kind})`)
    .join(", ")
)
console.log(lines[0])
