import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { diff3MergeRegions } from "node-diff3"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import { regionsOf } from "../../../src/domain/merge/ListComparison.js"

const items = (names: ReadonlyArray<string>) => fc.array(fc.constantFrom(...names), { maxLength: 14 })
const list = fc.oneof(items(["a", "b"]), items([..."abcdefghij", "__proto__", "constructor"]))

/** A list after a few changes. */
const changed = (before: ReadonlyArray<string>) =>
  fc.array(fc.tuple(fc.nat(14), fc.nat(2), items(["a", "b", "x"])), { maxLength: 3 }).map((edits) =>
    edits.reduce<Array<string>>(
      (now, [at, removed, added]) => {
        now.splice(at, removed, ...added.slice(0, 3))
        return now
      },
      [...before]
    )
  )

const lists = fc.oneof(
  fc.tuple(list, list, list),
  list.chain((base) => fc.tuple(fc.constant(base), changed(base), changed(base)))
)

describe("the comparison of three lists", () => {
  it("finds the regions that node-diff3 finds", () => {
    let both = 0
    fc.assert(
      fc.property(lists, ([base, ours, theirs]) => {
        const regions = Steps.runSync(regionsOf(base, ours, theirs))
        both += regions.filter(({ _tag }) => _tag === "Both").length
        assert.deepStrictEqual(
          regions,
          diff3MergeRegions(ours, base, theirs).map((region) =>
            region.stable
              ? { _tag: "Merged" as const, items: region.bufferContent }
              : {
                  _tag: "Both" as const,
                  base: region.oContent,
                  ours: region.aContent,
                  theirs: region.bContent
                }
          )
        )
      }),
      { numRuns: 20_000 }
    )
    assert.isAbove(both, 5000)
  })

  it("pauses while it compares long lists, also if they have nothing in common", () => {
    const pauses = (ours: ReadonlyArray<string>, theirs: ReadonlyArray<string>) => {
      const steps = regionsOf(
        Array.from({ length: 5120 }, (_, at) => `${at}`),
        ours,
        theirs
      )
      let count = 0
      while (steps.next().done !== true) count++
      return count
    }
    assert.isAtLeast(pauses([], []), 20)
    assert.isAtLeast(pauses(["x"], ["y"]), 20)
  })

  it("takes steps that grow with the square of the lengths where all items are equal", () => {
    const stepsFor = (length: number) => {
      const same = Array.from({ length }, () => "a")
      const steps = regionsOf(["x", ...same, "x"], ["y", ...same, "x"], ["x", ...same, "y"])
      let count = 0
      while (steps.next().done !== true) count++
      return count
    }
    assert.isBelow(stepsFor(3000), 10 * stepsFor(1000))
  })
})
