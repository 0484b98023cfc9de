import { FetchHttpClient } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { HttpError, PlaygroundClient, PlaygroundDocs } from "chainstore/http"
import { Effect, Either, Schema } from "effect"
import { requests } from "../../../src/http/playground/Examples.js"
import { raw, request, running } from "../server/RunningServer.js"

const client = (baseUrl: string) => Effect.provide(PlaygroundClient.make({ baseUrl }), FetchHttpClient.layer)

it.scopedLive("the typed client speaks to every operation and knows their errors", () =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const playground = yield* client(url)
    const { languages } = yield* playground.languages()
    assert.deepStrictEqual(
      languages.map((entry) => [entry.language, entry.package, entry.install]),
      [
        ["C#", "MessageFlow", "dotnet add package MessageFlow"],
        [
          "Java",
          "io.github.charles2ke:messageflow",
          "mvn dependency:get -Dartifact=io.github.charles2ke:messageflow:1.0.0"
        ],
        ["Python", "messageflow", "pip install messageflow"],
        ["Node", "@charles2ke/messageflow", "npm install @charles2ke/messageflow"],
        ["TypeScript (Effect)", "chainstore", "npm install chainstore"]
      ]
    )
    for (const { documentation } of languages) assert.strictEqual(new URL(documentation).href, documentation)
    assert.strictEqual(languages[4]!.documentation, `${url}/docs`)

    const triage = yield* playground.describeTicketTriage()
    assert.strictEqual(triage.name, "ticket-triage")
    assert.strictEqual(triage.count, 4)
    assert.deepStrictEqual(
      triage.handlers.map((step) => [step.name, step.kind]),
      [
        ["logging", "middleware"],
        ["refund", "handler"],
        ["password-reset", "handler"],
        ["escalation", "branch"],
        ["fallback", "fallback"]
      ]
    )
    for (const { description } of triage.handlers) assert.notStrictEqual(description, "")

    const result = yield* playground.executeTicketTriage({ payload: { id: 41, kind: "refund" } })
    assert.strictEqual(result.response, "refund issued for ticket 41")

    const refused = yield* Effect.flip(
      playground.executeChain({
        payload: { request: 5, handlers: [{ name: "a", when: { lessThan: 0 }, respond: "r" }] }
      })
    )
    assert.strictEqual(refused._tag, "UnhandledRequestError")
    assert.strictEqual(refused.message, "No handler in the chain handled the request.")
  })
)

it.scopedLive("a ticket takes the documented route, and the log has two lines", () =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const playground = yield* client(url)
    const kinds = ["refund", "passwordReset", "other"] as const
    const priorities = [undefined, "normal", "urgent"] as const
    for (const kind of kinds) {
      for (const priority of priorities) {
        for (const id of [0, -2147483648, 2147483647]) {
          const payload = priority === undefined ? { id, kind } : { id, kind, priority }
          const { elapsedMilliseconds, handledBy, log, response } = yield* playground.executeTicketTriage({
            payload
          })
          const expected =
            kind === "refund"
              ? ["refund", `refund issued for ticket ${id}`]
              : kind === "passwordReset"
                ? ["password-reset", `reset link sent for ticket ${id}`]
                : priority === "urgent"
                  ? ["escalation", `ticket ${id} escalated to a human agent`]
                  : ["fallback", `ticket ${id} queued for triage`]
          assert.deepStrictEqual([handledBy, response], expected)
          assert.isAtLeast(elapsedMilliseconds, 0)
          assert.strictEqual(elapsedMilliseconds, Math.round(elapsedMilliseconds * 1000) / 1000)
          assert.lengthOf(log, 2)
          assert.strictEqual(log[0], "Information: Executing chain ticket-triage.")
          assert.match(log[1]!, /^Information: Executed chain ticket-triage in \d+\.\d{3} ms\.$/)
        }
      }
    }
  })
)

it.scopedLive("renders numbers as JavaScript does, and every placeholder once", () =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const playground = yield* client(url)
    const run = (request: number, respond: string) =>
      playground.executeChain({
        payload: {
          request,
          handlers: [{ name: "fallback", when: { equals: 1 }, respond: "one" }],
          fallback: respond
        }
      })
    for (const [request, text] of [
      [1e21, "1e+21"],
      [1e-7, "1e-7"],
      [-0, "0"],
      [0.1 + 0.2, "0.30000000000000004"],
      [-7, "-7"]
    ] as const) {
      const { handledBy, log, response } = yield* run(request, "{request}$&{request}{{request}}")
      assert.strictEqual(response, `${text}$&${text}{${text}}`)
      assert.strictEqual(handledBy, "fallback")
      assert.strictEqual(log[0], "Information: Executing chain ad-hoc.")
    }
    assert.strictEqual((yield* run(2, "")).response, "")
    assert.strictEqual((yield* run(1, "unused")).response, "one")
  })
)

it.scopedLive("links go to the public address, else to the Host of the request", () =>
  Effect.gen(function* () {
    const link = (port: number, host: string) =>
      Effect.gen(function* () {
        const connection = yield* raw(port)
        connection.send(request("GET", "/v1/languages", { host }))
        return JSON.parse((yield* connection.answer()).body).languages[4].documentation as string
      })
    const local = yield* running()
    assert.strictEqual(yield* link(local.port, "app.localhost:8080"), "http://app.localhost:8080/docs")
    const open = yield* running({ publicUrl: "https://chains.example/base/" })
    assert.strictEqual(yield* link(open.port, "chains.example"), "https://chains.example/base/docs")
    assert.strictEqual(yield* link(open.port, "localhost"), "https://chains.example/base/docs")
  })
)

it.scopedLive("10,000 handlers respond, at any position of the accepting one", () =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const playground = yield* client(url)
    const handlers = Array.from({ length: 10_000 }, (_, at) => ({
      name: `h${at}`,
      when: { equals: at },
      respond: "{request}"
    }))
    for (const request of [0, 9_999]) {
      assert.strictEqual(
        (yield* playground.executeChain({ payload: { request, handlers } })).handledBy,
        `h${request}`
      )
    }
    const none = yield* Effect.either(playground.executeChain({ payload: { request: -1, handlers } }))
    assert.isTrue(Either.isLeft(none) && none.left._tag === "UnhandledRequestError")
  })
)

it.scopedLive("serves a description that says what is served, with examples that work", () =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const spec = yield* Effect.promise(
      async () => (await fetch(`${url}/v1/openapi.json`)).json() as Promise<any>
    )
    assert.deepStrictEqual(spec, JSON.parse(JSON.stringify(PlaygroundDocs.openApi)))
    assert.match(spec.openapi, /^3\.1\./)
    assert.strictEqual(spec.info.version, "1.0.0")
    assert.deepStrictEqual(Object.keys(spec.paths).sort(), [
      "/v1/chains/execute",
      "/v1/chains/ticket-triage",
      "/v1/chains/ticket-triage/execute",
      "/v1/languages"
    ])
    assert.notInclude(JSON.stringify(spec), "HttpApiDecodeError")
    const condition = spec.components.schemas.Condition
    assert.strictEqual(condition.minProperties, 1)
    assert.strictEqual(condition.maxProperties, 1)
    const execute = spec.paths["/v1/chains/execute"].post
    assert.deepStrictEqual(Object.keys(execute.responses).sort(), [
      "200",
      "400",
      "408",
      "413",
      "415",
      "422",
      "500",
      "503"
    ])
    for (const path of Object.keys(spec.paths)) {
      const post = spec.paths[path].post
      if (post === undefined) continue
      const examples = post.requestBody.content["application/json"].examples
      assert.deepStrictEqual(examples, JSON.parse(JSON.stringify(requests[post.operationId])))
      for (const [name, { value }] of Object.entries<any>(examples)) {
        const response = yield* Effect.promise(() =>
          fetch(url + path, {
            method: "POST",
            body: JSON.stringify(value),
            headers: { "content-type": "application/json" }
          })
        )
        const isRefused = post.operationId === "executeChain" && name === "unhandled"
        assert.strictEqual(response.status, isRefused ? 422 : 200, `${path} ${name}`)
      }
    }
  })
)

it.scopedLive("compresses the description and the page once, for clients that accept gzip", () =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const get = (path: string, headers: Record<string, string>) =>
      Effect.promise(() => fetch(url + path, { headers }))
    for (const path of ["/v1/openapi.json", "/docs", "/docs/page.js", "/docs/page.css"]) {
      const zipped = yield* get(path, { "accept-encoding": "gzip" })
      const plain = yield* get(path, { "accept-encoding": "identity" })
      assert.strictEqual(zipped.headers.get("content-encoding"), "gzip", path)
      assert.isNull(plain.headers.get("content-encoding"), path)
      assert.strictEqual(zipped.headers.get("vary"), "accept-encoding")
      const text = yield* Effect.promise(() => plain.text())
      assert.strictEqual(yield* Effect.promise(() => zipped.text()), text)
      assert.isBelow(
        Number(zipped.headers.get("content-length")),
        Number(plain.headers.get("content-length"))
      )
      const again = yield* get(path, { "if-none-match": plain.headers.get("etag")! })
      assert.strictEqual(again.status, 304, path)
    }
    const foreign = yield* get("/v1/openapi.json", { origin: "https://elsewhere.example" })
    assert.strictEqual(foreign.headers.get("access-control-allow-origin"), "*")
  })
)

it.scopedLive("the interactive page comes from this origin alone, without inline script or style", () =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const get = (path: string) =>
      Effect.promise(async () => {
        const response = await fetch(url + path)
        return { headers: response.headers, status: response.status, text: await response.text() }
      })
    const page = yield* get("/docs")
    assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
    assert.strictEqual((yield* get("/docs/")).text, page.text)
    const policy = page.headers.get("content-security-policy")!
    assert.include(policy, "script-src 'self'")
    assert.notInclude(policy, "unsafe")
    assert.notMatch(page.text, /https?:\/\//)
    assert.notMatch(page.text, /<style|\sstyle=|\son\w+=|<script(?![^>]* src=)/)
    const own = Array.from(page.text.matchAll(/(?:src|href)="([^"]+)"/g), ([, path]) => path!)
    for (const path of own) assert.strictEqual((yield* get(path)).status, 200, path)
    const script = yield* get("/docs/page.js")
    assert.notInclude(script.text, "innerHTML")
    assert.isFunction(new Function(script.text))
    assert.isBelow(page.text.length + script.text.length + (yield* get("/docs/page.css")).text.length, 12_000)
  })
)

it("every error on the wire is exactly error and message", () => {
  for (const error of [HttpError.ValidationError, HttpError.UnhandledRequest, HttpError.InternalError]) {
    const wire = Schema.encodeSync(error.wire as Schema.Schema<any, any>)(new error({ message: "text" }))
    assert.deepStrictEqual(Object.keys(wire), ["error", "message"])
    const back = Schema.decodeUnknownSync(error.wire as Schema.Schema<any, any>)(wire)
    assert.strictEqual((back as Error).constructor, error)
  }
})
