import type { Condition } from "../../domain/playground/Condition.js"
import type { Ticket } from "../../domain/playground/Ticket.js"
import { type HandlerWork, type WorkNumber, workNumbers, workProblems } from "./HandlerWork.js"

export const comparisons = ["equals", "lessThan", "greaterThan"] as const
export type Comparison = (typeof comparisons)[number]

/** A handler's work while it is edited. */
export type WorkDraft = Readonly<Record<WorkNumber, string>> & { readonly recover: string | null }

/** A step while it is edited: numbers are still text. A fragment has no condition, and a handler has no steps. */
export interface StepDraft {
  readonly key: number
  readonly kind: "handler" | "branch" | "fragment"
  readonly name: string
  readonly comparison: Comparison
  readonly than: string
  readonly respond: string
  readonly work: WorkDraft | null
  readonly steps: ReadonlyArray<StepDraft>
  readonly fallback: string | null
}

/** A request of the table and its expected result. */
export interface CaseDraft {
  readonly key: number
  readonly request: string
  readonly expected: string
}

/** The content of the page, which its address contains. */
export interface ChainDraft {
  readonly mode: "own" | "triage"
  readonly request: string
  readonly handlers: ReadonlyArray<StepDraft>
  readonly fallback: string | null
  readonly ticket: {
    readonly id: string
    readonly kind: Ticket["kind"]
    readonly priority: "normal" | "urgent" | ""
  }
  readonly cases: ReadonlyArray<CaseDraft>
}

/** A handler that the page can run. The service supports handlers without `work`. */
export interface HandlerBody {
  readonly name: string
  readonly when: Condition
  readonly respond: string
  readonly work?: HandlerWork
}

/** A branch, or a merged fragment if `when` is absent. Only the page can run these. */
export interface GroupBody {
  readonly name: string
  readonly when?: Condition
  readonly steps: ReadonlyArray<StepBody>
  readonly fallback?: string | null
}

export type StepBody = HandlerBody | GroupBody

/** A chain and its request. Without groups and work it is a body for the service. */
export interface ChainBody {
  readonly request: number
  readonly handlers: ReadonlyArray<StepBody>
  readonly fallback?: string | null
}

/** The maximum depth of nested groups. */
export const maxDepth = 8

let keys = 0
export const nextKey = () => ++keys

export const newStep = (kind: StepDraft["kind"], name: string): StepDraft => ({
  key: nextKey(),
  kind,
  name,
  comparison: kind === "branch" ? "greaterThan" : "equals",
  than: "0",
  respond: "{request}",
  work: null,
  steps: kind === "handler" ? [] : [newStep("handler", `${name}-1`)],
  fallback: null
})

/** Parses a number. Any other text is returned unchanged, also numbers that JSON cannot represent. */
export const parseNumber = (text: string): number | string => {
  const trimmed = text.trim()
  const value = Number(trimmed)
  return trimmed === "" || !Number.isFinite(value) ? text : value
}

const workOf = (work: WorkDraft): unknown => ({
  ...Object.fromEntries(
    workNumbers
      .filter(({ field }) => work[field] !== "")
      .map(({ field }) => [field, parseNumber(work[field])])
  ),
  ...(work.recover === null ? {} : { recover: work.recover })
})

const stepOf = ({ comparison, fallback, kind, name, respond, steps, than, work }: StepDraft): unknown => {
  const when = { [comparison]: parseNumber(than) }
  if (kind === "handler") {
    return { name, when, respond, ...(work === null ? {} : { work: workOf(work) }) }
  }
  return {
    name,
    ...(kind === "branch" ? { when } : {}),
    steps: steps.map(stepOf),
    ...(fallback === null ? {} : { fallback })
  }
}

/** The body for the service. Text that is not a number stays text, which the service rejects. */
export const toBody = (draft: ChainDraft): unknown =>
  draft.mode === "triage"
    ? {
        id: parseNumber(draft.ticket.id),
        kind: draft.ticket.kind,
        ...(draft.ticket.priority === "" ? {} : { priority: draft.ticket.priority })
      }
    : {
        request: parseNumber(draft.request),
        handlers: draft.handlers.map(stepOf),
        ...(draft.fallback === null ? {} : { fallback: draft.fallback })
      }

export const pathOf = (draft: ChainDraft): string =>
  draft.mode === "triage" ? "/v1/chains/ticket-triage/execute" : "/v1/chains/execute"

/** Whether the service supports every step: there are neither groups nor work. */
export const isSupportedByService = (draft: ChainDraft): boolean =>
  draft.mode === "triage" || draft.handlers.every(({ kind, work }) => kind === "handler" && work === null)

const isNumber = (text: string) => typeof parseNumber(text) === "number"

const isReadyStep =
  (depth: number) =>
  ({ kind, steps, than, work }: StepDraft): boolean =>
    (kind === "fragment" || isNumber(than)) &&
    (kind === "handler"
      ? work === null || workProblems(workOf(work)).length === 0
      : depth < maxDepth && steps.length > 0 && steps.every(isReadyStep(depth + 1)))

const isInt32 = (value: unknown) => typeof value === "number" && (value | 0) === value

/** Whether a draft can run. It cannot if a number is invalid or a list has no step. */
export const isRunnable = (draft: ChainDraft): boolean =>
  draft.mode === "triage"
    ? isInt32(parseNumber(draft.ticket.id))
    : isNumber(draft.request) && draft.handlers.length > 0 && draft.handlers.every(isReadyStep(1))

type Written = Readonly<Record<string, unknown>>

const object = (value: unknown): Written =>
  typeof value === "object" && value !== null ? (value as Written) : {}

const text = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : ""

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)

const workFrom = (value: unknown): WorkDraft => {
  const work = object(value)
  return {
    delayMilliseconds: text(work["delayMilliseconds"]),
    failures: text(work["failures"]),
    retries: text(work["retries"]),
    timeoutMilliseconds: text(work["timeoutMilliseconds"]),
    recover: textOrNull(work["recover"])
  }
}

/** Empty work of a handler. */
export const noWork: WorkDraft = workFrom({})

const stepFrom =
  (depth: number) =>
  (value: unknown): StepDraft => {
    const step = object(value)
    const when = object(step["when"])
    const comparison = comparisons.find((one) => Object.hasOwn(when, one)) ?? "equals"
    const steps = step["steps"]
    const isGroup = Array.isArray(steps)
    return {
      key: nextKey(),
      kind: !isGroup ? "handler" : step["when"] === undefined ? "fragment" : "branch",
      name: text(step["name"]),
      comparison,
      than: text(when[comparison]),
      respond: text(step["respond"]),
      work: step["work"] === undefined ? null : workFrom(step["work"]),
      // One level more than the maximum, so that a chain that is too deep is rejected and not cut.
      steps: isGroup && depth <= maxDepth ? steps.map(stepFrom(depth + 1)) : [],
      fallback: isGroup ? textOrNull(step["fallback"]) : null
    }
  }

/** Makes a draft of a body from an example or an address. */
export const fromBody = (mode: ChainDraft["mode"], value: unknown, cases: unknown = []): ChainDraft => {
  const body = object(value)
  const { fallback, handlers, id, kind, priority, request } = body
  return {
    mode,
    request: text(request),
    handlers: Array.isArray(handlers) ? handlers.map(stepFrom(1)) : [],
    fallback: textOrNull(fallback),
    ticket: {
      id: mode === "triage" ? text(id) : "41",
      kind: kind === "passwordReset" || kind === "other" ? kind : "refund",
      priority: priority === "urgent" || priority === "normal" ? priority : ""
    },
    cases: (Array.isArray(cases) ? cases : []).map((one) => {
      const { expected, request } = object(one)
      return { key: nextKey(), request: text(request), expected: text(expected) }
    })
  }
}

/** The input for the engine; undefined if the draft is not ready. */
export const toRunnable = (draft: ChainDraft) => {
  if (!isRunnable(draft)) return undefined
  const body = toBody(draft)
  // `isReady` has checked everything that the types of a draft do not guarantee.
  return draft.mode === "triage"
    ? ({ mode: "triage", body: body as Ticket } as const)
    : ({ mode: "own", body: body as ChainBody } as const)
}
