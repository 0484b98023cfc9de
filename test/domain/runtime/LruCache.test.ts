import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { LruCache } from "../../../src/domain/runtime/LruCache.js"

interface Step {
  readonly does: "set" | "get" | "peek" | "delete" | "clear"
  readonly key: number
  readonly weight: number
}

interface Kept {
  readonly key: number
  readonly value: number
  readonly weight: number
}

const step: fc.Arbitrary<Step> = fc.record({
  does: fc.oneof(
    { weight: 12, arbitrary: fc.constant<Step["does"]>("set") },
    { weight: 9, arbitrary: fc.constantFrom<Step["does"][]>("get", "peek", "delete") },
    { weight: 1, arbitrary: fc.constant<Step["does"]>("clear") }
  ),
  key: fc.integer({ min: 0, max: 7 }),
  weight: fc.nat(5)
})

const bounds = fc.record({
  limit: fc.nat(20),
  entries: fc.option(fc.nat(6), { nil: undefined }),
  largest: fc.option(fc.nat(5), { nil: undefined })
})

describe("Bounded", () => {
  it("keeps what a list in order of use keeps, and disposes of all else", () => {
    fc.assert(
      fc.property(
        bounds,
        fc.array(step, { maxLength: 60, size: "max" }),
        ({ entries, largest, limit }, steps) => {
          const gone: Array<number> = []
          const bounded = new LruCache<number, number>(limit, undefined, {
            entries,
            largest,
            dispose: (value) => gone.push(value)
          })
          let list: ReadonlyArray<Kept> = []
          const kept: Array<number> = []
          for (const [value, now] of steps.entries()) {
            const found = list.find((one) => one.key === now.key)
            const others = list.filter((one) => one !== found)
            if (now.does === "get") {
              assert.strictEqual(bounded.get(now.key), found?.value)
              if (found !== undefined) list = [...others, found]
            } else if (now.does === "peek") assert.strictEqual(bounded.peek(now.key), found?.value)
            else if (now.does === "delete") {
              bounded.delete(now.key)
              list = others
            } else if (now.does === "clear") {
              bounded.clear()
              list = []
            } else {
              assert.strictEqual(bounded.set(now.key, value, now.weight), value)
              list = others
              if (now.weight <= (largest ?? Infinity)) {
                kept.push(value)
                list = [...others, { key: now.key, value, weight: now.weight }]
                const weight = () => list.reduce((sum, one) => sum + one.weight, 0)
                while (list.length > (entries ?? Infinity) || (list.length > 1 && weight() > limit))
                  list = list.slice(1)
              }
            }
            assert.strictEqual(bounded.size, list.length)
            assert.strictEqual(
              bounded.weight,
              list.reduce((sum, one) => sum + one.weight, 0)
            )
            for (let each = 0; each < 8; each++)
              assert.strictEqual(bounded.peek(each), list.find((one) => one.key === each)?.value)
          }
          const held = new Set(list.map(({ value }) => value))
          assert.deepStrictEqual(
            gone.toSorted((a, b) => a - b),
            kept.filter((value) => !held.has(value))
          )
        }
      )
    )
  })

  it("keeps so much weight, and the last value whatever it weighs", () => {
    const values = new LruCache<string>(10, (value) => value.length)
    const held = () => ["a", "b", "c"].filter((key) => values.get(key) !== undefined)
    values.set("a", "aaaa")
    values.set("b", "bbbb")
    values.set("b", "bb")
    values.set("c", "cccc")
    assert.deepStrictEqual(held(), ["a", "b", "c"])
    values.set("c", "c".repeat(8))
    assert.deepStrictEqual(held(), ["b", "c"])
    values.set("a", "a".repeat(20))
    assert.deepStrictEqual(held(), ["a"])
    values.set("b", "b")
    assert.deepStrictEqual(held(), ["b"])
    values.clear()
    values.set("c", "c".repeat(10))
    assert.deepStrictEqual(held(), ["c"])
  })

  it("gives a value the weight 1 where none is given", () => {
    const values = new LruCache<string>(2)
    for (const key of ["a", "b", "a", "c"]) values.set(key, key)
    assert.deepStrictEqual([values.size, values.weight], [2, 2])
    assert.deepStrictEqual(
      ["a", "b", "c"].map((key) => values.peek(key)),
      ["a", undefined, "c"]
    )
  })

  it("weighs a value once: one that grew counts anew when it is set again", () => {
    const bounded = new LruCache<Array<number>>(3, ({ length }) => length)
    const growing = bounded.set("growing", [1])
    bounded.set("other", [1])
    growing.push(2)
    assert.strictEqual(bounded.weight, 2)
    bounded.set("growing", growing)
    assert.strictEqual(bounded.weight, 3)
    bounded.set("more", [1])
    assert.deepStrictEqual([bounded.peek("other"), bounded.weight], [undefined, 3])
  })
})
