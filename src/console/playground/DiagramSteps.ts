import { type ChainDraft, type Comparison, parseNumber, type StepDraft, toBody } from "./ChainDraft.js"
import { type HandlerWork, workText } from "./HandlerWork.js"

/** A step of the diagram before the chain has run. */
export interface DiagramStep {
  readonly name: string
  readonly kind: "middleware" | "handler" | "branch" | "fragment" | "fallback"
  /** Its condition and its action: "request < 0". */
  readonly text: string
  /** Its condition for the current request: "3 < 0"; undefined without a condition. */
  readonly asked: string | undefined
  readonly steps: ReadonlyArray<DiagramStep>
}

const signs: Readonly<Record<Comparison, string>> = { equals: "=", lessThan: "<", greaterThan: ">" }

const logging: DiagramStep = {
  name: "logging",
  kind: "middleware",
  text: "runs before every step",
  asked: undefined,
  steps: []
}

const fallbackOf = (text: string | null, name: string): ReadonlyArray<DiagramStep> =>
  text === null
    ? []
    : [
        {
          name,
          kind: "fallback",
          text: "handles requests that no handler accepted",
          asked: undefined,
          steps: []
        }
      ]

/** The name of a group's fallback in the trace. */
export const fallbackName = (group: string): string => `${group} fallback`

const shown = (text: string) => String(parseNumber(text))

const stepOf =
  (request: string) =>
  (step: StepDraft, body: unknown): DiagramStep => {
    const { comparison, fallback, kind, name, than } = step
    const condition = `${signs[comparison]} ${shown(than)}`
    const inner = (body as { readonly steps?: ReadonlyArray<unknown> }).steps ?? []
    const work = workText((body as { readonly work?: HandlerWork }).work)
    return {
      name,
      kind,
      text:
        kind === "fragment"
          ? "its steps are tried in its place"
          : `request ${condition}${work === "" ? "" : `; ${work}`}`,
      asked: kind === "fragment" ? undefined : `${shown(request)} ${condition}`,
      steps: [
        ...step.steps.map((one, i) => stepOf(request)(one, inner[i])),
        ...fallbackOf(fallback, fallbackName(name))
      ]
    }
  }

const ticketStep = (
  name: string,
  asks: string,
  given: string,
  wanted: string,
  steps: ReadonlyArray<DiagramStep> = [],
  kind: DiagramStep["kind"] = "handler"
): DiagramStep => ({ name, kind, text: `${asks} = ${wanted}`, asked: `${given} = ${wanted}`, steps })

/** The steps of a draft, in the order in which the library tries them. */
export const diagramSteps = (draft: ChainDraft): ReadonlyArray<DiagramStep> => {
  if (draft.mode === "triage") {
    const { kind, priority } = draft.ticket
    const urgent = ["priority", priority === "" ? "normal" : priority, "urgent"] as const
    return [
      logging,
      ticketStep("refund", "kind", kind, "refund"),
      ticketStep("password-reset", "kind", kind, "passwordReset"),
      ticketStep("escalation", ...urgent, [ticketStep("human-agent", ...urgent)], "branch"),
      ...fallbackOf("", "fallback")
    ]
  }
  const { handlers } = toBody(draft) as { readonly handlers: ReadonlyArray<unknown> }
  return [
    logging,
    ...draft.handlers.map((step, i) => stepOf(draft.request)(step, handlers[i])),
    ...fallbackOf(draft.fallback, "fallback")
  ]
}
