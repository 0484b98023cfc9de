import { connect } from "node:net"
import { HttpServerResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { AccessEntry, Mount, Playground } from "chainstore/http"
import { Duration, Effect, Exit, Fiber, Logger, Scope } from "effect"
import { own, raw, request, running } from "./RunningServer.js"

const collected = (seen: Array<AccessEntry>) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make<unknown, void>(({ message }) => {
      const only = Array.isArray(message) ? message[0] : message
      if (only instanceof AccessEntry) seen.push(only)
    })
  )

it.scopedLive("invalid HTTP gets a reply and a log line", () =>
  Effect.gen(function* () {
    const seen: Array<AccessEntry> = []
    const { port } = yield* running({}, [], Playground.layer(own), collected(seen))
    const connection = yield* raw(port)
    connection.send("nonsense\r\n\r\n")
    const wire = yield* connection.answer()
    assert.strictEqual(wire.status, 400)
    assert.match(wire.headers["x-request-id"] ?? "", /^[\w.-]+$/)
    assert.isFalse(Number.isNaN(Date.parse(wire.headers["date"] ?? "")))
    assert.deepStrictEqual(
      seen.map(({ remote, requestId, status }) => [remote, requestId, status]),
      [["127.0.0.1", wire.headers["x-request-id"], 400]]
    )
  })
)

it.scopedLive("a disconnect in a body after the reply is not a second request", () =>
  Effect.gen(function* () {
    const seen: Array<AccessEntry> = []
    const { port } = yield* running({}, [], Playground.layer(own), collected(seen))
    const connection = yield* raw(port)
    connection.send(`${request("GET", "/v1/languages", { "transfer-encoding": "chunked" })}5\r\nhello\r\n`)
    assert.strictEqual((yield* connection.answer()).status, 200)
    connection.socket.end()
    yield* connection.closed
    assert.deepStrictEqual(
      seen.map(({ status }) => status),
      [200]
    )
  })
)

it.scopedLive("an unread body does not prevent the reply, and is bounded", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const chunk = `100000\r\n${" ".repeat(1 << 20)}\r\n`
    const endless = (method: string, path: string, status: number) =>
      Effect.gen(function* () {
        const connection = yield* raw(port)
        connection.send(request(method, path, { "transfer-encoding": "chunked" }))
        assert.strictEqual((yield* connection.answer(status !== 204)).status, status)
        const sending = Effect.forever(
          Effect.zipRight(
            Effect.sync(() => connection.send(chunk)),
            Effect.sleep("1 millis")
          )
        )
        yield* Effect.race(connection.closed, sending)
      })
    yield* Effect.all(
      [
        endless("GET", "/v1/languages", 200),
        endless("GET", "/healthz", 200),
        endless("OPTIONS", "/v1/languages", 204)
      ],
      { concurrency: 3 }
    )
    const small = yield* raw(port)
    small.send(`${request("GET", "/v1/languages", { "transfer-encoding": "chunked" })}${chunk}0\r\n\r\n`)
    assert.strictEqual((yield* small.answer()).headers["connection"], "keep-alive")
    small.send(request("GET", "/healthz"))
    assert.strictEqual((yield* small.answer()).body, '{"status":"ok"}')
  })
)

it.scopedLive("the target's own authority is the Host, and there is one Host at most", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const connection = yield* raw(port)
    connection.send(request("GET", "http://localhost:81/v1/languages", { host: "elsewhere.example" }))
    const { body } = yield* connection.answer()
    assert.notInclude(body, "elsewhere.example")
    assert.include(body, "http://localhost:81/docs")
    connection.send(request("GET", "http://localhost?x=1"))
    assert.strictEqual((yield* connection.answer()).status, 404)
    // More headers than Node's default maximum.
    for (const between of ["", "a:b\r\n".repeat(2_500)]) {
      connection.send(`GET /healthz HTTP/1.1\r\nhost: localhost\r\n${between}Host: elsewhere.example\r\n\r\n`)
      const two = yield* connection.answer()
      assert.strictEqual(two.status, 400)
      assert.strictEqual(JSON.parse(two.body).error, "ValidationError")
    }
  })
)

it.scopedLive("draining waits for a reply that is still being sent", () =>
  Effect.gen(function* () {
    const size = 24 * 1024 * 1024
    const large = yield* Mount.make(
      { name: "large", paths: ["/large"] },
      Effect.sync(() => HttpServerResponse.uint8Array(new Uint8Array(size)))
    )
    const scope = yield* Scope.make()
    const drain = { grace: Duration.millis(10), timeout: Duration.seconds(10) }
    const { port } = yield* Scope.extend(running({ drain }, [large]), scope)
    let received = 0
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => connect(port, "127.0.0.1")),
      (open) => Effect.sync(() => open.destroy())
    )
    const ended = Effect.async<void>((resume) => {
      socket.on("close", () => resume(Effect.void))
      socket.on("data", (chunk) => {
        received += chunk.length
      })
      socket.on("end", () => socket.end())
    })
    socket.write(request("GET", "/large"))
    yield* Effect.async<void>((resume) => {
      socket.once("readable", () => resume(Effect.void))
    })
    const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
    yield* Effect.sleep("1300 millis")
    yield* ended
    yield* Fiber.join(closing)
    assert.isAbove(received, size)
  })
)

it.scopedLive("connections that wait for nothing make room for new ones, those at work do not", () =>
  Effect.gen(function* () {
    const { port } = yield* running({ maxConnections: 4 })
    const path = "/v1/chains/execute"
    const body = JSON.stringify({ request: 1, handlers: [] })
    const headers = { "content-type": "application/json", "content-length": String(body.length) }
    const busy = yield* Effect.all(Array.from({ length: 3 }, () => raw(port)))
    for (const connection of busy) connection.send(request("POST", path, headers))
    // The replies are delayed, so that both requests are certain to be in progress.
    const idle = yield* raw(port)
    idle.send(request("GET", "/healthz"))
    assert.strictEqual((yield* idle.answer()).status, 200)
    for (let flood = 0; flood < 20; flood++) yield* raw(port)
    yield* idle.closed
    const next = yield* raw(port)
    next.send(request("GET", "/healthz"))
    assert.strictEqual((yield* next.answer()).status, 200)
    const last = yield* raw(port)
    last.send(request("POST", path, headers))
    yield* next.closed
    for (const connection of [...busy, last]) {
      connection.send(body)
      assert.isBelow((yield* connection.answer()).status, 500)
    }
  })
)

it.scopedLive("pipelined requests get their replies one after the other", () =>
  Effect.gen(function* () {
    let present = 0
    let most = 0
    const slow = yield* Mount.make(
      { name: "slow", paths: ["/slow"] },
      Effect.gen(function* () {
        most = Math.max(most, ++present)
        yield* Effect.sleep("1 millis")
        present--
        return HttpServerResponse.text("done")
      })
    )
    const { port } = yield* running({}, [slow])
    const connection = yield* raw(port)
    const count = 300
    connection.send(request("GET", "/slow").repeat(count))
    for (let n = 0; n < count; n++) assert.strictEqual((yield* connection.answer()).body, "done")
    assert.strictEqual(most, 1)
    connection.send(request("GET", "/healthz"))
    assert.strictEqual((yield* connection.answer()).body, '{"status":"ok"}')
  })
)
