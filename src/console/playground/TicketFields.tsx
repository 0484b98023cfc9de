import type { ChainDraft } from "./ChainDraft.js"

type Ticket = ChainDraft["ticket"]

/** The fields of a ticket for the triage chain. */
export const TicketFields = ({
  onChange,
  ticket
}: {
  readonly ticket: Ticket
  readonly onChange: (change: Partial<Ticket>) => void
}) => (
  <div class="ticket">
    <label class="field">
      <span>Ticket id</span>
      <input
        inputMode="numeric"
        value={ticket.id}
        onInput={(event) => onChange({ id: event.currentTarget.value })}
      />
    </label>
    <label class="field">
      <span>Kind</span>
      <select
        value={ticket.kind}
        onChange={(event) => onChange({ kind: event.currentTarget.value as typeof ticket.kind })}
      >
        <option value="refund">refund</option>
        <option value="passwordReset">passwordReset</option>
        <option value="other">other</option>
      </select>
    </label>
    <label class="field">
      <span>Priority</span>
      <select
        value={ticket.priority}
        onChange={(event) => onChange({ priority: event.currentTarget.value as typeof ticket.priority })}
      >
        <option value="">not given (normal)</option>
        <option value="normal">normal</option>
        <option value="urgent">urgent</option>
      </select>
    </label>
  </div>
)
