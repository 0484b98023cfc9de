import { renameSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { defaultLimits } from "../../../src/http/console/Sessions.js"
import { ConsoleService, layer as service } from "../../support/browser/ConsoleService.js"
import { seed } from "../../support/browser/Seed.js"
import { ask, shop } from "./Client.js"

const lines: Array<string> = []
const capture = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ cause, message }) => {
    lines.push(JSON.stringify([message, String(cause)]))
  })
)

const seeded = service({ log: capture, sessions: { ...defaultLimits, maximum: 3 } }).pipe(
  Layer.tap((context) =>
    Effect.flatMap(ConsoleService, ({ store }) => seed(store)).pipe(Effect.provide(context), Effect.orDie)
  )
)

const signIn = (headers: Readonly<Record<string, string>> = {}, cookie?: string, token?: string) =>
  Effect.flatMap(ConsoleService, (service) =>
    ask(service.url, "POST", "/api/login", {
      body: { ...shop, token: token ?? service.token },
      headers,
      cookie
    })
  )

const collections = (cookie: string | undefined, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(ConsoleService, ({ url }) => ask(url, "GET", "/api/collections", { cookie, headers }))

layer(seeded, { timeout: 60_000 })("the console's security", (it) => {
  it.effect("the cookie is HttpOnly, strict, of this port, and 256 random bits", () =>
    Effect.gen(function* () {
      const { port } = yield* ConsoleService
      const [set] = (yield* signIn()).headers["set-cookie"] as ReadonlyArray<string>
      const [pair = "", ...flags] = set!.split(/;\s*/)
      const [name, value = ""] = pair.split("=")
      assert.strictEqual(name, `chainstore_session_${port}`)
      assert.strictEqual(Buffer.from(value, "base64url").length, 32)
      assert.sameMembers(
        flags.map((flag) => flag.toLowerCase()),
        ["httponly", "samesite=strict", "path=/"]
      )
      const again = (yield* signIn()).cookie
      assert.notStrictEqual(again, pair)
    })
  )

  it.effect("a session cannot be fixed, and dies at sign-out", () =>
    Effect.gen(function* () {
      const { port, url } = yield* ConsoleService
      const planted = `chainstore_session_${port}=${"A".repeat(43)}`
      const answer = yield* signIn({}, planted)
      assert.notStrictEqual(answer.cookie, planted)
      assert.strictEqual((yield* collections(planted)).status, 401)
      const { cookie } = answer
      assert.strictEqual((yield* collections(cookie)).status, 200)
      const renewed = yield* signIn({}, cookie)
      assert.strictEqual((yield* collections(cookie)).status, 401)
      assert.strictEqual((yield* collections(renewed.cookie)).status, 200)
      const out = yield* ask(url, "POST", "/api/logout", { cookie: renewed.cookie })
      assert.strictEqual(out.status, 204)
      assert.strictEqual((yield* collections(renewed.cookie)).status, 401)
      assert.strictEqual((yield* ask(url, "POST", "/api/logout")).status, 204)
      assert.strictEqual((yield* collections(undefined)).status, 401)
    })
  )

  it.effect("foreign pages are refused: by Origin, by its absence on a write, and by fetch metadata", () =>
    Effect.gen(function* () {
      const { port, url } = yield* ConsoleService
      const { cookie } = yield* signIn()
      for (const origin of [
        "http://example.invalid",
        "null",
        `http://127.0.0.1:${port + 1}`,
        `https://127.0.0.1:${port}`,
        `http://localhost:${port}`
      ]) {
        assert.strictEqual((yield* signIn({ origin })).status, 403, origin)
        assert.strictEqual((yield* collections(cookie, { origin })).status, 403, origin)
        const restore = yield* ask(url, "POST", "/api/logout", { cookie, headers: { origin } })
        assert.strictEqual(restore.status, 403, origin)
      }
      assert.strictEqual((yield* collections(cookie)).status, 200)
      const bare = yield* ask(url, "POST", "/api/query", {
        cookie,
        bare: true,
        body: { collection: "products" }
      })
      assert.strictEqual(bare.status, 403)
      assert.strictEqual((yield* collections(cookie, { "sec-fetch-site": "cross-site" })).status, 403)
      assert.strictEqual((yield* collections(cookie, { "sec-fetch-site": "same-origin" })).status, 200)
    })
  )

  it.effect("another name for this machine is refused: DNS rebinding", () =>
    Effect.gen(function* () {
      const { port, url } = yield* ConsoleService
      for (const path of ["/", "/playground", "/api/session", "/api/collections"]) {
        const answer = yield* ask(url, "GET", path, { headers: { host: `rebound.example:${port}` } })
        assert.strictEqual(answer.status, 421, path)
      }
      const post = yield* signIn({
        host: `rebound.example:${port}`,
        origin: `http://rebound.example:${port}`
      })
      assert.strictEqual(post.status, 421)
    })
  )

  it.effect("a write must be JSON: no form of another page can send one", () =>
    Effect.gen(function* () {
      const { url } = yield* ConsoleService
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x"
      ]) {
        const answer = yield* signIn({ "content-type": type })
        assert.strictEqual(answer.status, 415, type)
      }
      assert.strictEqual((yield* signIn({ "content-encoding": "gzip" })).status, 415)
      const none = yield* ask(url, "POST", "/api/login", { headers: {} })
      assert.strictEqual(none.status, 415)
    })
  )

  it.effect("the quietest of too many sessions ends", () =>
    Effect.gen(function* () {
      const cookies: Array<string | undefined> = []
      for (let i = 0; i < 4; i++) cookies.push((yield* signIn()).cookie)
      const statuses = yield* Effect.forEach(cookies, (cookie) =>
        Effect.map(collections(cookie), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [401, 200, 200, 200])
    })
  )

  it.effect("pages and API carry their headers", () =>
    Effect.gen(function* () {
      const { url } = yield* ConsoleService
      for (const path of ["/", "/playground"]) {
        const { headers, status } = yield* ask(url, "GET", path)
        assert.strictEqual(status, 200)
        const policy = String(headers["content-security-policy"])
        assert.include(policy, "default-src 'none'")
        assert.include(policy, "frame-ancestors 'none'")
        assert.include(policy, "connect-src 'self'")
        assert.notMatch(policy, /unsafe|\*|http/)
        assert.strictEqual(headers["x-content-type-options"], "nosniff")
        assert.strictEqual(headers["referrer-policy"], "no-referrer")
        assert.strictEqual(headers["x-frame-options"], "DENY")
      }
      const setup = yield* ask(url, "GET", "/api/session")
      assert.strictEqual(setup.headers["cache-control"], "no-store")
      assert.isUndefined(setup.headers["access-control-allow-origin"])
    })
  )

  it.effect("no response names a directory of the server", () =>
    Effect.gen(function* () {
      const { repository, url } = yield* ConsoleService
      const { cookie } = yield* signIn()
      for (const part of ["refs", "objects", "HEAD", ""]) {
        const place = join(repository, part)
        renameSync(place, `${repository}.aside`)
        for (const [path, body] of [
          ["/api/query", { collection: "products", at: "main~1" }],
          ["/api/document", { collection: "products", id: "p001" }],
          ["/api/history", { collection: "products" }],
          ["/api/login", shop]
        ] as const) {
          const { text } = yield* ask(url, "POST", path, { body, cookie })
          assert.notInclude(text, dirname(dirname(repository)), `${part} ${path}`)
        }
        renameSync(`${repository}.aside`, place)
      }
      assert.strictEqual((yield* collections(cookie)).status, 200)
    })
  )

  it.effect("failed sign-ins are limited, and no log line holds a token", () =>
    Effect.gen(function* () {
      const { token } = yield* ConsoleService
      const secret = "ghp_averysecretlookingtoken"
      const statuses: Array<number> = []
      for (let i = 0; i < 12; i++) {
        const answer = yield* signIn({}, undefined, secret)
        statuses.push(answer.status)
        if (answer.status === 429) assert.match(String(answer.headers["retry-after"]), /^\d+$/)
        assert.notInclude(answer.text, secret)
      }
      assert.deepStrictEqual([...new Set(statuses)], [401, 429])
      // Other clients at the same address continue to use their tokens.
      assert.strictEqual((yield* signIn({}, undefined, token)).status, 200)
      assert.strictEqual((yield* signIn({}, undefined, `${secret}2`)).status, 429)
      const { url } = yield* ConsoleService
      const demo = yield* ask(url, "POST", "/api/login", { body: { api: "embedded", repo: "local/demo" } })
      assert.strictEqual(demo.status, 200)
      const log = lines.join("\n")
      assert.isAbove(lines.length, 5)
      assert.notInclude(log, secret)
      assert.notInclude(log, token)
    })
  )
})
