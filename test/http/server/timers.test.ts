import { HttpServerResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Mount } from "chainstore/http"
import { Duration, Effect } from "effect"
import { raw, request, running } from "./RunningServer.js"

const triage = "/v1/chains/ticket-triage/execute"
const refund = '{"id":1,"kind":"refund"}'

const aMonth = Duration.days(31)

for (const [name, given] of [
  ["infinite", Duration.infinity],
  ["longer than a timer of Node can wait", aMonth],
  ["of a fraction of a millisecond", Duration.nanos(5_000_000_500_000n)]
] as const) {
  it.scopedLive(`a limit of time that is ${name} is one`, () =>
    Effect.gen(function* () {
      const slow = yield* Mount.make(
        { name: "slow", paths: ["/slow"], timeout: given },
        Effect.delay(Effect.succeed(HttpServerResponse.text("done")), "20 millis")
      )
      const { port } = yield* running(
        {
          limits: { maxBytes: 1000, timeoutMillis: Duration.toMillis(given) },
          handlerTimeout: given,
          headersTimeout: given,
          idleTimeout: given
        },
        [slow]
      )
      const connection = yield* raw(port)
      connection.send(
        request("POST", triage, {
          "content-type": "application/json",
          "content-length": String(refund.length)
        })
      )
      yield* Effect.sleep("20 millis")
      connection.send(refund)
      assert.strictEqual((yield* connection.answer()).status, 200)
      connection.send(request("GET", "/slow"))
      assert.strictEqual((yield* connection.answer()).body, "done")
    })
  )
}
