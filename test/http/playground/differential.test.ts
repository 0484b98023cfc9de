import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Playground, PlaygroundHandlers, PlaygroundStock } from "chainstore/http"
import { Effect, FastCheck as fc, Layer, Logger } from "effect"
import { own, running } from "../server/RunningServer.js"

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

const number = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
const text = fc.oneof(
  fc.constantFrom("a", "", "fallback", "{request}", "$& {request}{request}", 'é\u2028"\\'),
  fc.string()
)
const condition = fc.oneof(
  fc.record({ equals: number }),
  fc.record({ lessThan: number }),
  fc.record({ greaterThan: number }),
  fc.constantFrom<unknown>({}, null, [], { equals: "1" }, { equals: 1, lessThan: 2 }, { other: 1 })
)
const sound = fc.oneof(
  fc.record({ equals: number }),
  fc.record({ lessThan: number }),
  fc.record({ greaterThan: number })
)
const handler = (when: fc.Arbitrary<unknown>) => fc.record({ name: text, when, respond: text })
const fallback = fc.oneof(fc.constant(null), text)
const odd = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.string(),
  fc.constant([]),
  fc.constant({}),
  fc.boolean()
)
const ticket = {
  id: fc.oneof(fc.integer(), fc.constantFrom<unknown>(2 ** 31, -(2 ** 31), 1.5, "1", null)),
  kind: fc.constantFrom<unknown>("refund", "passwordReset", "other", "Refund", 1),
  priority: fc.constantFrom<unknown>("normal", "urgent", null, "high")
}
const json = fc.oneof(
  {
    arbitrary: fc.record(
      { request: number, handlers: fc.array(handler(sound), { minLength: 1, maxLength: 6 }), fallback },
      { requiredKeys: ["request", "handlers"] }
    ),
    weight: 6
  },
  {
    arbitrary: fc.record(
      {
        request: fc.oneof(number, odd),
        handlers: fc.oneof(fc.array(handler(condition), { maxLength: 4 }), odd),
        fallback: fc.oneof(fallback, odd)
      },
      { requiredKeys: [] }
    ),
    weight: 3
  },
  { arbitrary: fc.record(ticket, { requiredKeys: ["id", "kind"] }), weight: 5 },
  { arbitrary: fc.record(ticket, { requiredKeys: [] }), weight: 2 },
  { arbitrary: fc.jsonValue() as fc.Arbitrary<unknown>, weight: 1 }
)
const body = fc.oneof(
  { arbitrary: json.map((value) => JSON.stringify(value)), weight: 12 },
  {
    arbitrary: fc.constantFrom(
      "",
      "{",
      "nul",
      '{"request":1e999}',
      '{"id":1,"id":2,"kind":"other"}',
      "\uFEFF{}"
    ),
    weight: 1
  }
)
const path = fc.oneof(
  { arbitrary: fc.constantFrom("/v1/chains/execute", "/v1/chains/ticket-triage/execute"), weight: 10 },
  { arbitrary: fc.constantFrom("/v1/languages", "/v1/chains/ticket-triage", "/v1/languages?x=1"), weight: 3 },
  { arbitrary: fc.constantFrom("/", "/v1", "/v1/languages/", "/v1/chains", "/nope"), weight: 1 }
)
const method = fc.oneof(
  { arbitrary: fc.constant("POST"), weight: 12 },
  { arbitrary: fc.constantFrom("GET", "HEAD", "OPTIONS", "PUT", "DELETE"), weight: 4 }
)
const contentType = fc.oneof(
  { arbitrary: fc.constant("application/json"), weight: 12 },
  {
    arbitrary: fc.constantFrom(
      "",
      "application/json; charset=utf-8",
      "text/plain",
      "application/x-www-form-urlencoded"
    ),
    weight: 1
  }
)
const requests = fc.record({ method, path, body, contentType }).map(
  ({ body, contentType, method, path }): Sent => ({
    method,
    path,
    headers: { "x-request-id": "same", ...(contentType === "" ? {} : { "content-type": contentType }) },
    body: method === "POST" || method === "PUT" ? body : undefined
  })
)

const seen = async (base: string, sent: Sent) => {
  const response = await fetch(base + sent.path, {
    method: sent.method,
    headers: sent.headers,
    body: sent.body === undefined ? null : new TextEncoder().encode(sent.body)
  })
  const body = await response.text()
  const timeless = body
    .replace(/"elapsedMilliseconds":[\d.e+-]+/, '"elapsedMilliseconds":0')
    .replace(/in \d+\.\d{3} ms/, "in 0.000 ms")
    .replaceAll(new URL(base).host, "HOST")
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    allow: response.headers.get("allow"),
    body: timeless
  }
}

const stock = Effect.gen(function* () {
  const app = yield* PlaygroundStock.app(PlaygroundHandlers.originOf(undefined))
  yield* HttpServer.serveEffect(app)
  return yield* HttpServer.addressFormattedWith((address) =>
    Effect.succeed(address.replace("0.0.0.0", "127.0.0.1"))
  )
})

it.scopedLive(
  "the stock router and the listener respond equally to 1,200 requests",
  () =>
    Effect.gen(function* () {
      const lean = yield* running()
      const base = yield* stock
      const statuses = new Map<number, number>()
      const sample = fc.sample(requests, { numRuns: 1200, seed: 20261121 })
      for (let at = 0; at < sample.length; at += 20) {
        yield* Effect.promise(() =>
          Promise.all(
            sample.slice(at, at + 20).map(async (sent) => {
              const [left, right] = await Promise.all([seen(lean.url, sent), seen(base, sent)])
              assert.deepStrictEqual(left, right, JSON.stringify(sent))
              statuses.set(left.status, (statuses.get(left.status) ?? 0) + 1)
            })
          )
        )
      }
      for (const status of [200, 204, 400, 404, 405, 415, 422])
        assert.isAbove(statuses.get(status) ?? 0, 10, String(status))
      assert.strictEqual(statuses.get(500), undefined)
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          Playground.layer(own),
          NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }),
          Logger.remove(Logger.defaultLogger)
        )
      )
    ),
  240_000
)
