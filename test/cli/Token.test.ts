import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandLine } from "./CommandLine.js"

describe("the token", () => {
  it.scopedLive("is never an argument: such an argument is refused and not repeated", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      for (const line of [
        ["get", "things", "a", "--token", "ghp_verysecret"],
        ["get", "things", "a", "--token=ghp_verysecret"],
        ["get", "--token", "ghp_verysecret", "things", "a"],
        ["get", "things", "a", "--Token", "ghp_verysecret"],
        ["get", "things", "a", "-token", "ghp_verysecret"]
      ]) {
        const ran = yield* call(line)
        assert.notInclude(ran.out + ran.err, "ghp_verysecret", line.join(" "))
        assert.strictEqual(ran.code, 2)
        assert.include(ran.err, "CHAINSTORE_TOKEN")
      }
    })
  )

  it.scopedLive("is refused in an address, and not shown", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      for (const address of [
        "https://ghp_verysecret@host.invalid",
        "https://a:ghp_verysecret@host.invalid/x"
      ]) {
        for (const line of [["doctor"], ["get", "things", "a"]]) {
          const ran = yield* call([...line, "--repo", "o/r", "--api-url", address], { terminal: true })
          assert.notInclude(ran.out + ran.err, "ghp_verysecret")
          assert.strictEqual(ran.code, line[0] === "doctor" ? 10 : 2)
        }
      }
    })
  )

  it.scopedLive("that no header can hold is not shown", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const server = createServer((_, response) => response.writeHead(404).end("{}"))
      yield* Effect.promise(
        () => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const ran = yield* Effect.forEach(
        ["ghp_very\nsecret", "ghp_very\u4e00secret", "ghp_very\u0000secret"],
        (token) =>
          call(["get", "things", "a", "--repo", "o/r", "--api-url", apiUrl], {
            environment: { CHAINSTORE_TOKEN: token }
          }),
        { concurrency: 3 }
      )
      for (const { code, err, out } of ran) {
        assert.notInclude(out + err, "ghp_very")
        assert.notInclude([0, 1], code, err)
      }
    })
  )
})
