import { writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { exchangeProblems } from "../../support/host/Conformance.js"
import { port, serve } from "../../support/service/ServiceProcess.js"

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "host-alone-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

it.scopedLive(
  "a standalone host applies the limits and faults of its environment",
  () =>
    Effect.gen(function* () {
      const faults = join(yield* temporary, "faults.json")
      const running = yield* serve(
        { CHAINSTORE_HOST_FAULTS: faults, CHAINSTORE_HOST_LIMITS: `{"core":6,"status":429}` },
        [],
        "host"
      )
      const url = `http://127.0.0.1:${yield* port(running)}`
      const ask = (path: string) =>
        Effect.promise(async () => {
          const answer = await fetch(`${url}${path}`, { headers: { "user-agent": "test" } })
          const headers = Object.fromEntries(answer.headers)
          const { status } = answer
          const text = await answer.text()
          const json = headers["content-type"]?.startsWith("application/json") === true
          const exchange = { method: "GET", url: path, status, headers, text: json ? text : undefined }
          assert.deepStrictEqual(exchangeProblems(exchange), [])
          return { status, remaining: headers["x-ratelimit-remaining"], text }
        })
      assert.deepInclude(yield* ask("/zen"), { status: 200, remaining: "5" })
      const rule = { path: "/rate_limit", fault: { _tag: "Error", status: 502, when: "before" } }
      writeFileSync(faults, JSON.stringify({ rules: [rule] }))
      yield* ask("/rate_limit").pipe(
        Effect.repeat({ until: ({ status }) => status === 502, schedule: Schedule.spaced("50 millis") })
      )
      writeFileSync(faults, "{}")
      yield* ask("/rate_limit").pipe(
        Effect.repeat({ until: ({ status }) => status === 200, schedule: Schedule.spaced("50 millis") })
      )
      for (let left = 4; left >= 0; left--) {
        assert.deepInclude(yield* ask("/zen"), { status: 200, remaining: String(left) })
      }
      const refused = yield* ask("/zen")
      assert.strictEqual(refused.status, 429)
      assert.match(refused.text, /API rate limit exceeded/)
    }),
  60_000
)

it.scopedLive(
  "invalid limits, and faults that are not a file, prevent the start",
  () =>
    Effect.forEach(
      [
        ["CHAINSTORE_HOST_LIMITS", `{"core":"many"}`],
        ["CHAINSTORE_HOST_FAULTS", `{"staleSeconds":2}`]
      ] as const,
      ([name, value]) =>
        Effect.gen(function* () {
          const { exit, out } = yield* serve({ [name]: value }, [], "host")
          assert.strictEqual(yield* Effect.promise(() => exit), 1)
          assert.include(out.errors, name)
        })
    ),
  60_000
)
