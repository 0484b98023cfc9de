import { createServer, request as forward } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { ConsoleService, layer as service } from "../../support/browser/ConsoleService.js"
import { ask } from "./Client.js"

interface Gateway {
  url: string
  answer: { readonly status: number; readonly body: string } | undefined
  readonly close: () => void
}

/** Forwards requests to a real host until it is set to reply otherwise. */
const gateway = (target: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Gateway>((resolve) => {
          const close = () => {
            server.closeAllConnections()
            server.close()
          }
          const state: Gateway = { url: "", answer: undefined, close }
          const server = createServer((incoming, outgoing) => {
            if (state.answer !== undefined) {
              outgoing
                .writeHead(state.answer.status, { "content-type": "application/json" })
                .end(state.answer.body)
              return
            }
            const { hostname, port, host } = new URL(target)
            const sent = forward(
              {
                hostname,
                port,
                method: incoming.method,
                path: incoming.url,
                headers: { ...incoming.headers, host }
              },
              (reply) => {
                outgoing.writeHead(reply.statusCode!, reply.headers)
                reply.pipe(outgoing)
              }
            )
            sent.on("error", () => outgoing.destroy())
            incoming.pipe(sent)
          })
          server.listen(0, "127.0.0.1", () => {
            state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
            resolve(state)
          })
        })
    ),
    (state) => Effect.sync(() => state.close())
  )

const cases = [
  ["the token was revoked", 401, '{"message":"Bad credentials"}'],
  ["the repository is gone", 404, '{"message":"Not Found"}'],
  ["the remote is down", 503, '{"message":"down"}'],
  ["the rate limit is used up", 403, '{"message":"API rate limit exceeded"}']
] as const

for (const [name, status, body] of cases) {
  it.scopedLive(`a user can return to the sign-in form when the session's remote fails (${name})`, () =>
    Effect.gen(function* () {
      const host = Context.get(yield* Layer.build(service({ hostAlone: true })), ConsoleService)
      yield* host.store.collection("things").insert({ n: 1 }, { id: "a" })
      const api = yield* gateway(host.url)
      const console_ = Context.get(
        yield* Layer.build(service({ environment: { CHAINSTORE_API_URL: `test=${api.url}` } })),
        ConsoleService
      )
      const login = yield* ask(console_.url, "POST", "/api/login", {
        body: { api: "test", repo: "test/shop", token: host.token }
      })
      assert.strictEqual(login.status, 200, login.text)
      api.answer = { status, body }
      const setup = yield* ask(console_.url, "GET", "/api/session", { cookie: login.cookie })
      // The page learns the sign-in choices only from this reply. Without it, the page shows only "Try again".
      assert.strictEqual(setup.status, 200, setup.text)
      assert.include(setup.body.apis, "test")
      assert.strictEqual(setup.body.session === null, status === 401)
    })
  )
}
