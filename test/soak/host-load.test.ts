import { assert, layer } from "@effect/vitest"
import autocannon from "autocannon"
import { Effect } from "effect"
import { HostServer, layer as host } from "../support/host/HostServer.js"
import * as Rest from "../support/host/Rest.js"

const mebibyte = 1024 * 1024

layer(host({ judged: false }), { timeout: 120_000 })("the host under load", (it) => {
  it.effect(
    "answers 64 connections for 30 seconds without an error, in flat memory",
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
        const load = (much: { readonly duration: number } | { readonly amount: number }) =>
          Effect.promise(async () => {
            const result = await autocannon({
              url,
              connections: 64,
              ...much,
              timeout: 60,
              headers,
              requests: [
                { method: "GET", path: `${at}/contents/data/1.json` },
                { method: "GET", path: `${at}/contents/data` },
                { method: "GET", path: `${at}/git/trees/main?recursive=1` },
                { method: "GET", path: "/raw/local/load/main/data/2.json" },
                { method: "POST", path: "/api/graphql", body: query },
                { method: "GET", path: `${at}/commits?per_page=1` }
              ]
            })
            assert.deepStrictEqual([result.errors, result.timeouts, result.non2xx], [0, 0, 0])
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
