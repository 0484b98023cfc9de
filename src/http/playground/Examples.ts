import * as JSONSchema from "effect/JSONSchema"
import { HandlerDescription } from "../../domain/playground/ChainExecution.js"

/** A named example. */
interface Example {
  readonly summary: string
  readonly value: unknown
}

const log = (chain: string) => [
  `Information: Executing chain ${chain}.`,
  `Information: Executed chain ${chain} in 0.021 ms.`
]

const sign = [
  { name: "negative", when: { lessThan: 0 }, respond: "{request} is negative" },
  { name: "zero", when: { equals: 0 }, respond: "{request} is zero" },
  { name: "positive", when: { greaterThan: 0 }, respond: "{request} is positive" }
]

/** Example bodies of each operation that takes a body. */
export const requests: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  executeTicketTriage: {
    refund: { summary: "A refund", value: { id: 41, kind: "refund" } },
    passwordReset: {
      summary: "A password reset",
      value: { id: 42, kind: "passwordReset", priority: "normal" }
    },
    urgent: {
      summary: "An urgent ticket of another kind",
      value: { id: 43, kind: "other", priority: "urgent" }
    },
    unhandled: { summary: "A ticket for the fallback", value: { id: 44, kind: "other" } }
  },
  executeChain: {
    sign: { summary: "The sign of a number", value: { request: -7, handlers: sign, fallback: null } },
    unhandled: {
      summary: "Nobody accepts, no fallback: 422",
      value: { request: 5, handlers: [{ name: "negative", when: { lessThan: 0 }, respond: "negative" }] }
    }
  }
}

const answers: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  listLanguages: {
    "200": {
      languages: [
        {
          language: "Node",
          package: "@charles2ke/messageflow",
          install: "npm install @charles2ke/messageflow",
          documentation: "https://github.com/charles2ke/Message-Flow/blob/main/node/README.md"
        }
      ]
    }
  },
  describeTicketTriage: {
    "200": {
      name: "ticket-triage",
      count: 4,
      handlers: [{ name: "logging", kind: "middleware", description: "Logs start, duration and outcome." }]
    }
  },
  executeTicketTriage: {
    "200": {
      response: "refund issued for ticket 41",
      handledBy: "refund",
      elapsedMilliseconds: 0.021,
      log: log("ticket-triage")
    },
    "400": {
      error: "ValidationError",
      message: "The request body is invalid: id is missing; kind is missing."
    }
  },
  executeChain: {
    "200": {
      response: "-7 is negative",
      handledBy: "negative",
      elapsedMilliseconds: 0.021,
      log: log("ad-hoc")
    },
    "400": {
      error: "ValidationError",
      message: "The request body is invalid: handlers must hold at least 1 handler."
    },
    "422": { error: "UnhandledRequestError", message: "No handler in the chain handled the request." }
  }
}

type Json = Record<string, any>

const reasons: Readonly<Record<string, string>> = {
  "200": "Success",
  "400": "The body is invalid; the message names every problem",
  "408": "The body did not arrive in time",
  "413": "The body is larger than the limit",
  "415": "The body is not application/json",
  "422": "No handler accepted the request and no fallback is configured",
  "500": "A fault of the service; the message holds the request id",
  "503": "The service took too long or is stopping"
}

const withoutBody = new Set(["400", "408", "413", "415"])

const operation = (described: Json): Json => {
  const id = String(described["operationId"])
  const body = described["requestBody"]
  const responses: Json = {}
  for (const [status, response] of Object.entries(described["responses"] as Json)) {
    if (body === undefined && withoutBody.has(status)) continue
    const media = response.content?.["application/json"]
    const example = answers[id]?.[status]
    if (media !== undefined) {
      media.schema = withoutDecodeError(media.schema)
      if (example !== undefined) media.example = example
    }
    responses[status] = { ...response, description: reasons[status] ?? response.description }
  }
  const media = body?.content?.["application/json"]
  if (media !== undefined && requests[id] !== undefined) media.examples = requests[id]
  return { ...described, responses }
}

// The platform adds its own decode error to every 400. The server sends `ValidationError` instead.
const decodeError = "#/components/schemas/HttpApiDecodeError"

const withoutDecodeError = (schema: Json): Json => {
  if (!Array.isArray(schema["anyOf"])) return schema
  const rest = schema["anyOf"].filter((one: Json) => one["$ref"] !== decodeError)
  return rest.length === 1 ? rest[0] : { ...schema, anyOf: rest }
}

/** The schemas of handlers. They are added here because the list of handlers is a declared schema. */
const referred = (): Json => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  JSONSchema.fromAST(HandlerDescription.ast, { definitions, definitionPath: "#/components/schemas/" })
  return definitions
}

/** Adds examples to the generated description and corrects its errors. */
export const withExamples = (spec: Record<string, any>): Record<string, any> => {
  const { HttpApiDecodeError, Issue, PropertyKey, ...schemas } = spec["components"]?.schemas ?? {}
  const paths: Json = {}
  for (const [path, methods] of Object.entries(spec["paths"] as Json)) {
    paths[path] = Object.fromEntries(
      Object.entries(methods as Json).map(([method, one]) => [method, operation(one)])
    )
  }
  return { ...spec, paths, components: { ...spec["components"], schemas: { ...schemas, ...referred() } } }
}
