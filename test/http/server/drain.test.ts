import { HttpServerResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Mount } from "chainstore/http"
import { Deferred, Duration, Effect, Exit, Fiber, Ref, Scope } from "effect"
import { post, raw, request, running } from "./RunningServer.js"

const refund = post("/v1/chains/ticket-triage/execute", '{"id":1,"kind":"refund"}')

const gated = Effect.gen(function* () {
  const started = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const interrupted = yield* Ref.make(false)
  const slow = yield* Mount.make(
    { name: "slow", paths: ["/slow"] },
    Deferred.succeed(started, undefined).pipe(
      Effect.zipRight(Deferred.await(gate)),
      Effect.as(HttpServerResponse.text("done")),
      Effect.onInterrupt(() => Ref.set(interrupted, true))
    )
  )
  return { started, gate, interrupted, slow }
})

it.scopedLive("completes accepted requests, also pipelined ones, then closes its connections", () =>
  Effect.gen(function* () {
    const { gate, slow, started } = yield* gated
    const scope = yield* Scope.make()
    const { port } = yield* Scope.extend(running({}, [slow]), scope)
    const busy = yield* raw(port)
    const idle = yield* raw(port)
    const active = yield* raw(port)
    idle.send(request("GET", "/healthz"))
    assert.strictEqual((yield* idle.answer()).headers["connection"], "keep-alive")
    busy.send(request("GET", "/slow") + refund)
    yield* Deferred.await(started)
    const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
    active.send(request("GET", "/readyz"))
    const notReady = yield* active.answer()
    assert.strictEqual(notReady.status, 503)
    assert.strictEqual(notReady.headers["connection"], "close")
    yield* active.closed
    yield* idle.closed
    assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.scoped(raw(port)))))
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual((yield* busy.answer()).body, "done")
    const pipelined = yield* busy.answer()
    assert.include(pipelined.body, "refund issued")
    yield* busy.closed
    yield* Fiber.join(closing)
  })
)

it.scopedLive("cuts and interrupts what does not end in time", () =>
  Effect.gen(function* () {
    const { interrupted, slow, started } = yield* gated
    const scope = yield* Scope.make()
    const drain = { grace: Duration.millis(10), timeout: Duration.millis(50) }
    const { port } = yield* Scope.extend(running({ drain }, [slow]), scope)
    const stuck = yield* raw(port)
    stuck.send(request("GET", "/slow"))
    yield* Deferred.await(started)
    yield* Scope.close(scope, Exit.void)
    yield* stuck.closed
    yield* Effect.repeat(Ref.get(interrupted), { until: (seen) => seen })
  })
)
