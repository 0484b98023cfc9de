import { once } from "node:events"
import { Readable } from "node:stream"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { AccessEntry, Mount, Playground } from "chainstore/http"
import { Cause, Deferred, Effect, Logger, Stream } from "effect"
import { own, raw, request, running } from "./RunningServer.js"

/** The log entries: replies as `METHOD PATH STATUS BYTES`, others with their cause. */
const collected = () => {
  const entries: Array<AccessEntry> = []
  const errors: Array<string> = []
  const layer = Logger.replace(
    Logger.defaultLogger,
    Logger.make<unknown, void>(({ cause, message }) => {
      const only = Array.isArray(message) ? message[0] : message
      if (only instanceof AccessEntry) entries.push(only)
      else errors.push(`${only} ${Cause.pretty(cause)}`)
    })
  )
  const lines = () =>
    entries.map(({ bytes, method, path, status }) => `${method} ${path} ${status} ${bytes}`.trim())
  return { entries, errors, layer, lines }
}

const bytes = (size: number) => new Uint8Array(size)

const chunked = (method: string, path: string, sent: string) =>
  `${request(method, path, { "content-type": "application/json", "transfer-encoding": "chunked" })}5\r\nhello\r\n${sent}`

it.scopedLive("invalid HTTP gets one reply, after the requests before it", () =>
  Effect.gen(function* () {
    const go = yield* Deferred.make<void>()
    let interrupted = 0
    const slow = Effect.onInterrupt(Effect.as(Deferred.await(go), HttpServerResponse.text("slow")), () =>
      Effect.sync(() => interrupted++)
    )
    const mount = yield* Mount.make({ name: "slow", paths: ["/slow"] }, slow)
    const log = collected()
    const { port } = yield* running({}, [mount], Playground.layer(own), log.layer)
    const first = request("GET", "/slow")
    const sent = [
      [`${first}nonsense\r\n\r\n`, "UNKNOWN"],
      [`${first}${chunked("POST", "/v1/chains/execute", "ZZ\r\n")}`, "POST"],
      [`${first}${first}${chunked("PUT", "/slow", "ZZ\r\n")}`, "PUT"]
    ] as const
    const connections = yield* Effect.forEach(sent, ([text]) =>
      Effect.tap(raw(port), (connection) => Effect.sync(() => connection.send(text)))
    )
    // A running request whose body is not read to its end.
    const broken = yield* raw(port)
    broken.send(chunked("PATCH", "/slow", "ZZ\r\n"))
    const refusal = yield* broken.answer()
    assert.deepStrictEqual([refusal.status, refusal.headers["connection"]], [400, "close"])
    assert.strictEqual(interrupted, 1)
    yield* Deferred.succeed(go, undefined)
    for (const [at, connection] of connections.entries()) {
      for (let n = 0; n < (at === 2 ? 2 : 1); n++)
        assert.strictEqual((yield* connection.answer()).body, "slow")
      const last = yield* connection.answer()
      assert.deepStrictEqual([last.status, last.headers["connection"]], [400, "close"])
      assert.strictEqual(JSON.parse(last.body).error, "ValidationError")
      const logged = log.entries.find(({ requestId }) => requestId === last.headers["x-request-id"])
      assert.deepStrictEqual([logged?.method, logged?.status], [sent[at]![1], 400])
      yield* connection.closed
    }
    assert.strictEqual(log.entries.length, 8)
  })
)

it.scopedLive("a truncated body is part of one request: one reply, one log line", () =>
  Effect.gen(function* () {
    const read = Effect.flatMap(HttpServerRequest.HttpServerRequest, (sent) =>
      Effect.map(sent.text, (text) => HttpServerResponse.text(text))
    )
    const mount = yield* Mount.make({ name: "read", paths: ["/read"] }, read)
    const log = collected()
    const { port } = yield* running({}, [mount], Playground.layer(own), log.layer)
    for (const path of ["/v1/chains/execute", "/read"]) {
      const declared = request("POST", path, { "content-type": "application/json", "content-length": "100" })
      log.entries.length = 0
      const connection = yield* raw(port)
      connection.send(chunked("POST", path, "ZZ\r\n"))
      const answer = yield* connection.answer()
      assert.strictEqual(answer.status, 400)
      yield* connection.closed
      assert.deepStrictEqual(
        log.entries.map(({ method, path, requestId, status }) => [method, path, requestId, status]),
        [["POST", path, answer.headers["x-request-id"], 400]]
      )
      for (const text of [`${declared}half`, chunked("POST", path, "")]) {
        log.entries.length = 0
        const leaving = yield* raw(port)
        leaving.send(text)
        leaving.socket.end()
        yield* leaving.closed
        assert.deepStrictEqual(log.lines(), [`POST ${path} 499 0`])
      }
    }
  })
)

it.scopedLive("a reply that a server fault cuts off is counted and logged as one", () =>
  Effect.gen(function* () {
    const begun = (rest: Stream.Stream<Uint8Array, string>) =>
      HttpServerResponse.stream(Stream.concat(Stream.make(bytes(10)), rest))
    const endings = {
      "/dies": begun(Stream.die(new Error("inside"))),
      "/fails": begun(Stream.fail("inside")),
      "/raw": HttpServerResponse.raw(Readable.from(failing())),
      "/short": HttpServerResponse.stream(Stream.make(bytes(10)), { headers: { "content-length": "20" } }),
      "/long": HttpServerResponse.stream(Stream.make(bytes(10)), { headers: { "content-length": "5" } })
    }
    const mounts = yield* Effect.forEach(Object.entries(endings), ([path, response]) =>
      Mount.make({ name: path, paths: [path] }, Effect.succeed(response))
    )
    const log = collected()
    const { port } = yield* running({}, mounts, Playground.layer(own), log.layer)
    for (const path of Object.keys(endings)) {
      log.errors.length = 0
      const connection = yield* raw(port)
      // The missing bytes must not be taken from the next request.
      connection.send(request("GET", path) + request("GET", "/healthz"))
      yield* connection.closed
      assert.strictEqual(log.lines().at(-1), `GET ${path} 500 0`)
      assert.match(log.errors.join(), /short|long/.test(path) ? /[Cc]ontent-[Ll]ength/ : /inside/)
    }
  })
)

function* failing() {
  yield Buffer.from("begun")
  throw new Error("inside")
}

it.scopedLive("a reply without a body opens no stream, and has no bytes", () =>
  Effect.gen(function* () {
    let opened = 0
    const streams: Array<Readable> = []
    const body = Stream.suspend(() => {
      opened++
      return Stream.make(bytes(10))
    })
    const handled = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
      Effect.sync(() => {
        const status = Number(url.split("/")[2])
        if (!url.endsWith("raw")) return HttpServerResponse.stream(body, { status })
        const stream = Readable.from([Buffer.alloc(10)])
        streams.push(stream)
        return HttpServerResponse.raw(stream, { status })
      })
    )
    const mount = yield* Mount.make({ name: "bodies", paths: ["/b"] }, handled)
    const log = collected()
    const { port } = yield* running({}, [mount], Playground.layer(own), log.layer)
    const connection = yield* raw(port)
    const asked = ["HEAD /b/200/stream", "HEAD /b/200/raw", "GET /b/304/stream", "GET /b/204/raw"]
    for (const one of asked) {
      const [method = "", path = ""] = one.split(" ")
      connection.send(request(method, path))
      assert.strictEqual((yield* connection.answer(false)).status, Number(path.split("/")[2]))
    }
    assert.strictEqual(opened, 0)
    assert.strictEqual(streams.length, 2)
    for (const stream of streams) if (!stream.closed) yield* Effect.promise(() => once(stream, "close"))
    const lines = asked.map((one) => `${one} ${one.split("/")[2]} 0`)
    assert.deepStrictEqual(log.lines(), lines)
    connection.send(request("GET", "/b/200/stream"))
    assert.strictEqual((yield* connection.answer(false)).status, 200)
    const refused = yield* raw(port)
    refused.send(request("HEAD", "/v1/chains/execute", { "content-length": "100000" }))
    assert.strictEqual((yield* refused.answer(false)).status, 405)
    assert.deepStrictEqual(log.lines().slice(-2), [
      "GET /b/200/stream 200 10",
      "HEAD /v1/chains/execute 405 0"
    ])
  })
)

it.scopedLive("OPTIONS *, CONNECT and HTTP/1.0 clients get replies according to HTTP", () =>
  Effect.gen(function* () {
    const read = Effect.flatMap(HttpServerRequest.HttpServerRequest, (sent) =>
      Effect.map(sent.text, (text) => HttpServerResponse.text(text))
    )
    const mount = yield* Mount.make({ name: "all", paths: ["/"] }, read)
    const log = collected()
    const { port } = yield* running({}, [mount], Playground.layer(own), log.layer)
    const first = yield* raw(port)
    first.send("OPTIONS * HTTP/1.1\r\nhost: localhost\r\n\r\n")
    const options = yield* first.answer()
    assert.deepStrictEqual([options.status, options.body], [204, ""])
    const old = yield* raw(port)
    old.send("POST / HTTP/1.0\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\nab")
    const answer = yield* old.answer()
    assert.deepStrictEqual([answer.status, answer.body], [200, "ab"])
    const go = yield* Deferred.make<void>()
    const slow = yield* Mount.make(
      { name: "slow", paths: ["/"] },
      Effect.as(Deferred.await(go), HttpServerResponse.text("slow"))
    )
    const other = yield* running({}, [slow], Playground.layer(own), log.layer)
    const gone = yield* raw(other.port)
    gone.send(`${request("GET", "/")}CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => gone.socket.bytesWritten > 0 })
    gone.socket.resetAndDestroy()
    yield* Deferred.succeed(go, undefined)
    const tunnel = yield* raw(port)
    tunnel.send("CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n")
    const refused = yield* tunnel.answer()
    assert.strictEqual(refused.status, 405)
    assert.strictEqual(JSON.parse(refused.body).error, "MethodNotAllowed")
    assert.strictEqual(log.entries.at(-1)?.requestId, refused.headers["x-request-id"])
    yield* tunnel.closed
  })
)
