import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Mount, Playground } from "chainstore/http"
import { Deferred, Duration, Effect, Fiber, Layer, Stream } from "effect"
import { post, raw, request, running } from "./RunningServer.js"

const triage = "/v1/chains/ticket-triage/execute"
const refund = '{"id":1,"kind":"refund"}'

it.scopedLive("returns 413 for a declared length above the limit without reading the body", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const connection = yield* raw(port)
    connection.send(
      request("POST", triage, { "content-type": "application/json", "content-length": String(3 << 20) })
    )
    const wire = yield* connection.answer()
    assert.strictEqual(wire.status, 413)
    assert.strictEqual(JSON.parse(wire.body).error, "PayloadTooLarge")
    assert.strictEqual(wire.headers["connection"], "close")
    yield* connection.closed
  })
)

it.scopedLive("returns 413 for a 3 MiB body that is being sent, before the connection closes", () =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const body = JSON.stringify({ id: 1, kind: "refund", extra: "x".repeat(3 << 20) })
    const response = yield* Effect.promise(() => fetch(url + triage, { method: "POST", body }))
    assert.strictEqual(response.status, 415)
    const sent = yield* Effect.promise(() =>
      fetch(url + triage, { method: "POST", body, headers: { "content-type": "application/json" } })
    )
    assert.strictEqual(sent.status, 413)
    assert.strictEqual(
      ((yield* Effect.promise(() => sent.json())) as { error: string }).error,
      "PayloadTooLarge"
    )
  })
)

it.scopedLive("returns 413 for a chunked body above the limit", () =>
  Effect.gen(function* () {
    const { port } = yield* running({ limits: { maxBytes: 1000, timeoutMillis: 5000 } })
    const connection = yield* raw(port)
    connection.send(
      request("POST", triage, { "content-type": "application/json", "transfer-encoding": "chunked" })
    )
    for (let part = 0; part < 3; part++) connection.send(`190\r\n${" ".repeat(400)}\r\n`)
    const wire = yield* connection.answer()
    assert.strictEqual(wire.status, 413)
    assert.include(JSON.parse(wire.body).message, "1000 bytes")
    yield* connection.closed
    const next = yield* raw(port)
    next.send(post(triage, refund.padEnd(1000)))
    assert.strictEqual((yield* next.answer()).status, 200)
  })
)

it.scopedLive("sends 100 Continue only if it reads the body", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const connection = yield* raw(port)
    const head = { "content-type": "application/json", expect: "100-continue" }
    const length = { "content-length": String(refund.length) }
    // `Expect` is a list and may contain other expectations.
    for (const expect of ["100-continue", "100-Continue, 100-continue", "other=1, 100-continue"]) {
      connection.send(request("POST", triage, { ...head, ...length, expect }))
      assert.strictEqual((yield* connection.answer(false)).status, 100)
      connection.send(refund)
      assert.strictEqual((yield* connection.answer()).status, 200)
    }
    connection.send(request("POST", triage, { ...head, "content-length": String(3 << 20) }))
    assert.strictEqual((yield* connection.answer()).status, 413)
  })
)

it.scopedLive("returns 408 if a body or a head does not arrive", () =>
  Effect.gen(function* () {
    const { port } = yield* running({
      limits: { maxBytes: 1000, timeoutMillis: 100 },
      headersTimeout: Duration.millis(200)
    })
    const slow = yield* raw(port)
    slow.send(request("POST", triage, { "content-type": "application/json", "content-length": "100" }))
    slow.send('{"id":')
    const wire = yield* slow.answer()
    assert.strictEqual(wire.status, 408)
    assert.strictEqual(JSON.parse(wire.body).error, "RequestTimeout")
    assert.strictEqual(wire.headers["connection"], "close")
    yield* slow.closed
    const silent = yield* raw(port)
    silent.send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n")
    const late = yield* silent.answer()
    assert.strictEqual(late.status, 408)
    assert.strictEqual(JSON.parse(late.body).error, "RequestTimeout")
  })
)

it.scopedLive("survives header bombs and what is not HTTP", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const cases: ReadonlyArray<readonly [string, number]> = [
      [request("GET", "/healthz", { bomb: "x".repeat(20_000) }), 431],
      [
        request(
          "GET",
          "/healthz",
          Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`x-${at}`, "y"]))
        ),
        431
      ],
      [request("GET", `/${"x".repeat(20_000)}`), 431],
      ["\u0000\u0001 nonsense\r\n\r\n", 400],
      ["GET /healthz HTTP/9.9\r\n\r\n", 400],
      [request("POST", triage, { "content-length": "5", "transfer-encoding": "chunked" }), 400],
      [request("POST", triage, { "content-length": "-1" }), 400],
      [`${request("POST", triage, { "transfer-encoding": "chunked" })}zz\r\n`, 400]
    ]
    for (const [text, status] of cases) {
      const connection = yield* raw(port)
      connection.send(text)
      const wire = yield* connection.answer()
      assert.strictEqual(wire.status, status, text.slice(0, 60))
      assert.deepStrictEqual(Object.keys(JSON.parse(wire.body)), ["error", "message"])
    }
    const connection = yield* raw(port)
    connection.send(request("GET", "/healthz"))
    assert.strictEqual((yield* connection.answer()).status, 200)
  })
)

const hanging = (started: Deferred.Deferred<void>, released: Deferred.Deferred<void>) =>
  Layer.succeed(Playground.Playground, {
    languages: () => Effect.die(new Error("a secret inside")),
    describeTicketTriage: Effect.never,
    executeChain: () => Effect.never,
    executeTicketTriage: () =>
      Effect.never.pipe(
        Effect.tap(() => Effect.void),
        Effect.ensuring(Deferred.succeed(released, undefined)),
        (waiting) => Effect.zipRight(Deferred.succeed(started, undefined), waiting)
      )
  })

it.scopedLive("interrupts a handler when its time is up, and when the client leaves", () =>
  Effect.gen(function* () {
    const signals = Effect.all([Deferred.make<void>(), Deferred.make<void>()])
    const [started, released] = yield* signals
    const quick = yield* running({ handlerTimeout: Duration.millis(50) }, [], hanging(started, released))
    const connection = yield* raw(quick.port)
    connection.send(post(triage, refund))
    const wire = yield* connection.answer()
    assert.strictEqual(wire.status, 503)
    assert.strictEqual(JSON.parse(wire.body).error, "ServiceUnavailable")
    yield* Deferred.await(released)
    connection.send(request("GET", "/healthz"))
    assert.strictEqual((yield* connection.answer()).status, 200)

    const [begun, given] = yield* signals
    const patient = yield* running({}, [], hanging(begun, given))
    const leaver = yield* raw(patient.port)
    leaver.send(post(triage, refund))
    yield* Deferred.await(begun)
    leaver.socket.destroy()
    yield* Deferred.await(given)
  })
)

it.scopedLive("returns 500 for a defect, with the request id and no details", () =>
  Effect.gen(function* () {
    const never = yield* Deferred.make<void>()
    const { port } = yield* running({}, [], hanging(never, never))
    const connection = yield* raw(port)
    connection.send(request("GET", "/v1/languages", { "x-request-id": "find-me" }))
    const wire = yield* connection.answer()
    assert.strictEqual(wire.status, 500)
    assert.strictEqual(JSON.parse(wire.body).error, "InternalError")
    assert.include(wire.body, "find-me")
    assert.notInclude(wire.body, "secret")
  })
)

const streams = Effect.gen(function* () {
  const released = yield* Deferred.make<void>()
  const mounts = yield* Effect.all([
    Mount.make(
      {
        name: "echo",
        paths: ["/echo"],
        body: { maxBytes: Number.POSITIVE_INFINITY },
        timeout: Duration.infinity
      },
      Effect.map(HttpServerRequest.HttpServerRequest, (incoming) =>
        HttpServerResponse.stream(Stream.orDie(incoming.stream), { contentType: "application/octet-stream" })
      )
    ),
    Mount.make(
      { name: "limited", paths: ["/limited"], body: { maxBytes: 1000 } },
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (incoming) =>
        Effect.map(Stream.runCount(incoming.stream), () => HttpServerResponse.text("read"))
      )
    ),
    Mount.make(
      { name: "json", paths: [/^\/json$/], body: { maxBytes: 1000 } },
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (incoming) =>
        Effect.map(incoming.json, (value) =>
          HttpServerResponse.unsafeJson(value, { headers: { "content-security-policy": "sandbox" } })
        )
      )
    ),
    Mount.make(
      { name: "endless", paths: ["/endless"] },
      Effect.succeed(
        HttpServerResponse.stream(
          Stream.repeatValue(new Uint8Array(65_536)).pipe(
            Stream.ensuring(Deferred.succeed(released, undefined))
          )
        )
      )
    )
  ])
  return { released, mounts }
})

it.scopedLive("streams bodies both ways through a mount, unlimited where it says so", () =>
  Effect.gen(function* () {
    const { mounts } = yield* streams
    const { url } = yield* running({}, mounts)
    const bytes = new Uint8Array(5 << 20).map((_, at) => at % 251)
    const back = yield* Effect.promise(
      async () =>
        new Uint8Array(await (await fetch(`${url}/echo`, { method: "POST", body: bytes })).arrayBuffer())
    )
    assert.isTrue(Buffer.from(back).equals(Buffer.from(bytes)))
  })
)

it.scopedLive("keeps limits, errors and headers of mounts", () =>
  Effect.gen(function* () {
    const { mounts } = yield* streams
    const { port, url } = yield* running({}, mounts)
    for (const path of ["/limited", "/json"]) {
      const declared = yield* raw(port)
      declared.send(request("POST", path, { "content-length": "2000" }))
      assert.strictEqual((yield* declared.answer()).status, 413, path)
      const chunked = yield* raw(port)
      chunked.send(request("POST", path, { "transfer-encoding": "chunked" }))
      for (let part = 0; part < 3; part++) chunked.send(`190\r\n${" ".repeat(400)}\r\n`)
      assert.strictEqual((yield* chunked.answer()).status, 413, path)
    }
    const bad = yield* Effect.promise(async () => {
      const response = await fetch(`${url}/json`, { method: "POST", body: "{" })
      return { status: response.status, body: await response.json() }
    })
    assert.deepStrictEqual(bad, {
      status: 400,
      body: { error: "ValidationError", message: "The request body is not valid JSON." }
    })
    const good = yield* Effect.promise(() => fetch(`${url}/json`, { method: "POST", body: "[1]" }))
    assert.strictEqual(good.headers.get("content-security-policy"), "sandbox")
    assert.strictEqual(good.headers.get("x-content-type-options"), "nosniff")
  })
)

it.scopedLive("stops an endless reply when its reader disconnects", () =>
  Effect.gen(function* () {
    const { mounts, released } = yield* streams
    const { port } = yield* running({}, mounts)
    const reader = yield* raw(port)
    reader.send(request("GET", "/endless"))
    yield* Effect.async<void>((resume) => {
      reader.socket.once("data", () => resume(Effect.void))
    })
    reader.socket.destroy()
    const waiting = yield* Effect.fork(Deferred.await(released))
    yield* Fiber.join(waiting)
  })
)
