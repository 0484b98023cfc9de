import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer, get, type Server as NodeServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import { post, raw, request } from "../http/server/RunningServer.js"
import { exchangeProblems } from "../support/host/Conformance.js"
import { alive, collecting, load } from "../support/service/Load.js"
import { port, serve } from "../support/service/ServiceProcess.js"

// Every test starts processes that compile the sources anew.
vi.setConfig({ testTimeout: 90_000 })

it.scopedLive("prints its address, responds, and exits 0 on SIGINT", () =>
  Effect.gen(function* () {
    const serving = yield* serve()
    const connection = yield* raw(yield* port(serving))
    connection.send(request("GET", "/v1/languages"))
    const { languages } = JSON.parse((yield* connection.answer()).body)
    assert.deepStrictEqual(languages[4].package, "chainstore")
    serving.child.kill("SIGINT")
    assert.strictEqual(yield* Effect.promise(() => serving.exit), 0)
    const lines = serving.out.text.trimEnd().split("\n")
    assert.lengthOf(
      lines.filter((line) => line.startsWith("Chainstore is listening")),
      1
    )
    const access = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))
    assert.deepInclude(
      access.find((line) => line.path === "/v1/languages"),
      { level: "INFO", method: "GET", status: 200 }
    )
  })
)

it.scopedLive("SIGTERM under load loses no accepted request", () =>
  Effect.gen(function* () {
    const serving = yield* serve()
    const at = yield* port(serving)
    const text = post("/v1/chains/ticket-triage/execute", '{"id":1,"kind":"refund"}')
    const counts = { answered: 0, closed: 0 }
    const client = Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* raw(at)
        for (;;) {
          connection.send(text)
          const wire = yield* connection.answer()
          assert.strictEqual(wire.status, 200)
          counts.answered++
          if (wire.headers["connection"] === "close") {
            counts.closed++
            return
          }
        }
      })
    )
    const clients = yield* Effect.fork(
      Effect.all(
        Array.from({ length: 64 }, () => client),
        { concurrency: "unbounded" }
      )
    )
    yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => counts.answered > 2000 })
    serving.child.kill("SIGTERM")
    yield* clients.await.pipe(Effect.flatten)
    assert.strictEqual(counts.closed, 64)
    assert.strictEqual(yield* Effect.promise(() => serving.exit), 0)
    const logged = serving.out.text.split("\n").filter((line) => line.includes('"message":"request"'))
    assert.strictEqual(logged.length, counts.answered)
  })
)

it.scopedLive("explains itself with --help, and a start that fails with one line and exit 1", () =>
  Effect.gen(function* () {
    const help = yield* serve({}, ["--help"])
    assert.strictEqual(yield* Effect.promise(() => help.exit), 0)
    assert.include(help.out.text, "CHAINSTORE_PUBLIC_URL")
    const wrong = [
      [{ CHAINSTORE_BIND: "0.0.0.0" }, "CHAINSTORE_PUBLIC_URL"],
      [{ PORT: "99999" }, "PORT"],
      [{ CHAINSTORE_DATA: "/proc/nowhere" }, "the directory /proc/nowhere/repos cannot be created"],
      [{}, "npm start takes no arguments, but received --port 5000", ["--port", "5000"]]
    ] as const
    const start = ([environment, says, args = []]: readonly [
      environment: Readonly<Record<string, string>>,
      says: string,
      args?: ReadonlyArray<string>
    ]) =>
      Effect.gen(function* () {
        const failing = yield* serve(environment, args)
        assert.strictEqual(yield* Effect.promise(() => failing.exit), 1)
        assert.include(failing.out.errors, says)
        assert.notInclude(failing.out.errors, "    at ")
      })
    yield* Effect.forEach(wrong, start, { concurrency: 4, discard: true })
  })
)

it.scopedLive("says so when the port is taken", () =>
  Effect.gen(function* () {
    const taken = yield* Effect.acquireRelease(
      Effect.async<NodeServer>((resume) => {
        const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    )
    const address = taken.address()
    assert.isTrue(typeof address === "object" && address !== null)
    if (typeof address !== "object" || address === null) return
    const failing = yield* serve({ PORT: String(address.port) })
    assert.strictEqual(yield* Effect.promise(() => failing.exit), 1)
    assert.include(failing.out.errors, "EADDRINUSE")
  })
)

it.scopedLive("exports traces, metrics and logs to the collector that is named", () =>
  Effect.gen(function* () {
    const received = new Map<string, string>()
    const collector = yield* Effect.acquireRelease(
      Effect.async<NodeServer>((resume) => {
        const server = createServer((incoming, response) => {
          let body = ""
          incoming.setEncoding("utf8").on("data", (text: string) => {
            body += text
          })
          incoming.on("end", () => {
            received.set(incoming.url!, (received.get(incoming.url!) ?? "") + body)
            response.end("{}")
          })
        }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.closeAllConnections())
    )
    const address = collector.address()
    const endpoint = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
    const serving = yield* serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_SERVICE_NAME: "chains-under-test"
    })
    const connection = yield* raw(yield* port(serving))
    connection.send(request("GET", "/v1/languages"))
    assert.strictEqual((yield* connection.answer()).status, 200)
    serving.child.kill("SIGTERM")
    assert.strictEqual(yield* Effect.promise(() => serving.exit), 0)
    assert.include(received.get("/v1/traces") ?? "", "http.server GET")
    assert.include(received.get("/v1/metrics") ?? "", "http_requests_total")
    assert.include(received.get("/v1/logs") ?? "", "/v1/languages")
    for (const text of received.values()) assert.include(text, "chains-under-test")
  })
)

it.scopedLive("has the console, the embedded host and its token file on the same port", () =>
  Effect.gen(function* () {
    const directory = mkdtempSync(join(tmpdir(), "data-"))
    writeFileSync(join(directory, "host-token"), "chs_of_before\n")
    const serving = yield* serve({ CHAINSTORE_DATA: directory, CHAINSTORE_HOST_TOKEN: "" })
    const connection = yield* raw(yield* port(serving))
    const file = /token is in (.+)$/m.exec(serving.out.text)?.[1]
    assert.strictEqual(file, join(directory, "host-token"))
    assert.strictEqual(statSync(file!).mode & 0o777, 0o600)
    assert.strictEqual(readFileSync(file!, "utf8"), "chs_of_before\n")
    for (const part of ["repos", "repos/local", "repos/local/demo.git"])
      assert.strictEqual(statSync(join(directory, part)).mode & 0o777, 0o700, part)
    const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
      Effect.suspend(() => {
        connection.send(request("GET", path, { "user-agent": "test", ...headers }))
        return Effect.tap(connection.answer(), ({ body, headers, status }) =>
          assert.deepStrictEqual(
            exchangeProblems({ method: "GET", url: path, status, headers, text: body }),
            []
          )
        )
      })
    const user = yield* ask("/api/v3/user", { authorization: `Bearer ${readFileSync(file!, "utf8").trim()}` })
    assert.strictEqual(user.status, 200, user.body)
    assert.include((yield* ask("/")).headers["content-type"], "text/html")
    assert.include((yield* ask("/playground")).headers["content-type"], "text/html")
    assert.strictEqual((yield* ask("/v1/languages")).status, 200)
    assert.strictEqual((yield* ask("/api/collections")).status, 401)
    assert.strictEqual((yield* ask("/nothing/here")).status, 404)
  })
)

it.scopedLive("the host alone serves REST at / and on a unix socket, for any Host there", () =>
  Effect.gen(function* () {
    const socket = join(mkdtempSync(join(tmpdir(), "host-")), "host.sock")
    const killed = yield* serve({ HOST_SOCKET: socket }, [], "host")
    yield* port(killed)
    killed.child.kill("SIGKILL")
    yield* Effect.promise(() => killed.exit)
    assert.isTrue(existsSync(socket))
    const serving = yield* serve({ HOST_SOCKET: socket }, [], "host")
    const connection = yield* raw(yield* port(serving))
    connection.send(request("GET", "/rate_limit", { "user-agent": "test" }))
    const { body, headers, status: answered } = yield* connection.answer()
    assert.strictEqual(answered, 200)
    assert.deepStrictEqual(
      exchangeProblems({ method: "GET", url: "/rate_limit", status: answered, headers, text: body }),
      []
    )
    const status = yield* Effect.async<number | undefined>((resume) => {
      get(
        {
          socketPath: socket,
          path: "/rate_limit",
          headers: { host: "anything.example", "user-agent": "test" }
        },
        (response) => {
          response.resume()
          resume(Effect.succeed(response.statusCode))
        }
      )
    })
    assert.strictEqual(status, 200)
    serving.child.kill("SIGTERM")
    assert.strictEqual(yield* Effect.promise(() => serving.exit), 0)
  })
)

it.scopedLive("64 connections meet no error, and nothing of them is held", () =>
  Effect.gen(function* () {
    const serving = yield* serve(collecting)
    const url = `http://127.0.0.1:${yield* port(serving)}`
    const settled = Effect.promise(async () => {
      const { broken, refused } = await load(url, 2)
      assert.deepStrictEqual({ broken, refused }, { broken: 0, refused: 0 })
      return alive(serving)
    })
    const before = yield* settled
    const after = yield* settled
    assert.isBelow(after - before, 4 * 2 ** 20)
  })
)
