import { assert, describe, it } from "@effect/vitest"
import { bothOf } from "../../src/console/edit/review/BothSides.js"

describe("both sides of a conflict", () => {
  it("the lists of a large document take no time that a user notices", () => {
    const item = (n: number) => ({ name: `item ${n}`, n })
    const shared = Array.from({ length: 10_000 }, (_, n) => item(n))
    const theirs = [...shared, item(-1)]
    const ours = [...structuredClone(shared), item(-2)]
    const began = performance.now()
    assert.deepStrictEqual(bothOf({ path: ["list"], theirs, ours }), [...theirs, item(-2)])
    const took = performance.now() - began
    assert.isBelow(took, 2000)
  })
})
