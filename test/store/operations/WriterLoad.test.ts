import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { document, rounds, storePair } from "./StorePair.js"

describe("a writer with much to do", () => {
  it.effect("an operation that a writer takes at its very end is written or refused", () =>
    Effect.gen(function* () {
      const { store } = yield* storePair()
      for (let n = 0; n < 12; n++) {
        const accepted: Array<string> = []
        yield* store.writer({}, (writer) =>
          Effect.gen(function* () {
            yield* writer.put("notes", `first${n}`, { n })
            yield* Effect.forkDaemon(
              Effect.gen(function* () {
                for (let m = 0; m < 200; m++) {
                  const id = `late${n}-${m}`
                  const answer = yield* Effect.either(writer.put("notes", id, { m }))
                  if (answer._tag === "Left") return
                  accepted.push(id)
                  for (let k = 0; k < n % 7; k++) yield* Effect.yieldNow()
                }
              })
            )
          })
        )
        assert.includeMembers([...(yield* store.collection("notes").list())], accepted)
      }
    })
  )

  it.effect(
    "a writer flushes thousands of times",
    () =>
      Effect.gen(function* () {
        const it = yield* storePair()
        yield* it.store.writer({ maxOperations: 1 }, (writer) =>
          Effect.forEach(
            Array.from({ length: rounds(3000) }),
            (_, n) => writer.put("notes", `n${n % 5}`, { n }),
            {
              discard: true
            }
          )
        )
        assert.strictEqual((yield* document(it.store, "notes", "n0"))?._rev, rounds(600))
      }),
    60_000
  )
})
