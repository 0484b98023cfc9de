import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import { FirstRows } from "../../../src/store/internal/query/SortedStreams.js"
import { turnsDuring } from "../../support/turnsDuring.js"

const keys = fc.array(fc.string({ maxLength: 2 }), { maxLength: 60 })
const limits = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(Number.POSITIVE_INFINITY))

describe("the first rows among many", () => {
  it.prop("are those of a sort", [fc.array(keys, { maxLength: 4 }), limits], ([chunks, limit]) => {
    const first = new FirstRows(limit)
    for (const chunk of chunks) Steps.runSync(first.add(chunk.map((key) => ({ key }))))
    const sorted = [...new Set(chunks.flat())].sort()
    assert.deepStrictEqual(
      Steps.runSync(first.sorted()).map(({ key }) => key),
      sorted.slice(0, limit)
    )
  })

  // Without a limit, and with a limit of half of the rows.
  for (const limit of [Number.POSITIVE_INFINITY, 100_000]) {
    it.live(`let timers run while 200,000 rows are sorted, with a limit of ${limit}`, () =>
      Effect.gen(function* () {
        const first = new FirstRows(limit)
        const rows = Array.from({ length: 200_000 }, (_, at) => ({ key: String((at * 7919) % 200_003) }))
        const turns = yield* turnsDuring(
          Effect.zipRight(
            Steps.run(() => first.add(rows)),
            Steps.run(() => first.sorted())
          )
        )
        assert.isAbove(turns, 5)
        assert.lengthOf(Steps.runSync(first.sorted()), Math.min(limit, rows.length))
      })
    )
  }
})
