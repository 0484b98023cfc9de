import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { neverConnected } from "../../../src/domain/errors/NeverConnected.js"

const failed = (code: string) => Object.assign(new Error(code), { code })

/** The error of a connection to a port of this machine at which nobody listens. */
const refused = Effect.async<Error>((resume) => {
  connect(1, "127.0.0.1").on("error", (error) => resume(Effect.succeed(error)))
})

describe("whether a connection was never made", () => {
  it.effect("a refused connection, as fetch reports it", () =>
    Effect.gen(function* () {
      assert.isTrue(neverConnected(new TypeError("fetch failed", { cause: yield* refused })))
    })
  )

  it("an unreachable network", () => {
    assert.isTrue(neverConnected(new TypeError("fetch failed", { cause: failed("ENETUNREACH") })))
  })

  it("several addresses: only if none could be reached", () => {
    const refusals = [failed("ECONNREFUSED"), failed("EHOSTUNREACH")]
    assert.isTrue(neverConnected({ cause: new AggregateError(refusals) }))
    assert.isFalse(neverConnected({ cause: new AggregateError([...refusals, failed("ECONNRESET")]) }))
    assert.isFalse(neverConnected(new AggregateError([])))
  })

  it("a connection that broke may have carried the request", () => {
    for (const code of ["ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_SOCKET"]) {
      assert.isFalse(neverConnected(new TypeError("fetch failed", { cause: failed(code) })), code)
    }
    assert.isFalse(neverConnected(undefined))
    const circle: { cause?: unknown } = {}
    circle.cause = circle
    assert.isFalse(neverConnected(circle))
  })
})
