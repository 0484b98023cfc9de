import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Broken, post, raw, request, running, type Wire } from "../server/RunningServer.js"

const execute = "/v1/chains/execute"
const triage = "/v1/chains/ticket-triage/execute"
const handler = (when: unknown) =>
  JSON.stringify({ request: 1, handlers: [{ name: "a", when, respond: "r" }] })

const invalid: ReadonlyArray<
  readonly [what: string, path: string, body: string, names: ReadonlyArray<string>]
> = [
  ["malformed JSON", execute, '{"request":', ["not valid JSON"]],
  ["nothing at all", execute, "", ["the body must be an object"]],
  ["null", triage, "null", ["the body must be an object"]],
  ["an array", triage, "[1]", ["the body must be an object"]],
  ["a string", execute, '"x"', ["the body must be an object"]],
  ["bytes that are not UTF-8", execute, "", ["not valid JSON"]],
  ["every field missing", execute, "{}", ["request is missing", "handlers is missing"]],
  ["every field of a ticket missing", triage, "{}", ["id is missing", "kind is missing"]],
  [
    "wrong types everywhere",
    execute,
    '{"request":"1","handlers":[{"name":1,"when":5,"respond":null}],"fallback":7}',
    [
      "request must be a number",
      "handlers[0].name must be a string",
      "handlers[0].when must be an object with exactly one of",
      "handlers[0].respond must be a string",
      "fallback must be a string or null"
    ]
  ],
  [
    "fields of a handler missing",
    execute,
    '{"request":1,"handlers":[{}]}',
    ["handlers[0].name is missing", "handlers[0].when is missing", "handlers[0].respond is missing"]
  ],
  [
    "a handler that is no object",
    execute,
    '{"request":1,"handlers":[7,null]}',
    ["handlers[0] must be an object", "handlers[1] must be an object"]
  ],
  ["empty handlers", execute, '{"request":1,"handlers":[]}', ["handlers must hold at least 1 handler"]],
  ["handlers that are no array", execute, '{"request":1,"handlers":{}}', ["handlers must be an array"]],
  [
    "a wrong enum",
    triage,
    '{"id":1,"kind":"Refund","priority":"high"}',
    ['kind must be one of "refund", "passwordReset", "other"', 'priority must be one of "normal", "urgent"']
  ],
  ["priority null", triage, '{"id":1,"kind":"refund","priority":null}', ["priority must be one of"]],
  ["an id above int32", triage, '{"id":2147483648,"kind":"refund"}', ["id must be an integer within int32"]],
  ["an id below int32", triage, '{"id":-2147483649,"kind":"refund"}', ["id must be an integer within int32"]],
  ["a broken id", triage, '{"id":1.5,"kind":"refund"}', ["id must be an integer within int32"]],
  ["an id as text", triage, '{"id":"1","kind":"refund"}', ["id must be an integer within int32"]],
  ["a condition with none", execute, handler({}), ["handlers[0].when must have exactly one of"]],
  [
    "a condition with two",
    execute,
    handler({ equals: 1, lessThan: 2 }),
    ["handlers[0].when must have exactly one of"]
  ],
  ["an unknown comparison", execute, handler({ atLeast: 1 }), ["handlers[0].when.atLeast is unexpected"]],
  [
    "a known and an unknown comparison",
    execute,
    handler({ equals: 1, atLeast: 1 }),
    ["handlers[0].when.atLeast"]
  ],
  ["a comparison with text", execute, handler({ equals: "1" }), ["handlers[0].when.equals must be a number"]],
  [
    "a comparison with null",
    execute,
    handler({ lessThan: null }),
    ["handlers[0].when.lessThan must be a number"]
  ],
  [
    "a request that overflows",
    execute,
    '{"request":1e999,"handlers":[{"name":"a","when":{"equals":1},"respond":"r"}]}',
    ["request must be a number that JSON can carry"]
  ],
  [
    "a comparison that overflows",
    execute,
    '{"request":1,"handlers":[{"name":"a","when":{"lessThan":-1e999},"respond":"r"}]}',
    ["handlers[0].when.lessThan must be a number that JSON can carry"]
  ],
  [
    "__proto__ instead of fields",
    execute,
    '{"__proto__":{"request":1,"handlers":[]}}',
    ["request is missing"]
  ],
  [
    "__proto__ as comparison",
    execute,
    '{"request":1,"handlers":[{"name":"a","when":{"__proto__":{"equals":1}},"respond":"r"}]}',
    ["handlers[0].when.__proto__ is unexpected"]
  ],
  [
    "100,000 levels of nesting",
    execute,
    "[".repeat(100_000) + "]".repeat(100_000),
    ["deeper than 900 levels"]
  ],
  [
    "deep nesting in a field",
    execute,
    `{"request":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)},"handlers":[]}`,
    ["deeper than 900 levels"]
  ]
]

const isError = (wire: Wire, status: number, error: string) => {
  assert.strictEqual(wire.status, status, wire.body)
  const body = JSON.parse(wire.body) as Record<string, unknown>
  assert.deepStrictEqual(Object.keys(body), ["error", "message"])
  assert.strictEqual(body["error"], error)
  assert.strictEqual(wire.headers["content-type"], "application/json")
  assert.isString(wire.headers["x-request-id"])
  return String(body["message"])
}

const isAlive = (connection: { send: (text: string) => void; answer: () => Effect.Effect<Wire, Broken> }) =>
  Effect.gen(function* () {
    connection.send(post(triage, '{"id":7.0,"kind":"refund","extra":{"ignored":true}}'))
    const next = yield* connection.answer()
    assert.strictEqual(next.status, 200, next.body)
    assert.strictEqual(JSON.parse(next.body).response, "refund issued for ticket 7")
  })

it.scopedLive("names every problem of a body, and the next request on the connection is unaffected", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const connection = yield* raw(port)
    for (const [what, path, body, names] of invalid) {
      if (what.startsWith("bytes")) {
        connection.send(request("POST", path, { "content-length": "4" }))
        connection.send(Uint8Array.of(0x22, 0xff, 0xfe, 0x22))
      } else connection.send(post(path, body))
      const message = isError(yield* connection.answer(), 400, "ValidationError")
      for (const name of names) assert.include(message, name, what)
      assert.isBelow(message.length, 1000, what)
      yield* isAlive(connection)
    }
  })
)

it.scopedLive("reports the first thousand of a hundred thousand problems, in bounded time", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const connection = yield* raw(port)
    connection.send(post(execute, `{"request":1,"handlers":[${"{},".repeat(33_333)}{}]}`))
    const message = isError(yield* connection.answer(), 400, "ValidationError")
    assert.include(message, "handlers[332].when is missing")
    assert.match(message, /; and more\.$/)
    yield* isAlive(connection)
  })
)

it.scopedLive("refuses wrong types, methods, paths and hosts with their own status", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const connection = yield* raw(port)
    const ask = (text: string, withBody = true) =>
      Effect.suspend(() => {
        connection.send(text)
        return connection.answer(withBody)
      })
    isError(
      yield* ask(post(execute, "x=1", { "content-type": "application/x-www-form-urlencoded" })),
      415,
      "UnsupportedMediaType"
    )
    isError(yield* ask(post(execute, "{}", { "content-type": "text/plain" })), 415, "UnsupportedMediaType")
    isError(yield* ask(post(execute, "{}", { "content-encoding": "gzip" })), 415, "UnsupportedMediaType")
    assert.strictEqual(
      (yield* ask(
        post(triage, '{"id":1,"kind":"other"}', { "content-type": "Application/JSON; charset=utf-8" })
      )).status,
      200
    )
    const bare = '{"id":1,"kind":"other"}'
    assert.strictEqual(
      (yield* ask(request("POST", triage, { "content-length": String(bare.length) }) + bare)).status,
      200
    )

    for (const [method, path, allow] of [
      ["GET", execute, "POST, OPTIONS"],
      ["DELETE", triage, "POST, OPTIONS"],
      ["PUT", "/v1/languages", "GET, HEAD, OPTIONS"],
      ["POST", "/v1/chains/ticket-triage", "GET, HEAD, OPTIONS"],
      ["PATCH", "/v1/openapi.json", "GET, HEAD, OPTIONS"],
      ["POST", "/healthz", "GET, HEAD, OPTIONS"]
    ] as const) {
      const wire = yield* ask(request(method, path))
      isError(wire, 405, "MethodNotAllowed")
      assert.strictEqual(wire.headers["allow"], allow)
      const options = yield* ask(request("OPTIONS", path))
      assert.strictEqual(options.status, 204)
      assert.strictEqual(options.headers["allow"], allow)
    }
    for (const path of [
      "/",
      "/v1",
      "/v1/",
      "/v1/languages/",
      "/v1/chains",
      "/v1//languages",
      "/v1/%6Canguages",
      "/%",
      "/docs/x"
    ]) {
      isError(yield* ask(request("GET", path)), 404, "NotFound")
    }
    assert.strictEqual((yield* ask(request("GET", "/v1/languages?a=b"))).status, 200)
    assert.strictEqual((yield* ask(request("GET", "http://localhost/v1/languages"))).status, 200)
    const get = yield* ask(request("GET", "/v1/languages"))
    const head = yield* ask(request("HEAD", "/v1/languages"), false)
    assert.strictEqual(head.status, 200)
    assert.strictEqual(head.headers["content-length"], get.headers["content-length"])

    isError(yield* ask(request("GET", "/v1/languages", { host: "evil.example" })), 421, "MisdirectedRequest")
    isError(yield* ask(request("GET", "http://evil.example/v1/languages")), 421, "MisdirectedRequest")
    isError(yield* ask("GET /healthz HTTP/1.1\r\n\r\n"), 421, "MisdirectedRequest")
    for (const host of ["127.0.0.1:9", "[::1]:80", "LOCALHOST", "app.localhost:3000"]) {
      assert.strictEqual((yield* ask(request("GET", "/healthz", { host }))).status, 200, host)
    }
    yield* isAlive(connection)
  })
)

it.scopedLive("keeps a request id that is safe to keep, and makes one otherwise", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const connection = yield* raw(port)
    connection.send(request("GET", "/healthz", { "x-request-id": "trace.1-A" }))
    assert.strictEqual((yield* connection.answer()).headers["x-request-id"], "trace.1-A")
    for (const hostile of ['a"b', "x".repeat(65), "a b", ""]) {
      connection.send(request("GET", "/healthz", { "x-request-id": hostile }))
      assert.match((yield* connection.answer()).headers["x-request-id"]!, /^[a-z0-9]{6}-[a-z0-9]+$/)
    }
  })
)
