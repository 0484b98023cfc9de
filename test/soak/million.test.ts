import { assert, it } from "@effect/vitest"
import { type Figure, runAll } from "../../bench/million.js"

const count = Number(process.env["CHAINSTORE_DOCUMENTS"] ?? 1_000_000)

it(
  `${count} documents are imported, queried, indexed anew, checked and packed by Git`,
  () => {
    const figures = new Map<string, Figure>()
    // A step that fails, and a repository that Git finds unsound, throw.
    runAll(count, (step, figure) => {
      figures.set(step, figure)
      console.log(`${step}: ${JSON.stringify(figure)}`)
    })
    const results = ["import", "count", "reindex", "equality, 20 documents", "range, 20 documents"].map(
      (step) => figures.get(step)?.result
    )
    assert.deepStrictEqual(results, [count, count, count + 1, 20, 20])
    assert.strictEqual(figures.get("open and first read")?.result, 1)
    // A hundred of them are the compiler of the process, which runs from source.
    assert.isBelow(figures.get("open and first read")!.peakMegabytes, 400)
  },
  4 * 3_600_000
)
