import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { alive, collecting, load, resident } from "../support/service/Load.js"
import { port, serve } from "../support/service/ServiceProcess.js"

const rounds = 6
const MiB = 2 ** 20

it.scopedLive(
  "64 connections for 30 seconds, six times: no error, nothing held",
  () =>
    Effect.gen(function* () {
      const serving = yield* serve(collecting)
      const url = `http://127.0.0.1:${yield* port(serving)}`
      yield* Effect.promise(() => load(url, 3))
      const before = yield* Effect.promise(() => alive(serving))
      for (let round = 1; round <= rounds; round++) {
        const { answered, broken, refused } = yield* Effect.promise(() => load(url, 30))
        assert.deepStrictEqual({ broken, refused }, { broken: 0, refused: 0 })
        const held = yield* Effect.promise(() => alive(serving))
        const resides = yield* Effect.promise(() => resident(serving.child.pid!))
        console.log(
          `round ${round}: ${answered} answers, ${((held - before) / MiB).toFixed(1)} MiB more alive, ${Math.round(resides / MiB)} MiB resident`
        )
        // What lies between is garbage that V8 has not collected yet: its heap may grow to a share of the machine.
        assert.isBelow(held - before, 4 * MiB)
      }
    }),
  300_000
)
