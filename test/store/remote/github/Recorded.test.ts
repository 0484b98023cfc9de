import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import * as Api from "../../../../src/store/remote/github/api/Api.js"
import { makeClient } from "../../../../src/store/remote/github/client/Client.js"
import { resolveOptions } from "../../../../src/store/remote/github/client/Options.js"
import { classify } from "../../../../src/store/remote/github/client/ReplyClassification.js"
import * as GitHub from "../../../../src/store/remote/github/GitHub.js"

interface Recorded {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly response: unknown
  readonly headers: { readonly [name: string]: string | number }
}

const require = createRequire(import.meta.url)

/** Exchanges with GitHub as they were recorded by its own people. */
const recorded = (scenario: string): ReadonlyArray<Recorded> => {
  const file = require.resolve("@octokit/fixtures/package.json")
  return JSON.parse(
    readFileSync(
      file.replace("package.json", `scenarios/api.github.com/${scenario}/normalized-fixture.json`),
      "utf8"
    )
  )
}

/** A transport that plays a recording, answer by answer. */
const player = (
  exchanges: ReadonlyArray<Recorded>,
  seen: Array<{ url: string; token: string | undefined }> = []
) => {
  let at = 0
  return HttpClient.make((request) =>
    Effect.sync(() => {
      const exchange = exchanges[at++]!
      seen.push({ url: request.url, token: request.headers["authorization"] })
      const body =
        typeof exchange.response === "string" ? exchange.response : JSON.stringify(exchange.response)
      const headers = Object.fromEntries(
        Object.entries(exchange.headers)
          .filter(([name]) => !["content-length", "content-encoding", "transfer-encoding"].includes(name))
          .map(([name, value]) => [name, String(value)])
      )
      return HttpClientResponse.fromWeb(
        request,
        new Response([204, 304].includes(exchange.status) ? null : body, { status: exchange.status, headers })
      )
    })
  )
}

const clientOf = (repo: string, exchanges: ReadonlyArray<Recorded>) =>
  Effect.flatMap(resolveOptions({ repo, token: Redacted.make("t") }), makeClient).pipe(
    Effect.provideService(HttpClient.HttpClient, player(exchanges))
  )

describe("GitHub's recorded exchanges", () => {
  it.live("a file that is made", () =>
    Effect.gen(function* () {
      const client = yield* clientOf("octokit-fixture-org/create-file", recorded("create-file"))
      const reply = yield* client.call(Api.putContent, {
        path: { path: "test.txt" },
        body: { message: "create test.txt", branch: "main", content: "VGVzdCBjb250ZW50" }
      })
      const made = Option.getOrThrow(reply.value)
      assert.strictEqual(made.content?.sha, "3f3f005b29247e51a4f4d6b8ce07b67646cd6074")
      assert.deepStrictEqual(made.commit.parents, [])
      assert.strictEqual((yield* client.limits.known)[0]?.remaining, 4999)
      assert.strictEqual(
        (yield* client.limits.known)[0]?.reset,
        1_507_651_200,
        "seconds, whatever the recording says"
      )
    })
  )

  it.live("a directory, and the bytes of a file", () =>
    Effect.gen(function* () {
      const client = yield* clientOf("octokit-fixture-org/hello-world", recorded("get-content"))
      const reply = yield* client.call(Api.getContent, { path: { path: "" } })
      const entries = Option.getOrThrow(reply.value)
      assert.isTrue(Array.isArray(entries))
      assert.isDefined(reply.etag)
    })
  )

  it.live("a repository", () =>
    Effect.gen(function* () {
      const client = yield* clientOf("octokit-fixture-org/hello-world", recorded("get-repository"))
      const reply = yield* client.call(Api.getRepository, { path: {} })
      assert.strictEqual(Option.getOrThrow(reply.value).full_name, "octokit-fixture-org/hello-world")
    })
  )

  it.live("refs, listed, made, moved and deleted", () =>
    Effect.gen(function* () {
      const exchanges = recorded("git-refs")
      for (const exchange of exchanges) {
        const client = yield* clientOf("octokit-fixture-org/git-refs", [exchange])
        const name = { path: { ref: "heads/test" } }
        const sha = "0".repeat(40) as never
        if (exchange.method === "get" && Array.isArray(exchange.response)) {
          assert.isTrue(Option.isSome((yield* client.call(Api.listMatchingRefs, name)).value))
        } else if (exchange.method === "get") {
          assert.isTrue(Option.isSome((yield* client.call(Api.getRef, name)).value))
        } else if (exchange.method === "post") {
          assert.isTrue(
            Option.isSome((yield* client.call(Api.createRef, { path: {}, body: { ref: "x", sha } })).value)
          )
        } else if (exchange.method === "patch") {
          assert.isTrue(
            Option.isSome((yield* client.call(Api.updateRef, { ...name, body: { sha, force: false } })).value)
          )
        } else {
          assert.strictEqual((yield* client.call(Api.deleteRef, name)).status, 204)
        }
      }
      assert.isAtLeast(exchanges.length, 4)
    })
  )

  it("a refusal", () => {
    const [exchange] = recorded("errors")
    const failure = classify("labels", exchange!.status, {}, JSON.stringify(exchange!.response), 0)
    assert.strictEqual(failure.kind, "Invalid")
    assert.strictEqual(failure.message, "Validation Failed")
  })

  it.live("a renamed repository is followed on its own origin, with the token; nowhere else", () =>
    Effect.gen(function* () {
      const exchanges = recorded("rename-repository").filter((exchange) =>
        [200, 301, 307].includes(exchange.status)
      )
      const moved = exchanges.findIndex((exchange) => exchange.status === 301)
      assert.isAtLeast(moved, 0)
      const seen: Array<{ url: string; token: string | undefined }> = []
      const target = recorded("get-repository")[0]!
      const remote = yield* GitHub.make({
        repo: "octokit-fixture-org/rename-repository",
        token: Redacted.make("t")
      }).pipe(
        Effect.provideService(
          HttpClient.HttpClient,
          player([exchanges[moved]!, target, { ...target, status: 404, response: {} }], seen)
        )
      )
      const probe = yield* remote.probe("main")
      assert.strictEqual(probe.repository, "present")
      assert.strictEqual(seen[0]!.token, "Bearer t")
      assert.strictEqual(new URL(seen[1]!.url).origin, "https://api.github.com")
      const elsewhere: typeof seen = []
      const lured = yield* GitHub.make({ repo: "o/r", token: Redacted.make("t") }).pipe(
        Effect.provideService(
          HttpClient.HttpClient,
          player(
            [{ ...exchanges[moved]!, headers: { location: "https://evil.example/repositories/1" } }, target],
            elsewhere
          )
        )
      )
      assert.strictEqual((yield* Effect.flip(lured.probe("main")))._tag, "RemoteError")
      assert.strictEqual(elsewhere.length, 1, "nothing is sent there, with or without a token")
    })
  )
})
