import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { load, resident } from "../support/service/Load.js"
import { port, serve } from "../support/service/Serving.js"

it.scopedLive(
  "64 connections for 30 seconds, six times: no error, flat memory",
  () =>
    Effect.gen(function* () {
      const serving = yield* serve()
      const url = `http://127.0.0.1:${yield* port(serving)}`
      const pid = serving.child.pid!
      const memory: Array<number> = []
      for (let round = 0; round < 6; round++) {
        const { answered, broken, refused } = yield* Effect.promise(() => load(url, 30))
        assert.deepStrictEqual({ broken, refused }, { broken: 0, refused: 0 })
        memory.push(yield* Effect.promise(() => resident(pid)))
        console.log(
          `round ${round + 1}: ${answered} answers, ${Math.round(memory[round]! / 2 ** 20)} MiB resident`
        )
      }
      assert.isBelow(Math.max(...memory.slice(1)) - memory[0]!, 40 * 2 ** 20)
    }),
  300_000
)
