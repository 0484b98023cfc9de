import { request as nodeRequest } from "node:http"
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const said = (answer: Rest.RestAnswer) => [answer.status, answer.body?.message]

layer(host({ maxBodyBytes: 200_000 }), { timeout: 60_000 })("protocol", (it) => {
  it.effect("every response has GitHub's headers, refusals too", () =>
    Effect.gen(function* () {
      yield* Rest.repository("headers", { "a.json": "{}\n" })
      for (const path of ["/repos/local/headers", "/repos/local/headers/contents/none", "/nowhere"]) {
        const { headers } = yield* Rest.get(path)
        assert.match(headers.get("x-github-request-id")!, /^[0-9A-F]{8}:[0-9A-F]+$/)
        assert.strictEqual(headers.get("x-github-media-type"), "github.v3; format=json")
        assert.strictEqual(headers.get("x-github-api-version-selected"), "2022-11-28")
        assert.match(headers.get("vary")!, /Accept, Authorization/)
        assert.strictEqual(headers.get("content-type"), "application/json; charset=utf-8")
        for (const name of ["limit", "remaining", "used", "reset"]) {
          assert.match(headers.get(`x-ratelimit-${name}`)!, /^\d+$/)
        }
        assert.strictEqual(headers.get("x-ratelimit-resource"), "core")
      }
      const raw = yield* Rest.get("/repos/local/headers/contents/a.json", {
        headers: { accept: "application/vnd.github.raw+json" }
      })
      assert.strictEqual(raw.headers.get("x-github-media-type"), "github.v3; param=raw; format=json")
    })
  )

  it.effect("what was found may be kept for a minute, refusals and counts may not", () =>
    Effect.gen(function* () {
      yield* Rest.repository("kept", { "a.json": "{}\n" })
      const kept = (path: string, options?: Rest.RestRequest) =>
        Effect.map(Rest.get(path, options), ({ headers }) => headers.get("cache-control"))
      const minute = "max-age=60, s-maxage=60"
      assert.strictEqual(yield* kept("/repos/local/kept"), `private, ${minute}`)
      assert.strictEqual(yield* kept("/repos/local/kept", { token: null }), `public, ${minute}`)
      assert.isNull(yield* kept("/repos/local/kept/contents/none"))
      assert.strictEqual(yield* kept("/rate_limit"), "no-cache")
      const raw = yield* Rest.get("/raw/local/kept/main/a.json")
      assert.match(raw.headers.get("vary")!, /Authorization/)
    })
  )

  it.effect("addresses follow the name by which the host is asked, where it can be one", () =>
    Effect.gen(function* () {
      const { token, url } = yield* HostServer
      yield* Rest.repository("named", { "a.json": "{}\n" })
      const asked = (host: string) =>
        Effect.promise(
          () =>
            new Promise<readonly [number | undefined, Rest.Json]>((resolve, reject) => {
              const headers = {
                host,
                authorization: `Bearer ${token}`,
                "user-agent": "test",
                connection: "close"
              }
              nodeRequest(`${url}/repos/local/named`, { headers }, (answer) => {
                let text = ""
                answer
                  .on("data", (piece) => {
                    text += piece
                  })
                  .on("end", () => resolve([answer.statusCode, JSON.parse(text)]))
              })
                .on("error", reject)
                .end()
            })
        )
      const [status, known] = yield* asked("api.localhost:81")
      assert.deepStrictEqual([status, known.clone_url], [200, "http://api.localhost:81/local/named.git"])
      for (const host of ["localhost:99999", "127.0.0.999", "xn--.localhost"]) {
        const [answered, body] = yield* asked(host)
        assert.deepStrictEqual([answered, body.clone_url], [200, "http://localhost/local/named.git"])
      }
    })
  )

  it.effect("pages of other origins may ask, with the headers that GitHub takes", () =>
    Effect.gen(function* () {
      const { api } = yield* HostServer
      const preflight = yield* Effect.promise(() =>
        fetch(`${api}/repos/local/x/contents/y`, {
          method: "OPTIONS",
          headers: { origin: "https://elsewhere.example", "access-control-request-method": "PUT" }
        })
      )
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers.get("access-control-allow-origin"), "*")
      assert.strictEqual(preflight.headers.get("access-control-max-age"), "86400")
      const allowed = preflight.headers.get("access-control-allow-headers")!.toLowerCase()
      for (const name of ["authorization", "content-type", "if-none-match"]) assert.include(allowed, name)
      assert.notInclude(allowed, "x-github-api-version")
      const answer = yield* Rest.get("/rate_limit", { headers: { origin: "https://elsewhere.example" } })
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
      assert.isNull(answer.headers.get("access-control-allow-credentials"))
      const exposed = answer.headers.get("access-control-expose-headers")!
      for (const name of [
        "ETag",
        "Link",
        "Location",
        "Retry-After",
        "X-RateLimit-Remaining",
        "X-GitHub-Request-Id"
      ]) {
        assert.include(exposed.split(", "), name)
      }
      assert.notInclude(exposed, "Date")
    })
  )

  it.effect("versions, agents, bodies and slashes are checked as on GitHub", () =>
    Effect.gen(function* () {
      const { url } = yield* HostServer
      yield* Rest.repository("judged", { "a.json": "{}\n" })
      const version = { headers: { "x-github-api-version": "1999-01-01" } }
      assert.strictEqual((yield* Rest.get("/rate_limit", version)).status, 400)
      const agentless = yield* Effect.async<number>((resume) => {
        nodeRequest(`${url}/rate_limit`, (answer) => {
          answer.resume()
          resume(Effect.succeed(answer.statusCode!))
        }).end()
      })
      assert.strictEqual(agentless, 403)
      const at = "/repos/local/judged/contents/b.json"
      assert.deepStrictEqual(said(yield* Rest.request("PUT", at, { body: "{" })), [
        400,
        "Problems parsing JSON"
      ])
      assert.deepStrictEqual(said(yield* Rest.request("PUT", at, { body: "[]" })), [
        400,
        "Body should be a JSON object"
      ])
      assert.deepStrictEqual(
        said(yield* Rest.request("PUT", at, { body: new Uint8Array([0x7b, 0xff, 0x7d]) })),
        [400, "Problems parsing JSON"]
      )
      const odd = { message: "\uFFFD", content: "" }
      assert.strictEqual((yield* Rest.request("PUT", at, { body: odd })).body.commit?.message, "\uFFFD")
      assert.strictEqual((yield* Rest.get("/repos/local/judged/")).status, 404)
      assert.strictEqual((yield* Rest.get("/repos/local/judged/branches/")).status, 404)
      assert.strictEqual((yield* Rest.request("PUT", "/repos/local/judged", { body: {} })).status, 404)
      const both = yield* Rest.request("PUT", at, { body: {} })
      assert.deepStrictEqual(said(both), [422, `Invalid request.\n\n"content", "message" weren't supplied.`])
      const huge = yield* Rest.request("PUT", at, { body: { message: "m", content: "A".repeat(300_000) } })
      assert.strictEqual(huge.status, 413)
    })
  )

  it.effect("REST and GraphQL work at both addresses, and links use the requested one", () =>
    Effect.gen(function* () {
      const { url } = yield* HostServer
      yield* Rest.repository("twice", { "a.json": "{}\n" })
      const read = (base: string) =>
        Effect.promise(() =>
          fetch(`${base}/repos/local/twice`, { headers: { "user-agent": "t", connection: "close" } }).then(
            (answer) => answer.json()
          )
        )
      const root: Rest.Json = yield* read(url)
      const below: Rest.Json = yield* read(`${url}/api/v3`)
      assert.strictEqual(root.url, `${url}/repos/local/twice`)
      assert.strictEqual(below.url, `${url}/api/v3/repos/local/twice`)
      const query = { body: { query: "{ viewer { login } }" } }
      assert.strictEqual((yield* Rest.request("POST", "/api/graphql", query)).body.data.viewer.login, "local")
    })
  )

  it.effect("HEAD responds as GET without a body; the newer version lacks fields that GitHub removed", () =>
    Effect.gen(function* () {
      const head = yield* Rest.request("HEAD", "/rate_limit")
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      assert.property((yield* Rest.get("/rate_limit")).body, "rate")
      const newer = yield* Rest.get("/api/v3/rate_limit", {
        headers: { "x-github-api-version": "2026-03-10" }
      })
      assert.notProperty(newer.body, "rate")
      assert.isNumber(newer.body.resources.core.remaining)
      yield* Rest.repository("newer")
      const dropped = [
        ["/", "authorizations_url"],
        ["/repos/local/newer", "has_downloads"]
      ] as const
      for (const [at, name] of dropped) {
        assert.property((yield* Rest.get(at)).body, name)
        const { body } = yield* Rest.get(at, { headers: { "x-github-api-version": "2026-03-10" } })
        assert.notProperty(body, name)
      }
    })
  )

  it.effect("a client that sends a large body and asks to close the connection sees the refusal", () =>
    Effect.gen(function* () {
      const { token, url } = yield* HostServer
      const body = JSON.stringify({ message: "m", content: "A".repeat(150_000) })
      const head = [
        "PUT /api/v3/repos/local/nowhere/contents/a HTTP/1.1",
        "host: 127.0.0.1",
        "user-agent: sender",
        `authorization: Bearer ${token}`,
        "connection: close",
        `content-length: ${body.length}`
      ]
      // It reads the reply in pieces after sending everything. A connection that closes meanwhile fails its writes.
      const answer = yield* Effect.async<string>((resume) => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1")
        let text = ""
        const send = (from: number) => {
          if (from >= body.length) return void socket.resume()
          socket.write(body.slice(from, from + 30_000), () => setTimeout(send, 30, from + 30_000))
        }
        socket.pause()
        socket.on("error", (error) => resume(Effect.succeed(String(error))))
        socket.write(`${head.join("\r\n")}\r\n\r\n`, () => setTimeout(send, 30, 0))
        socket.on("data", (chunk) => {
          text += chunk
        })
        socket.on("end", () => resume(Effect.succeed(text)))
      })
      assert.match(answer, /^HTTP\/1\.1 404 /)
      assert.match(answer, /"message":"Not Found"/)
    })
  )
})
