import type { Ticket } from "../../domain/Ticket.js"

export const comparisons = ["equals", "lessThan", "greaterThan"] as const
export type Comparison = (typeof comparisons)[number]

/** A handler as it is being written: numbers are still text. */
export interface HandlerDraft {
  readonly key: number
  readonly name: string
  readonly comparison: Comparison
  readonly than: string
  readonly respond: string
}

/** What the page holds, and its address. */
export interface Draft {
  readonly mode: "own" | "triage"
  readonly request: string
  readonly handlers: ReadonlyArray<HandlerDraft>
  readonly fallback: string | null
  readonly ticket: {
    readonly id: string
    readonly kind: Ticket["kind"]
    readonly priority: "normal" | "urgent" | ""
  }
}

let keys = 0
export const nextKey = () => ++keys

/** The number that a text is; any other text, also one of a number that JSON has no word for, as it is. */
export const number = (text: string): number | string => {
  const trimmed = text.trim()
  const value = Number(trimmed)
  return trimmed === "" || !Number.isFinite(value) ? text : value
}

/** The body that the service takes; what is not a number stays text, and is refused. */
export const bodyOf = (draft: Draft): unknown =>
  draft.mode === "triage"
    ? {
        id: number(draft.ticket.id),
        kind: draft.ticket.kind,
        ...(draft.ticket.priority === "" ? {} : { priority: draft.ticket.priority })
      }
    : {
        request: number(draft.request),
        handlers: draft.handlers.map(({ comparison, name, respond, than }) => ({
          name,
          when: { [comparison]: number(than) },
          respond
        })),
        ...(draft.fallback === null ? {} : { fallback: draft.fallback })
      }

export const pathOf = (draft: Draft): string =>
  draft.mode === "triage" ? "/v1/chains/ticket-triage/execute" : "/v1/chains/execute"

interface Written {
  readonly request?: unknown
  readonly handlers?: unknown
  readonly fallback?: unknown
  readonly id?: unknown
  readonly kind?: unknown
  readonly priority?: unknown
}

const object = (value: unknown): Written => (typeof value === "object" && value !== null ? value : {})

const text = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : ""

const handlerOf = (value: unknown): HandlerDraft => {
  const handler = object(value) as {
    readonly name?: unknown
    readonly when?: unknown
    readonly respond?: unknown
  }
  const when = object(handler.when) as Readonly<Record<string, unknown>>
  const comparison = comparisons.find((one) => Object.hasOwn(when, one)) ?? "equals"
  return {
    key: nextKey(),
    name: text(handler.name),
    comparison,
    than: text(when[comparison]),
    respond: text(handler.respond)
  }
}

/** A draft from a body, as examples and addresses hold it. */
export const fromBody = (mode: Draft["mode"], value: unknown): Draft => {
  const body = object(value)
  const kind = body.kind === "passwordReset" || body.kind === "other" ? body.kind : "refund"
  return {
    mode,
    request: text(body.request),
    handlers: Array.isArray(body.handlers) ? body.handlers.map(handlerOf) : [],
    fallback: typeof body.fallback === "string" ? body.fallback : null,
    ticket: {
      id: mode === "triage" ? text(body.id) : "41",
      kind,
      priority: body.priority === "urgent" || body.priority === "normal" ? body.priority : ""
    }
  }
}

export const toHash = (draft: Draft): string =>
  `#${new URLSearchParams({ [draft.mode === "triage" ? "ticket" : "chain"]: JSON.stringify(bodyOf(draft)) })}`

/** The draft of an address; nothing where it holds none. */
export const fromHash = (hash: string): Draft | undefined => {
  const params = new URLSearchParams(hash.replace(/^#/, ""))
  for (const [name, mode] of [
    ["chain", "own"],
    ["ticket", "triage"]
  ] as const) {
    const written = params.get(name)
    if (written === null) continue
    try {
      return fromBody(mode, JSON.parse(written))
    } catch {
      return undefined
    }
  }
  return undefined
}
