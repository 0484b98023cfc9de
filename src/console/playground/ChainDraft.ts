import type { Condition } from "../../domain/playground/Condition.js"
import type { Ticket } from "../../domain/playground/Ticket.js"
import { type HandlerWork, type WorkNumber, workNumbers, workProblems } from "./HandlerWork.js"

export const comparisons = ["equals", "lessThan", "greaterThan"] as const
export type Comparison = (typeof comparisons)[number]

/** A handler's work as it is being written. */
export type WorkDraft = Readonly<Record<WorkNumber, string>> & { readonly recover: string | null }

/** A step as it is being written: numbers are still text. A fragment has no condition, a handler no steps. */
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

/** A request of the table, and what is expected of it. */
export interface CaseDraft {
  readonly key: number
  readonly request: string
  readonly expected: string
}

/** What the page holds, and its address. */
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

/** A handler of a chain that the page can run; the service knows those without `work`. */
export interface HandlerBody {
  readonly name: string
  readonly when: Condition
  readonly respond: string
  readonly work?: HandlerWork
}

/** A branch, or without `when` a merged fragment. The page alone runs these. */
export interface GroupBody {
  readonly name: string
  readonly when?: Condition
  readonly steps: ReadonlyArray<StepBody>
  readonly fallback?: string | null
}

export type StepBody = HandlerBody | GroupBody

/** A chain and its request; without groups and work it is what the service takes. */
export interface ChainBody {
  readonly request: number
  readonly handlers: ReadonlyArray<StepBody>
  readonly fallback?: string | null
}

/** Chains nest so deep at most. */
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

/** The number that a text is; any other text, also one of a number that JSON has no word for, as it is. */
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

/** The body that the service takes; what is not a number stays text, and is refused. */
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

/** Whether the service knows every step: it has neither groups nor work. */
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

/** Whether a draft can be run: all that can be wrong with it is a number that is none, or a list without a step. */
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

/** A handler's work of which nothing is written. */
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
      // One level more than may be run, so that what is too deep is refused and not cut.
      steps: isGroup && depth <= maxDepth ? steps.map(stepFrom(depth + 1)) : [],
      fallback: isGroup ? textOrNull(step["fallback"]) : null
    }
  }

/** A draft from a body, as examples and addresses hold it. */
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

/** What the engine runs; nothing where `isReady` does not hold. */
export const toRunnable = (draft: ChainDraft) => {
  if (!isRunnable(draft)) return undefined
  const body = toBody(draft)
  // What `isReady` has looked at is all that the types of a draft leave open.
  return draft.mode === "triage"
    ? ({ mode: "triage", body: body as Ticket } as const)
    : ({ mode: "own", body: body as ChainBody } as const)
}
