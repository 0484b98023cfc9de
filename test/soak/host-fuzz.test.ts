import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fuzzing from "../support/host/Fuzzing.js"
import { HostServer, layer as host } from "../support/host/HostServer.js"
import * as Rest from "../support/host/Rest.js"

const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 0x7fffffff))
const runs = Number(process.env["FUZZ_RUNS"] ?? 3000)

console.log(`${runs} runs of each kind; again with FUZZ_SEED=${seed}`)

const kinds = [
  ["operations", Fuzzing.operations],
  ["paths", Fuzzing.paths],
  ["headers", Fuzzing.headers],
  ["bodies", Fuzzing.bodies],
  ["GraphQL", Fuzzing.graphql]
] as const

for (const [name, fuzz] of kinds) {
  layer(host({ createOnFirstUse: true }), { timeout: 120_000 })(`thousands of ${name}`, (it) => {
    it.effect(
      "never meet a 5xx, and leave every repository sound",
      () =>
        Effect.gen(function* () {
          yield* Fuzzing.prepare()
          yield* fuzz({ runs, seed })
          assert.strictEqual((yield* Rest.get("/zen")).status, 200)
          const { directory } = yield* HostServer
          for (const repository of readdirSync(join(directory, "repos/local"))) {
            const at = join(directory, "repos/local", repository)
            execFileSync("git", ["-C", at, "fsck", "--full"], { stdio: "pipe" })
          }
        }),
      1_800_000
    )
  })
}
