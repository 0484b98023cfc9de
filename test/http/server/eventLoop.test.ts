import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  hostile,
  hostileMerges,
  hostileToHost,
  longestHold,
  type Shape
} from "../../support/service/Hostile.js"
import { port, serve } from "../../support/service/ServiceProcess.js"
import { everyNth } from "../../support/vitest/caseSelection.js"
import { ask } from "../console/Client.js"

/** Many times the delay on an idle machine, but less than any quadratic computation. */
const bound = 1500

/** The maximum length of a reply to a body of 1 MiB. */
const largest = 4 * 1024 * 1024

it.scopedLive(
  "no body of up to 1 MiB holds the event loop",
  () =>
    Effect.gen(function* () {
      const token = "t".repeat(40)
      const service = yield* serve({ CHAINSTORE_HOST_TOKEN: token })
      const url = `http://127.0.0.1:${yield* port(service)}`
      const held: Array<string> = []
      const headers = { authorization: `Bearer ${token}`, "user-agent": "test" }
      const head = yield* ask(url, "GET", "/api/v3/repos/local/demo/git/ref/heads/main", { headers })
      const { cookie } = yield* ask(url, "POST", "/api/login", {
        body: { api: "embedded", repo: "local/demo", token }
      })
      const send = ({ body, name, path }: Shape) =>
        Effect.gen(function* () {
          yield* longestHold(url)
          const answer = yield* ask(url, "POST", path, { body, cookie, headers })
          assert.isBelow(answer.status, 500, `${name}: ${answer.text.slice(0, 200)}`)
          assert.isBelow(answer.text.length, largest, name)
          return yield* longestHold(url)
        })
      const merges = yield* hostileMerges((path, body) => ask(url, "POST", path, { body, cookie, headers }))
      for (const shape of everyNth(6, [...hostile, ...hostileToHost(head.body.object.sha), ...merges])) {
        const first = yield* send(shape)
        // One delay may be caused by other processes, two in a row are ours.
        const least = first > bound ? Math.min(first, yield* send(shape)) : first
        if (least > bound) held.push(`${shape.name}: ${Math.round(least)} ms`)
      }
      assert.deepStrictEqual(held, [])
    }),
  120_000
)

it.scopedLive("the monitor shows how long the event loop was held", () =>
  Effect.gen(function* () {
    const service = yield* serve({
      NODE_OPTIONS: `--import ${new URL("../../support/service/Busy.mjs", import.meta.url)}`
    })
    const url = `http://127.0.0.1:${yield* port(service)}`
    yield* longestHold(url)
    service.child.kill("SIGUSR2")
    let longest = 0
    while (longest < 300) longest = yield* longestHold(url)
    assert.isAtLeast(longest, 300)
    const { text } = yield* ask(url, "GET", "/metrics")
    for (const name of ["max", "mean", "p50", "p99"]) {
      assert.match(text, new RegExp(`^nodejs_eventloop_lag_${name}_seconds [0-9.e-]+$`, "m"))
    }
  })
)
