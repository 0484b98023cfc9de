import { rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { assert, it, layer } from "@effect/vitest"
import { Effect, Fiber, Redacted, Stream } from "effect"
import * as Reply from "../../../src/http/host/reply/Reply.js"
import * as ConditionalReply from "../../../src/http/host/request/ConditionalReply.js"
import type { HostCall } from "../../../src/http/host/request/HostCall.js"
import * as ReplyCache from "../../../src/http/host/request/ReplyCache.js"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

it("replies are cached for their key alone, within the size of the cache", () => {
  const cache = ReplyCache.make(200_000)
  const reply = Reply.make(200, {}, "x".repeat(2_000))
  for (let index = 0; index < 100; index++) cache.set(`/${index}`, "key", "etag", reply)
  assert.isUndefined(cache.get("/0", "key"))
  assert.strictEqual(cache.get("/99", "key")?.reply.body, reply.body)
  assert.isUndefined(cache.get("/99", "another"))
  const kept = Array.from({ length: 100 }, (_, index) => cache.get(`/${index}`, "key")).filter(Boolean)
  assert.isAtMost(kept.length * 5_000, 200_000)
  cache.set("/large", "key", "etag", Reply.make(200, {}, new Uint8Array(150_000)))
  cache.set("/stream", "key", "etag", Reply.make(200, {}, Stream.make(new Uint8Array(1))))
  assert.isUndefined(cache.get("/large", "key"))
  assert.isUndefined(cache.get("/stream", "key"))
  assert.isDefined(cache.get("/99", "key"))
})

const callOf = (replyCache: ReplyCache.ReplyCache, url: string) =>
  ({
    host: { replyCache },
    links: { api: "http://localhost/api/v3" },
    media: "json",
    principal: { id: "somebody" },
    request: { url, headers: {} },
    version: "2022-11-28"
  }) as unknown as HostCall

it.effect("concurrent requests make a reply once, also if the first one is interrupted", () =>
  Effect.gen(function* () {
    const call = callOf(ReplyCache.make(200_000), "/large")
    let runs = 0
    const open = yield* Effect.makeLatch()
    const make = Effect.suspend(() => {
      runs++
      return Effect.as(open.await, Reply.okJson({ runs }))
    })
    const asked = ConditionalReply.cached(call, "key", make)
    const first = yield* Effect.fork(asked)
    const rest = yield* Effect.fork(
      Effect.all(
        Array.from({ length: 20 }, () => asked),
        { concurrency: 20 }
      )
    )
    // All of them have asked before the first one is interrupted.
    yield* Effect.repeatN(Effect.yieldNow(), 100)
    assert.strictEqual(runs, 1)
    yield* Fiber.interrupt(first)
    yield* Effect.repeatN(Effect.yieldNow(), 100)
    yield* open.open
    const replies = yield* Fiber.join(rest)
    assert.strictEqual(runs, 2)
    assert.deepStrictEqual(new Set(replies.map(({ body }) => body)), new Set([JSON.stringify({ runs: 2 })]))
    assert.strictEqual(call.host.replyCache.making.size(), 0)
  })
)

const other = {
  token: Redacted.make("another-token"),
  login: "other",
  grants: [{ repository: "local/*", access: "read" as const }]
}

layer(host({ tokens: [other] }), { timeout: 60_000 })("what is remembered", (it) => {
  it.effect("is served until it is outdated", () =>
    Effect.gen(function* () {
      yield* Rest.repository("memory", { "data/a.json": "1\n", "data/b.json": "1\n" })
      const file = "/repos/local/memory/contents/data/a.json"
      const first = yield* Rest.get(file)
      const again = yield* Rest.get(file)
      assert.deepStrictEqual(again.body, first.body)
      assert.strictEqual(again.headers.get("etag"), first.headers.get("etag"))
      const directory = yield* Rest.get("/repos/local/memory/contents/data")
      const log = yield* Rest.get("/repos/local/memory/commits")
      const put = yield* Rest.request("PUT", file, {
        body: { message: "two", content: Rest.base64("2\n"), sha: first.body.sha }
      })
      assert.strictEqual(put.status, 200)
      const after = yield* Rest.get(file)
      assert.strictEqual(after.body.content, "Mgo=\n")
      assert.notStrictEqual(after.headers.get("etag"), first.headers.get("etag"))
      const listed = yield* Rest.get("/repos/local/memory/contents/data")
      assert.notDeepEqual(listed.body[0], directory.body[0])
      assert.deepStrictEqual(listed.body[1], directory.body[1])
      assert.strictEqual((yield* Rest.get("/repos/local/memory/commits")).body.length, log.body.length + 1)
    })
  )

  it.effect("depends on the token, the media type and the address", () =>
    Effect.gen(function* () {
      yield* Rest.repository("forms", { "a.json": "1\n" })
      const file = "/repos/local/forms/contents/a.json"
      const tag = (options?: Rest.RestRequest) =>
        Effect.map(Rest.get(file, options), ({ headers }) => headers.get("etag"))
      const raw = { headers: { accept: "application/vnd.github.raw" } }
      const tags = [yield* tag(), yield* tag({ token: "another-token" }), yield* tag(raw)]
      assert.strictEqual(new Set(tags).size, 3)
      assert.strictEqual((yield* Rest.get(file, raw)).text, "1\n")
      const { api, token, url } = yield* HostServer
      const asked = (base: string) =>
        Effect.promise(() =>
          fetch(`${base}${file}`, { headers: { authorization: `Bearer ${token}` } }).then(
            (answer) => answer.json() as Promise<Rest.Json>
          )
        )
      assert.isTrue((yield* asked(url)).url.startsWith(`${url}/repos/`))
      assert.isTrue((yield* asked(api)).url.startsWith(`${api}/repos/`))
    })
  )

  it.effect("is not served without access, and is removed with its repository", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      yield* Rest.repository("gone", { "a.json": "1\n" }, { private: true })
      const file = "/repos/local/gone/contents/a.json"
      assert.strictEqual((yield* Rest.get(file)).status, 200)
      assert.strictEqual((yield* Rest.get(file, { token: null })).status, 404)
      assert.strictEqual((yield* Rest.get(file, { token: "wrong" })).status, 401)
      const at = join(directory, "repos/local/gone.git")
      yield* Effect.promise(() => rename(at, `${at}.away`))
      assert.strictEqual((yield* Rest.get(file)).status, 404)
      yield* Rest.repository("gone", { "a.json": "2\n" }, { private: true })
      assert.strictEqual((yield* Rest.get(file)).body.content, "Mgo=\n")
      yield* Effect.promise(() => rm(`${at}.away`, { recursive: true }))
    })
  )
})
