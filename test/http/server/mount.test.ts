import { HttpRouter, HttpServerResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Mount } from "chainstore/http"
import { Context, Effect } from "effect"
import { make as hostCheck, isLoopback } from "../../../src/http/server/HostCheck.js"
import { raw, request, running } from "./Running.js"

class Greeting extends Context.Tag("test/Greeting")<Greeting, string>() {}

const routes = HttpRouter.empty.pipe(
  HttpRouter.get(
    "/greet/:name",
    Effect.flatMap(HttpRouter.params, ({ name }) =>
      Effect.map(Greeting, (greeting) => HttpServerResponse.text(`${greeting} ${name}`))
    )
  ),
  HttpRouter.put("/greet/:name", Effect.fail("unexpected" as const)),
  HttpRouter.del("/files/*", HttpServerResponse.empty())
)

it("knows which methods a router offers at a path", () => {
  const methods = Mount.methodsOf(routes)
  assert.deepStrictEqual(methods("/greet/a"), ["GET", "PUT"])
  assert.deepStrictEqual(methods("/files/a/b"), ["DELETE"])
  for (const path of ["/greet", "/greet/", "/greet/a/b", "/Greet/a", "/"])
    assert.deepStrictEqual(methods(path), [], path)
})

it.scopedLive("takes services from around the server, and the first mount that matches answers", () =>
  Effect.gen(function* () {
    const greet = yield* Mount.router({ name: "greet", paths: ["/greet", "/files"] }, routes)
    const rest = yield* Mount.make(
      { name: "rest", paths: ["/"] },
      Effect.succeed(HttpServerResponse.text("rest"))
    )
    const { port } = yield* running({}, [greet, rest])
    const connection = yield* raw(port)
    const ask = (method: string, path: string) =>
      Effect.suspend(() => {
        connection.send(request(method, path))
        return connection.answer()
      })
    assert.strictEqual((yield* ask("GET", "/greet/Ada?x=1")).body, "hello Ada")
    assert.strictEqual((yield* ask("PUT", "/greet/Ada")).status, 500)
    const wrong = yield* ask("POST", "/greet/Ada")
    assert.deepStrictEqual([wrong.status, wrong.headers["allow"]], [405, "GET, PUT, HEAD, OPTIONS"])
    assert.strictEqual((yield* ask("GET", "/greet")).status, 404)
    assert.strictEqual((yield* ask("GET", "/greetings")).body, "rest")
    assert.strictEqual((yield* ask("GET", "/v1/chains/ticket-triage")).status, 200)
  }).pipe(Effect.provideService(Greeting, "hello"))
)

it("accepts loopback names and the public address as Host, nothing that looks like them", () => {
  const accepts = hostCheck("https://chains.example:8443/base")
  for (const host of [
    "localhost",
    "localhost:1",
    "127.9.9.9",
    "[::1]:3000",
    "a.localhost",
    "CHAINS.example:8443",
    "chains.example"
  ]) {
    assert.isTrue(accepts(host), host)
  }
  for (const host of [
    undefined,
    "",
    "chains.example.evil",
    "localhost.evil",
    "127.0.0.1.evil",
    "evil:127.0.0.1",
    "128.0.0.1",
    "[::2]",
    "x@localhost"
  ]) {
    assert.isFalse(accepts(host), String(host))
  }
  assert.isTrue(isLoopback("127.0.0.1") && isLoopback("::1") && isLoopback("localhost"))
  assert.isFalse(isLoopback("0.0.0.0") || isLoopback("::") || isLoopback("10.0.0.1"))
})
