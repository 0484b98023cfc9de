import { assert, describe, it } from "@effect/vitest"
import { bothSides } from "../../src/store/browse/BothSides.js"

describe("both sides of a conflict", () => {
  it("are the lines of two texts, or the items of two lists, the first ones first", () => {
    assert.strictEqual(bothSides(["title"], "a", "b"), "a\nb")
    assert.deepStrictEqual(bothSides(["tags"], ["a", { n: 1, m: 2 }], [{ m: 2, n: 1 }, "b"]), [
      "a",
      { n: 1, m: 2 },
      "b"
    ])
  })

  it("do not exist of other values, of numbers that may be rounded, inside of lists, and of whole documents", () => {
    for (const [first, second] of [
      [1, 2],
      ["a", ["b"]],
      [{ a: 1 }, { b: 2 }],
      ["a", undefined],
      [[0.5], [1]],
      [[1], [{ n: 2 ** 53 }]]
    ] as const) {
      assert.isUndefined(bothSides(["field"], first, second))
    }
    assert.isUndefined(bothSides(["list", 0], "a", "b"))
    assert.isUndefined(bothSides([], "a", "b"))
  })

  it("of the lists of a large document take no time that a user notices", () => {
    const item = (n: number) => ({ name: `item ${n}`, n })
    const shared = Array.from({ length: 10_000 }, (_, n) => item(n))
    const theirs = [...shared, item(-1)]
    const ours = [...structuredClone(shared), item(-2)]
    const began = performance.now()
    assert.deepStrictEqual(bothSides(["list"], theirs, ours), [...theirs, item(-2)])
    const took = performance.now() - began
    assert.isBelow(took, 2000)
  })
})
