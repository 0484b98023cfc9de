import { HttpServerRequest } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import * as ClientAddress from "../../../src/http/server/ClientAddress.js"
import { LoginThrottle } from "../../../src/http/server/LoginThrottle.js"

const publicUrl = "https://store.example"

const from = (remoteAddress: string, forwarded?: string, isPublic = true) =>
  ClientAddress.fromRequest(
    HttpServerRequest.fromWeb(
      new Request(publicUrl, forwarded === undefined ? {} : { headers: { "x-forwarded-for": forwarded } })
    ).modify({ remoteAddress }),
    isPublic ? publicUrl : undefined
  )

it("a client is an IPv4 address or a network of IPv6, and only a proxy of this machine may name it", () => {
  const seen = [
    from("192.0.2.7"),
    from("::ffff:192.0.2.7"),
    from("192.0.2.7", "198.51.100.1"),
    from("127.0.0.1"),
    from("127.0.0.1", " "),
    from("127.0.0.1", "203.0.113.9, 198.51.100.1"),
    from("::1", "198.51.100.1"),
    from("::ffff:127.0.0.1", "198.51.100.1:50123"),
    from("127.0.0.1", "[2001:db8:0:5:1:2:3:4]:50123"),
    from("127.0.0.1", "2001:db8:0:5:ffff:ffff:ffff:ffff"),
    from("2001:DB8::5:0:0:0:1%eth0"),
    from("2001:db8::1"),
    from("2001:db8:0:0:9::"),
    from("127.0.0.1", "198.51.100.1", false)
  ]
  assert.deepStrictEqual(seen, [
    "192.0.2.7",
    "192.0.2.7",
    "192.0.2.7",
    "127.0.0.1",
    "127.0.0.1",
    "198.51.100.1",
    "198.51.100.1",
    "198.51.100.1",
    "2001:db8:0:5::/64",
    "2001:db8:0:5::/64",
    "2001:db8:0:5::/64",
    "2001:db8:0:0::/64",
    "2001:db8:0:0::/64",
    "127.0.0.1"
  ])
})

it("an accepted token works during wrong sign-ins, until these exceed the limit", () => {
  const guesses = new LoginThrottle({ maxFailures: 10, windowMillis: 60_000 })
  guesses.recordSuccess("a", "known")
  const guess = (times: number, now: number) => {
    for (let n = 0; n < times; n++)
      if (guesses.retryAfter("a", "", now) === 0) guesses.recordFailure("a", now)
  }
  guess(10, 0)
  assert.strictEqual(guesses.retryAfter("a", "unknown", 1000), 59)
  assert.strictEqual(guesses.retryAfter("a", "known", 1000), 0)
  guess(998, 2000)
  assert.strictEqual(guesses.retryAfter("a", "known", 2000), 0)
  guess(1, 2000)
  assert.isAbove(guesses.retryAfter("a", "known", 2000), 50)
  assert.strictEqual(guesses.retryAfter("b", "known", 2000), 0)
  assert.strictEqual(guesses.retryAfter("a", "known", 62_000), 0)
  assert.strictEqual(guesses.retryAfter("a", "unknown", 62_000), 0)
})
