import type { ChainDraft } from "./ChainDraft.js"

export interface Example {
  readonly name: string
  readonly mode: ChainDraft["mode"]
  readonly body: unknown
  /** The rows of the table of requests. */
  readonly cases?: unknown
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
    name: "No handler accepts (422)",
    mode: "own",
    body: {
      request: 5,
      handlers: [{ name: "negative", when: { lessThan: 0 }, respond: "{request} is negative" }]
    }
  },
  { name: "No handlers (400)", mode: "own", body: { request: 5, handlers: [] } },
  {
    name: "A branch and a fragment",
    mode: "own",
    body: {
      request: 42,
      handlers: [
        { name: "negative", when: { lessThan: 0 }, respond: "{request} is negative" },
        {
          name: "large",
          when: { greaterThan: 100 },
          steps: [
            { name: "million", when: { equals: 1_000_000 }, respond: "a million" },
            { name: "huge", when: { greaterThan: 1_000_000 }, respond: "{request} is huge" }
          ]
        },
        {
          name: "answers",
          steps: [
            { name: "zero", when: { equals: 0 }, respond: "nothing" },
            { name: "everything", when: { equals: 42 }, respond: "{request} is the answer" }
          ]
        }
      ],
      fallback: "{request} is a number"
    },
    cases: [
      { request: "-1", expected: "negative" },
      { request: "42", expected: "everything" },
      { request: "500", expected: "fallback" },
      { request: "1000000", expected: "a million" }
    ]
  },
  {
    name: "Fails twice, then succeeds",
    mode: "own",
    body: {
      request: 7,
      handlers: [
        {
          name: "flaky",
          when: { greaterThan: 0 },
          respond: "{request} was answered at last",
          work: { delayMilliseconds: 80, failures: 2, retries: 3 }
        }
      ]
    }
  },
  {
    name: "Too slow, recovered",
    mode: "own",
    body: {
      request: 7,
      handlers: [
        {
          name: "slow",
          when: { greaterThan: 0 },
          respond: "{request} in time",
          work: {
            delayMilliseconds: 500,
            timeoutMilliseconds: 100,
            recover: "{request} will be answered later"
          }
        }
      ]
    }
  },
  { name: "A refund", mode: "triage", body: { id: 41, kind: "refund" } },
  { name: "A password reset", mode: "triage", body: { id: 42, kind: "passwordReset", priority: "normal" } },
  { name: "Urgent, of another kind", mode: "triage", body: { id: 43, kind: "other", priority: "urgent" } },
  { name: "For the fallback", mode: "triage", body: { id: 44, kind: "other" } },
  { name: "No such id (400)", mode: "triage", body: { id: 1.5, kind: "other" } }
]

export const named = (name: string): Example => examples.find((example) => example.name === name)!
