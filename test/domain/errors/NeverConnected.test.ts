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
  })

  it("the cause of a cause, also beside several errors", () => {
    const inner = { cause: { cause: failed("ENOTFOUND") } }
    assert.isTrue(neverConnected({ cause: inner }))
    assert.isTrue(neverConnected({ errors: [{}], cause: inner }))
    assert.isTrue(neverConnected({ errors: [inner, inner] }))
    assert.isFalse(neverConnected({ errors: [inner, {}] }))
  })

  it("whatever is no error of a connection says nothing", () => {
    const others = [undefined, null, "ECONNREFUSED", 1, {}, { code: 1 }, { errors: "ECONNREFUSED" }]
    for (const other of others) {
      assert.isFalse(neverConnected(other))
      assert.isFalse(neverConnected({ cause: other }))
    }
  })

  it("an error may be among its own causes", () => {
    const circle: { cause?: unknown; errors?: unknown } = {}
    circle.cause = circle
    assert.isFalse(neverConnected(circle))
    circle.errors = [circle, circle]
    assert.isFalse(neverConnected(circle))
  })
})
