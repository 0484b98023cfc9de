import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as HostServer from "../support/host/HostServer.js"
import { commandLine } from "./CommandLine.js"

const doctor = (
  call: Effect.Effect.Success<typeof commandLine>["call"],
  token: string | undefined,
  ...rest: ReadonlyArray<string>
) =>
  call(["doctor", ...rest], {
    terminal: true,
    environment: token === undefined ? {} : { CHAINSTORE_TOKEN: token }
  })

describe("doctor against a GitHub-compatible host", () => {
  it.scopedLive("says in words what is wrong with token, repository and branch", () =>
    Effect.gen(function* () {
      const host = yield* HostServer.HostServer
      const { call } = yield* commandLine
      yield* Effect.scoped(host.repositories.create("me", "data", { private: false, description: "" }))
      const at = ["--api-url", host.api, "--repo", "me/data"]

      const empty = yield* doctor(call, host.token, ...at)
      assert.strictEqual(empty.code, 0, empty.out)
      assert.include(empty.out, "the repository is empty")

      const put = yield* call(["put", "things", "a", "--data", '{"n":1}', ...at], {
        environment: { CHAINSTORE_TOKEN: host.token }
      })
      assert.strictEqual(put.code, 0, put.err)
      const well = yield* doctor(call, host.token, ...at)
      assert.strictEqual(well.code, 0, well.out)
      for (const words of [
        "the branch main is there",
        "these credentials may read and write",
        "things: 1 document listed; the documents were not read"
      ]) {
        assert.include(well.out, words)
      }
      const deep = yield* doctor(call, host.token, "--deep", ...at)
      assert.include(deep.out, "things: 1 document read: everything agrees")
      assert.match(well.out, /rate limit core: \d+ of \d+ requests left/)

      const wrong = yield* doctor(call, "wrong", ...at)
      assert.strictEqual(wrong.code, 10)
      assert.match(wrong.out, /ERROR .*Bad credentials\n +the token is wrong, expired or revoked/)
      const anonymous = yield* doctor(call, undefined, ...at)
      assert.match(anonymous.out, /warning .*may (not )?write\n +to write, use a token|ERROR .*token/)
      const missing = yield* doctor(call, host.token, "--api-url", host.api, "--repo", "me/other")
      assert.strictEqual(missing.code, 10)
      assert.match(missing.out, /ERROR .*me\/other does not exist/)
      const branch = yield* doctor(call, host.token, ...at, "--branch", "nope")
      assert.strictEqual(branch.code, 10)
      assert.match(branch.out, /ERROR .*has no branch nope\n +create it, or use the branch main/)
    }).pipe(Effect.provide(HostServer.layer()))
  )
})
