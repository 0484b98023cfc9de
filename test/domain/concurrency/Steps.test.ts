import { assert, it } from "@effect/vitest"
import * as Steps from "../../../src/domain/concurrency/Steps.js"

it("a sorted copy is that of a stable sort, in pauses", () => {
  const compare = (a: { readonly key: number }, b: { readonly key: number }) => a.key - b.key
  const size = Steps.stepSize
  for (const length of [
    0,
    1,
    2,
    size - 1,
    size,
    size + 1,
    2 * size,
    2 * size + 1,
    3 * size + 5,
    5 * size,
    7 * size + 1
  ]) {
    const items = Object.freeze(
      Array.from({ length }, (_, at) => ({ key: (at * 7919) % Math.ceil(length / 3), at }))
    )
    const steps = Steps.sorted(items, compare)
    let pauses = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) pauses++
    assert.deepStrictEqual(step.value, items.toSorted(compare))
    // Also while sorted runs are merged: all of them each time, or all but the last one of an odd number.
    const merges = Math.log2(Math.max(1, length / size))
    assert.isAtLeast(pauses, (1 + Math.floor(merges)) * Math.floor(length / size))
    assert.isAtMost(pauses, (1 + Math.ceil(merges)) * Math.ceil(length / size))
  }
})
