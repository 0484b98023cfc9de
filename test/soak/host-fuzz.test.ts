import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fuzzing from "../support/host/Fuzzing.js"
import { HostServer, layer as host } from "../support/host/HostServer.js"
import * as Rest from "../support/host/Rest.js"

const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 0x7fffffff))
const runs = Number(process.env["FUZZ_RUNS"] ?? 3000)

console.log(`${runs} runs of each kind; again with FUZZ_SEED=${seed}`)

layer(host({ createOnFirstUse: true }), { timeout: 1_800_000 })("thousands of whatever", (it) => {
  const kinds = [
    ["operations", Fuzzing.operations],
    ["paths", Fuzzing.paths],
    ["headers", Fuzzing.headers],
    ["bodies", Fuzzing.bodies],
    ["GraphQL", Fuzzing.graphql]
  ] as const
  for (const [name, fuzz] of kinds) {
    it.effect(
      `${name}: never a 5xx, and the repository stays sound`,
      () =>
        Effect.gen(function* () {
          const { directory } = yield* HostServer
          const there = (yield* Rest.get("/repos/local/fuzz")).body?.size > 0
          if (!there) yield* Fuzzing.prepare
          yield* fuzz({ runs, seed })
          assert.strictEqual((yield* Rest.get("/zen")).status, 200)
          const repository = join(directory, "repos/local/fuzz.git")
          execFileSync("git", ["-C", repository, "fsck", "--full"], { stdio: "pipe" })
        }),
      1_800_000
    )
  }
})
