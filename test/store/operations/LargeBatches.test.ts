import { assert, it } from "@effect/vitest"
import { Chunk, Effect, Layer } from "effect"
import { plainSettings } from "../../../src/domain/settings/Settings.js"
import { prepareOperations } from "../../../src/store/internal/commit/PreparedOperation.js"
import { givenVersion } from "../../../src/store/internal/commit/VersionCodec.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import { turnsDuring } from "../../support/turnsDuring.js"

it.live(
  "timers run while a batch queues 20,000 operations",
  () =>
    Effect.gen(function* () {
      const store = yield* Store.make()
      const { result } = yield* store.batch({}, (batch) =>
        turnsDuring(
          Effect.forEach(Chunk.range(1, 20_000), (n) => batch.insert("things", { n }, { id: `t${n}` }), {
            discard: true
          })
        )
      )
      assert.isAbove(result, 5)
    }).pipe(Effect.provide(Layer.fresh(Memory.layer()))),
  60_000
)

it.live("timers run while 20,000 operations are prepared", () =>
  Effect.gen(function* () {
    const operations = Array.from({ length: 20_000 }, (_, n) => ({
      collection: "things",
      id: `t${n}`,
      needs: "any" as const,
      next: () => Effect.succeed(givenVersion({ n }))
    }))
    const edit = { operation: "Store.batch", message: "many", mode: "batch" as const, operations }
    const now = "2026-01-01T00:00:00.000Z"
    const turns = yield* turnsDuring(prepareOperations("data", plainSettings, edit, new Map(), now))
    assert.isAbove(turns, 5)
  })
)
