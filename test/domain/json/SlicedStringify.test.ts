import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { stepSize } from "../../../src/domain/concurrency/Steps.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"
import { stringifySliced } from "../../../src/domain/json/SlicedStringify.js"

describe("JSON that is printed in steps", () => {
  it.effect("is that of JSON.stringify", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (value) => {
          const given = { value, list: Array.from({ length: 600 }, (_, at) => at), left: undefined }
          assert.strictEqual(await Effect.runPromise(stringifySliced(given)), JSON.stringify(given))
        }),
        { numRuns: 300 }
      )
    )
  )

  it.effect("has numbers as they are read", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* stringifySliced({ a: [new LosslessNumber("1.0"), "x"] }), '{"a":[1,"x"]}')
    })
  )

  it.effect("has long lists and objects as JSON.stringify prints them", () =>
    Effect.gen(function* () {
      const size = stepSize
      for (const length of [0, 1, size - 1, size, size + 1, 2 * size, 2 * size + 3]) {
        const scalars = Array.from({ length }, (_, at) => at)
        const objects = scalars.map((at) => (at % 3 === 0 ? { at } : at))
        const left = Object.fromEntries(
          scalars.map((at) => [`k${at}`, at % 2 === 0 ? undefined : [at, null]])
        )
        const value = { scalars, objects, left, last: undefined }
        assert.strictEqual(yield* stringifySliced(value), JSON.stringify(value))
      }
    })
  )

  it("has every kind of value as JSON.stringify prints it, also by itself", () => {
    const date = new Date(0)
    const values = [null, true, 1, 'a"b', [], {}, date, [[]], [{}], { a: [] }, { a: date }, [1, date, 2]]
    for (const value of [...values, values, { 'a"b': null, c: undefined, d: values }]) {
      assert.strictEqual(Effect.runSync(stringifySliced(value)), JSON.stringify(value))
    }
  })

  it("can pause after as many members as a step visits", () => {
    // The clock is asked once when a computation begins, and each time that it can pause.
    const clock = vi.spyOn(performance, "now").mockReturnValue(0)
    const pausesOf = (value: unknown) => {
      const before = clock.mock.calls.length
      assert.strictEqual(Effect.runSync(stringifySliced(value)), JSON.stringify(value))
      return clock.mock.calls.length - before
    }
    try {
      pausesOf(Array.from({ length: stepSize }, () => 0))
      const numbers = (length: number) => Array.from({ length }, (_, at) => at)
      const lists = (length: number) => numbers(length).map((at) => [at])
      const object = (length: number) => Object.fromEntries(numbers(length).map((at) => [`k${at}`, at]))
      for (const make of [numbers, lists, object]) {
        const short = make(stepSize - 1)
        assert.strictEqual(pausesOf([short, { a: short }]), 0)
        assert.strictEqual(pausesOf({ a: [make(stepSize)] }), 1)
        assert.strictEqual(pausesOf({ a: [make(4 * stepSize + 1)] }), 4)
      }
      assert.strictEqual(pausesOf([[0], ...numbers(4 * stepSize)]), 4)
    } finally {
      vi.restoreAllMocks()
    }
  })
})
