import { assert, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Steps from "../../src/domain/concurrency/Steps.js"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import { MapTreeNode } from "../../src/git/MapTreeNode.js"
import { diffTrees, entriesBelow } from "../../src/git/TreeReading.js"

const oid = (n: number) => n.toString(16).padStart(40, "0") as Oid

/** A root of 100 directories with 100 files each, whose contents differ by `version`. */
const source = {
  tree: (id: Oid) => {
    const directory = Number.parseInt(id.slice(20), 16)
    const mode = directory === 0 ? ("040000" as const) : ("100644" as const)
    return new MapTreeNode(
      new Map(
        Array.from({ length: 100 }, (_, n) => {
          const name = String(n).padStart(2, "0")
          return [name, { mode, oid: (id.slice(0, 20) + oid(directory * 100 + n + 1).slice(20)) as Oid }]
        })
      )
    )
  }
}

const rootOf = (version: number) => (oid(version).slice(20) + oid(0).slice(20)) as Oid

const counted = <A>(steps: Steps.Steps<A>): { readonly result: A; readonly pauses: number } => {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next()
    if (step.done === true) return { result: step.value, pauses }
  }
}

it("others have turns while a large tree is listed, and while two are compared", () => {
  const listed = counted(entriesBelow(source, rootOf(1), { recursive: true }))
  assert.strictEqual(listed.result.length, 10_000)
  assert.isAbove(listed.pauses, 100)
  const entry = (version: number) => ({ mode: "040000" as const, oid: rootOf(version) })
  const compared = counted(diffTrees(source, entry(1), entry(2), ""))
  assert.strictEqual(compared.result.length, 10_000)
  assert.isAbove(compared.pauses, 100)
})

it("a list that is sorted in steps is sorted, and equal items keep their order", () => {
  FastCheck.assert(
    FastCheck.property(FastCheck.array(FastCheck.nat(20), { maxLength: 3000, size: "max" }), (numbers) => {
      const items = numbers.map((value, at) => ({ value, at }))
      const { pauses, result } = counted(Steps.sorted(items, (a, b) => a.value - b.value))
      assert.deepStrictEqual(
        result,
        [...items].sort((a, b) => a.value - b.value)
      )
      assert.isAtLeast(pauses, Math.floor(items.length / Steps.stepSize))
    }),
    { numRuns: 50 }
  )
})
