import type { Draft } from "./Draft.js"

export interface Example {
  readonly name: string
  readonly mode: Draft["mode"]
  readonly body: unknown
}

const sign = [
  { name: "negative", when: { lessThan: 0 }, respond: "{request} is negative" },
  { name: "zero", when: { equals: 0 }, respond: "{request} is zero" },
  { name: "positive", when: { greaterThan: 0 }, respond: "{request} is positive" }
]

export const examples: ReadonlyArray<Example> = [
  { name: "The sign of a number", mode: "own", body: { request: -7, handlers: sign } },
  {
    name: "Order counts",
    mode: "own",
    body: {
      request: 120,
      handlers: [
        { name: "large", when: { greaterThan: 100 }, respond: "{request} is large" },
        { name: "positive", when: { greaterThan: 0 }, respond: "{request} is positive" }
      ],
      fallback: "{request} is not positive"
    }
  },
  {
    name: "Nobody accepts (422)",
    mode: "own",
    body: {
      request: 5,
      handlers: [{ name: "negative", when: { lessThan: 0 }, respond: "{request} is negative" }]
    }
  },
  { name: "No handlers (400)", mode: "own", body: { request: 5, handlers: [] } },
  { name: "A refund", mode: "triage", body: { id: 41, kind: "refund" } },
  { name: "A password reset", mode: "triage", body: { id: 42, kind: "passwordReset", priority: "normal" } },
  { name: "Urgent, of another kind", mode: "triage", body: { id: 43, kind: "other", priority: "urgent" } },
  { name: "For the fallback", mode: "triage", body: { id: 44, kind: "other" } },
  { name: "No such id (400)", mode: "triage", body: { id: 1.5, kind: "other" } }
]
