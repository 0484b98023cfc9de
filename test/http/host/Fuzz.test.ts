import { layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fuzzing from "../../support/host/Fuzzing.js"
import { layer as host } from "../../support/host/HostServer.js"

// A fixed seed and few runs; the soak tests use random seeds and thousands of runs.
const seed = Number(process.env["FUZZ_SEED"] ?? 20_261_122)

layer(host({ createOnFirstUse: true }), { timeout: 120_000 })("whatever is sent", (it) => {
  it.effect("paths, methods and queries never meet a 5xx", () =>
    Effect.zipRight(Fuzzing.prepare(), Fuzzing.paths({ runs: 150, seed }))
  )

  it.effect("headers never meet a 5xx", () => Fuzzing.headers({ runs: 80, seed }))

  it.effect("bodies never meet a 5xx, and nothing is written outside the data directory", () =>
    Fuzzing.bodies({ runs: 100, seed })
  )

  it.effect("no operation meets a 5xx", () => Fuzzing.operations({ runs: 150, seed }))

  it.effect("GraphQL documents never meet a 5xx", () => Fuzzing.graphql({ runs: 120, seed }))
})
