import { assert, layer } from "@effect/vitest"
import autocannon, { type Request } from "autocannon"
import { Effect } from "effect"
import { exchangeProblems } from "../support/host/Conformance.js"
import { HostServer, layer as host } from "../support/host/HostServer.js"
import * as Rest from "../support/host/Rest.js"

const mebibyte = 1024 * 1024

layer(host({ checked: false }), { timeout: 120_000 })("the host under load", (it) => {
  it.effect(
    "serves 64 connections for 30 seconds without an error, in constant memory",
    () =>
      Effect.gen(function* () {
        const { token, url } = yield* HostServer
        const files = Object.fromEntries(
          Array.from({ length: 500 }, (_, index) => [`data/${index}.json`, `{"_id":"${index}"}\n`])
        )
        yield* Rest.repository("load", files)
        const headers = { authorization: `Bearer ${token}`, "user-agent": "load" }
        const at = "/api/v3/repos/local/load"
        const query = JSON.stringify({
          query: `{ repository(owner: "local", name: "load") { object(expression: "main:data/7.json") { ... on Blob { text } } } }`
        })
        const requests: ReadonlyArray<Request> = [
          { method: "GET", path: `${at}/contents/data/1.json` },
          { method: "GET", path: `${at}/contents/data` },
          { method: "GET", path: `${at}/git/trees/main?recursive=1` },
          { method: "GET", path: "/raw/local/load/main/data/2.json" },
          { method: "POST", path: "/api/graphql", body: query },
          { method: "GET", path: `${at}/commits?per_page=1` }
        ]
        const found: Array<string> = []
        const checked = new Set<string>()
        /** Holds an answer against GitHub's descriptions, unless it was there before, word for word. */
        const check = (request: Request) => ({
          ...request,
          onResponse: (status: number, text: string, _: object, sent: Record<string, unknown> = {}) => {
            const headers = Object.fromEntries(
              Object.entries(sent).map(([name, value]) => [name.toLowerCase(), String(value)])
            )
            const key = [request.path, status, ...Object.keys(headers), text].join(" ")
            if (checked.has(key)) return
            checked.add(key)
            const { body: asked = "", method = "GET", path: url = "" } = request
            found.push(
              ...exchangeProblems({ method, url, requestBody: String(asked), status, headers, text })
            )
          }
        })
        const load = (much: { readonly duration: number } | { readonly amount: number }) =>
          Effect.promise(async () => {
            const result = await autocannon({
              url,
              connections: 64,
              ...much,
              timeout: 60,
              headers,
              requests: requests.map(check)
            })
            assert.deepStrictEqual([result.errors, result.timeouts, result.non2xx], [0, 0, 0])
            assert.deepStrictEqual(found, [])
            assert.strictEqual(checked.size, 6)
            return result.requests.total
          })
        // By number, not by time: a busy machine would not be warm yet.
        yield* load({ amount: 20_000 })
        const before = process.memoryUsage().rss
        const answered = yield* load({ duration: 30 })
        const after = process.memoryUsage().rss
        assert.isAbove(answered, 1000)
        assert.isBelow(after - before, 96 * mebibyte)
      }),
    120_000
  )
})
