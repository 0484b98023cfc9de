/** The peer of bench/http.ts: Fastify 5 with JSON schema, doing the work that the service does for a request. */
import { STATUS_CODES } from "node:http"
import Fastify from "fastify"
import pino from "pino"

interface Handler {
  readonly name: string
  readonly when: { readonly equals?: number; readonly lessThan?: number; readonly greaterThan?: number }
  readonly respond: string
}

interface Execution {
  readonly request: number
  readonly handlers: ReadonlyArray<Handler>
  readonly fallback?: string | null
}

const number = { type: "number" } as const

const executionSchema = {
  type: "object",
  required: ["request", "handlers"],
  properties: {
    request: number,
    handlers: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["name", "when", "respond"],
        properties: {
          name: { type: "string" },
          respond: { type: "string" },
          when: {
            type: "object",
            minProperties: 1,
            maxProperties: 1,
            additionalProperties: false,
            properties: { equals: number, lessThan: number, greaterThan: number }
          }
        }
      }
    },
    fallback: { type: ["string", "null"] }
  }
} as const

const resultSchema = {
  type: "object",
  properties: {
    response: { type: "string" },
    handledBy: { type: "string" },
    elapsedMilliseconds: number,
    log: { type: "array", items: { type: "string" } }
  }
} as const

const text = { type: "string" } as const
const languagesSchema = {
  type: "object",
  properties: {
    languages: {
      type: "array",
      items: {
        type: "object",
        properties: { language: text, package: text, install: text, documentation: text }
      }
    }
  }
} as const

const languages = ["C#", "Java", "Python", "Node", "TypeScript (Effect)"].map((language) => ({
  language,
  package: `io.github.charles2ke:messageflow-${language}`,
  install: `mvn dependency:get -Dartifact=io.github.charles2ke:messageflow-${language}:1.0.0`,
  documentation: "https://github.com/charles2ke/Message-Flow/blob/main/java/README.md"
}))

const accepts = ({ equals, greaterThan, lessThan }: Handler["when"], request: number) => {
  if (equals !== undefined) return request === equals
  if (lessThan !== undefined) return request < lessThan
  return greaterThan !== undefined && request > greaterThan
}

const fill = (template: string, request: number) =>
  template.includes("{request}") ? template.split("{request}").join(String(request)) : template

const execute = ({ fallback, handlers, request }: Execution) => {
  const log = ["Information: Executing chain ad-hoc."]
  const started = performance.now()
  const handler = handlers.find(({ when }) => accepts(when, request))
  const template = handler?.respond ?? fallback
  if (template === undefined || template === null) return undefined
  const response = fill(template, request)
  const elapsed = performance.now() - started
  log.push(`Information: Executed chain ad-hoc in ${elapsed.toFixed(3)} ms.`)
  return {
    response,
    handledBy: handler?.name ?? "fallback",
    elapsedMilliseconds: Math.round(elapsed * 1000) / 1000,
    log
  }
}

const counts = new Map<string, number>()
const buckets = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]
const histogram = new Map<string, { readonly counts: Array<number>; sum: number; count: number }>()

const record = (method: string, route: string, status: number, milliseconds: number) => {
  const key = `${method} ${route} ${status}`
  counts.set(key, (counts.get(key) ?? 0) + 1)
  const name = `${method} ${route}`
  let seen = histogram.get(name)
  if (seen === undefined) {
    seen = { counts: buckets.map(() => 0), sum: 0, count: 0 }
    histogram.set(name, seen)
  }
  const at = buckets.findIndex((bound) => milliseconds <= bound)
  if (at !== -1) seen.counts[at]!++
  seen.sum += milliseconds
  seen.count++
}

const logger = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime },
  pino.destination({ dest: 1, sync: false, minLength: 8192 })
)

const app = Fastify({
  loggerInstance: logger,
  disableRequestLogging: true,
  bodyLimit: 1024 * 1024,
  requestTimeout: 30_000,
  connectionTimeout: 300_000,
  requestIdHeader: "x-request-id",
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true } }
})

app.addHook("onRequest", (request, reply, done) => {
  const host = request.headers.host ?? ""
  if (!/^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(host)) {
    reply.code(421).send({ error: "MisdirectedRequest", message: STATUS_CODES[421] })
    return
  }
  reply.headers({
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-request-id": request.id
  })
  done()
})

app.addHook("onResponse", (request, reply, done) => {
  const route = request.routeOptions.url ?? "unmatched"
  record(request.method, route, reply.statusCode, reply.elapsedTime)
  request.log.info(
    {
      requestId: request.id,
      method: request.method,
      path: request.url,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      bytes: Number(reply.getHeader("content-length") ?? 0),
      remote: request.socket.remoteAddress
    },
    "request"
  )
  done()
})

app.get("/v1/languages", { schema: { response: { 200: languagesSchema } } }, (_request, reply) => {
  reply.send({ languages })
})

app.post<{ Body: Execution }>(
  "/v1/chains/execute",
  { schema: { body: executionSchema, response: { 200: resultSchema } } },
  (request, reply) => {
    const result = execute(request.body)
    if (result === undefined) {
      reply
        .code(422)
        .send({ error: "UnhandledRequestError", message: "No handler in the chain handled the request." })
    } else reply.send(result)
  }
)

await app.listen({ port: Number(process.env["PORT"] ?? 0), host: "127.0.0.1" })
process.on("SIGTERM", () => void app.close().then(() => process.exit(0)))
