import {
  HttpApiEndpoint,
  HttpApiGroup,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Direct, Mount, Server } from "chainstore/http"
import { Context, Effect, Layer, Logger, Schema } from "effect"
import { NotFoundError, RateLimitError } from "../../../src/domain/errors/StoreError.js"
import { make as hostCheck, isLoopback } from "../../../src/http/server/HostCheck.js"
import { post, raw, request, running } from "./RunningServer.js"

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

it.scopedLive("offers a route wherever the router itself finds it", () =>
  Effect.gen(function* () {
    const told = Effect.map(HttpRouter.params, (params) => HttpServerResponse.text(JSON.stringify(params)))
    const router = HttpRouter.empty.pipe(
      HttpRouter.get("/r/list/:page?", told),
      HttpRouter.get("/r/v:version/x", told),
      HttpRouter.get("/r/at/:hour(^\\d{2})h", told),
      HttpRouter.get("/r/file/:name.:type", told),
      HttpRouter.get("/r/a::b", told)
    )
    const { port } = yield* running({}, [yield* Mount.router({ name: "r", paths: ["/r"] }, router)])
    const connection = yield* raw(port)
    for (const [path, answer] of [
      ["/r/list", "{}"],
      ["/r/list/2", '{"page":"2"}'],
      ["/r/v3/x", '{"version":"3"}'],
      ["/r/at/12h", '{"hour":"12"}'],
      ["/r/file/a.b", '{"name":"a","type":"b"}'],
      ["/r/a:b", "{}"]
    ] as const) {
      connection.send(request("GET", path))
      assert.strictEqual((yield* connection.answer()).body, answer, path)
    }
    for (const path of ["/r/list/2/3", "/r/v/x", "/r/at/ab", "/r/file/a", "/r/axb"]) {
      connection.send(request("GET", path))
      assert.strictEqual((yield* connection.answer()).status, 404, path)
    }
  })
)

it.scopedLive("reports an invalid query as such, and sends no body with a 204", () =>
  Effect.gen(function* () {
    const router = HttpRouter.empty.pipe(
      HttpRouter.get(
        "/q",
        Effect.as(
          HttpServerRequest.schemaSearchParams(Schema.Struct({ page: Schema.NumberFromString })),
          HttpServerResponse.text("unwanted", { status: 204 })
        )
      )
    )
    const { port } = yield* running({}, [yield* Mount.router({ name: "q", paths: ["/q"] }, router)])
    const connection = yield* raw(port)
    connection.send(request("GET", "/q"))
    const { body, status } = yield* connection.answer()
    assert.strictEqual(status, 400)
    assert.strictEqual(JSON.parse(body).message, "The request is invalid: page is missing.")
    connection.send(request("GET", "/q?page=1"))
    const empty = yield* connection.answer(false)
    assert.strictEqual(empty.status, 204)
    assert.notProperty(empty.headers, "content-length")
  })
)

it.scopedLive("uses the services around the server, and the first matching mount", () =>
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

it.scopedLive("returns 500 for failures without a reply of their own, with any status", () =>
  Effect.gen(function* () {
    const errors = [
      // The status of a StoreError is that of a reply which the store received.
      new NotFoundError({ operation: "get", message: "/srv/data/a.git", status: 404 }),
      new RateLimitError({ operation: "get", message: "/srv/data/a.git", status: 200 }),
      ...[200, 99, 1000, 404.5].map((status) => Object.assign(new Error("secret"), { _tag: "Odd", status })),
      Object.assign(new Error("secret"), { _tag: "Odd", status: 400, headers: { "x-odd": "a\nb" } })
    ]
    const mounts = yield* Effect.forEach(errors, (error, at) =>
      Mount.make(
        { name: "odd", paths: [`/odd/${at}`] },
        // Before and after the listener returns.
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
          Effect.zipRight(url.endsWith("later") ? Effect.sleep(1) : Effect.void, Effect.fail(error))
        )
      )
    )
    const own = Object.assign(new Error("short and stout"), { _tag: "Teapot", status: 418 })
    const teapot = yield* Mount.make({ name: "teapot", paths: [/^\/teapot/g] }, Effect.fail(own))
    const { port } = yield* running({}, [...mounts, teapot])
    const connection = yield* raw(port)
    for (const [at, error] of errors.entries()) {
      for (const when of ["", "?later"]) {
        connection.send(request("GET", `/odd/${at}${when}`))
        const { body, status } = yield* connection.answer()
        assert.strictEqual(status, 500, String(error))
        assert.notInclude(body, error.message)
      }
    }
    for (const _ of ["a pattern", "has no memory"]) {
      connection.send(request("GET", "/teapot"))
      assert.strictEqual((yield* connection.answer()).status, 418)
    }
  })
)

/** Connects to a server with only these operations. */
const serving = (operations: Direct.Operations) =>
  Effect.gen(function* () {
    const server = Server.layer(Server.defaults, Effect.succeed({ operations, mounts: [] }))
    const context = yield* Layer.build(Layer.provide(server, Logger.remove(Logger.defaultLogger)))
    return yield* raw(Number(new URL(Context.get(context, Server.Server).url).port))
  })

it.scopedLive("encodes anew what is frozen at its surface alone", () =>
  Effect.gen(function* () {
    const items: Array<number> = []
    const held = Object.freeze({ items })
    const group = HttpApiGroup.make("lists").add(
      HttpApiEndpoint.get("all", "/all").addSuccess(Schema.Struct({ items: Schema.Array(Schema.Number) }))
    )
    const all = () =>
      Effect.as(
        Effect.sync(() => items.push(items.length)),
        held
      )
    const connection = yield* serving(Direct.operations(group, { all }))
    for (const body of ['{"items":[0]}', '{"items":[0,1]}']) {
      connection.send(request("GET", "/all"))
      assert.strictEqual((yield* connection.answer()).body, body)
    }
  })
)

it.scopedLive("a schema that throws is a fault of ours, and not the end of the process", () =>
  Effect.gen(function* () {
    const Odd = Schema.Struct({
      a: Schema.Number.pipe(
        Schema.filter(() => {
          throw new Error("secret")
        })
      )
    })
    const group = HttpApiGroup.make("odd").add(
      HttpApiEndpoint.post("add", "/add").setPayload(Odd).addSuccess(Schema.String)
    )
    const connection = yield* serving(Direct.operations(group, { add: () => Effect.succeed("added") }))
    for (const _ of [1, 2]) {
      connection.send(post("/add", '{"a":1}'))
      const { body, status } = yield* connection.answer()
      assert.strictEqual(status, 500)
      assert.notInclude(body, "secret")
    }
  })
)
