import { FetchHttpClient } from "@effect/platform"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { makeServer } from "../../../support/github/InProcess.js"
import { token } from "../../../support/github/Remote.js"
import { putFile } from "../../../support/singleFile.js"

/** What a page may send to GitHub: https://docs.github.com/rest/using-the-rest-api/using-cors-and-jsonp-to-make-cross-origin-requests */
const allowed = new Set(["accept", "authorization", "content-type", "if-none-match"])

/** The client as a page loads it, and what it gave to `fetch`. */
const inPage = Effect.gen(function* () {
  vi.resetModules()
  vi.stubGlobal("document", {})
  const GitHub = yield* Effect.promise(() => import("../../../../src/store/remote/github/GitHub.js"))
  // What follows is the server's too, which is no page.
  vi.unstubAllGlobals()
  const server = yield* makeServer()
  const sent: Array<{ readonly names: ReadonlyArray<string>; readonly init: object }> = []
  const pageFetch: typeof globalThis.fetch = (input, init) => {
    sent.push({ names: [...new Headers(init?.headers).keys()], init: { ...init } })
    return server.fetch(input, init)
  }
  const remote = yield* GitHub.make({
    repo: server.repo,
    apiUrl: server.url,
    rawUrl: server.raw,
    token: Redacted.make(token)
  }).pipe(
    Effect.provide(Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, pageFetch)))
  )
  return { remote, sent, server }
})

describe("the client in a page", () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  it.scopedLive("reads and writes text of every script", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* inPage
      const text = "grüße, κόσμε, 😀 ".repeat(20)
      const content = new TextEncoder().encode(text)
      server.commit("main", [{ _tag: "Put", path: "a.json", content }])
      const made = yield* putFile(remote, "main", "b.json", content, Option.none(), {
        message: "m"
      })
      const stored = server.git(["cat-file", "blob", Option.getOrThrow(made.blob)])
      assert.strictEqual(stored, text)
      const read = Option.getOrThrow(yield* remote.snapshot("main").file("a.json"))
      assert.strictEqual(new TextDecoder().decode(read.content), text)
    })
  )

  it.scopedLive("sends no header that CORS refuses, and passes the browser's own cache by", () =>
    Effect.gen(function* () {
      const { remote, sent, server } = yield* inPage
      const content = new TextEncoder().encode("1")
      server.commit("main", [{ _tag: "Put", path: "a.json", content }])
      const first = Option.getOrThrow(yield* remote.snapshot("main").file("a.json"))
      yield* remote.snapshot("main").file("a.json", { cached: Option.some(first) })
      yield* putFile(remote, "main", "b.json", content, Option.none(), {
        message: "m"
      })
      assert.strictEqual(server.seen[1]?.status, 304)
      assert.isAtLeast(sent.length, 3)
      for (const { init, names } of sent) {
        assert.deepStrictEqual(
          names.filter((name) => !allowed.has(name)),
          []
        )
        assert.deepInclude(init, { cache: "no-store", redirect: "follow" })
      }
      assert.deepStrictEqual(server.problems, [])
    })
  )
})
