import { deflateSync } from "node:zlib"
import { Effect, Either, Stream } from "effect"
import { emptyTree, Oid } from "../src/domain/identifiers/Oid.js"
import { applyEdits } from "../src/store/internal/ordered-tree/ApplyEdits.js"
import { buildTree } from "../src/store/internal/ordered-tree/Build.js"
import { keyOfRows } from "../src/store/internal/ordered-tree/IndexRows.js"
import { type Entry, entryOf, type KeyOf, type Row } from "../src/store/internal/ordered-tree/Leaf.js"
import { run } from "../src/store/internal/ordered-tree/ReadSteps.js"
import { scan } from "../src/store/internal/ordered-tree/Scan.js"
import { StoredTree } from "../src/store/internal/ordered-tree/StoredTree.js"
import { makeTreeCache } from "../src/store/internal/ordered-tree/TreeCache.js"
import { TreeFiles } from "../test/support/treeFiles.js"
import { machine } from "./support/compare.js"
import { idOf } from "./support/repositories.js"

/** What one insert writes into an index and a manifest as trees of small files: objects in memory, without a store. */

const inserts = 500

const cities = [
  "Amsterdam",
  "Berlin",
  "Cairo",
  "Delhi",
  "Edinburgh",
  "Lagos",
  "London",
  "Lima",
  "Oslo",
  "Quito"
]

const kinds: ReadonlyArray<{
  readonly name: string
  readonly keyOf: KeyOf
  readonly row: (n: number) => Row
}> = [
  {
    name: "index by city",
    keyOf: keyOfRows([{ path: "city", order: "asc" }]),
    row: (n) => ({ _id: idOf(n), city: cities[n % cities.length]! })
  },
  {
    name: "manifest, 2 fields",
    keyOf: keyOfRows([]),
    row: (n) => ({ _id: idOf(n), city: cities[n % cities.length]!, name: `Somebody called ${n}` })
  }
]

const nothingKnown = () => {
  const { headers, leaves } = makeTreeCache()
  return { headers, leaves: leaves("") }
}

const bytes = (objects: ReadonlyArray<Uint8Array>) => objects.reduce((sum, { length }) => sum + length, 0)

const kilobytes = (value: number) => `${(value / 1000).toFixed(1)} kB`

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

const row = (cells: ReadonlyArray<string | number>) => console.log(`| ${cells.join(" | ")} |`)

console.log(`## Trees of small files\n\n${machine()}, ${inserts} inserts each\n`)
const columns = [
  "tree",
  "rows",
  "build",
  "files, directories, widest",
  "written: mean",
  "deflated",
  "largest write",
  "files written: mean, most",
  "files and directories read: mean, most",
  "time",
  "20 rows of a range: reads, time",
  "1,000 inserts in one write"
]
row(columns)
row(columns.map(() => "---"))

const sizes = process.argv.slice(2).map(Number)
for (const count of sizes.length > 0 ? sizes : [1_000, 100_000, 1_000_000]) {
  for (const { keyOf, name, row: rowAt } of kinds) {
    const entryAt = (n: number): Entry => Either.getOrThrow(entryOf(rowAt(n), keyOf))
    const sorted = Array.from({ length: count }, (_, n) => ({ key: keyOf(rowAt(n)), n })).sort((a, b) =>
      a.key < b.key ? -1 : 1
    )
    const files = new TreeFiles()
    const started = performance.now()
    const rows = Stream.map(Stream.fromIterable(sorted), ({ n }) => entryAt(n))
    const built = await Effect.runPromise(
      buildTree(rows, emptyTree, (content) => Effect.sync(() => files.write(content)))
    )
    const took = performance.now() - started
    files.edit(built.files.map(({ oid, path }) => ({ _tag: "Link", path, kind: "blob", oid, from: path })))
    const shape = `${built.files.length}, ${files.directories.size}, ${files.widest()}`
    const written: Array<number> = []
    const deflated: Array<number> = []
    const put: Array<number> = []
    const read: Array<number> = []
    const times: Array<number> = []
    for (let n = count; n < count + inserts; n++) {
      files.written = []
      files.read = []
      const entry = entryAt(n)
      const tree = Oid.make(n.toString(16).padStart(40, "0"))
      const began = performance.now()
      const { edits } = await Effect.runPromise(
        Effect.flatMap(
          run(files.reader, () =>
            StoredTree.open({ reader: files.reader, path: "", keyOf, known: nothingKnown() })
          ),
          (stored) => run(files.reader, () => applyEdits(stored!, new Map([[entry.key, entry]]), tree))
        )
      )
      times.push(performance.now() - began)
      files.edit(edits)
      written.push(bytes(files.written))
      deflated.push(bytes(files.written.map((object) => deflateSync(object))))
      put.push(edits.length)
      read.push(files.read.length)
    }
    files.read = []
    const began = performance.now()
    await Effect.runPromise(
      Effect.flatMap(
        run(files.reader, () =>
          StoredTree.open({ reader: files.reader, path: "", keyOf, known: nothingKnown() })
        ),
        (stored) => Stream.runDrain(Stream.take(scan(stored!, { from: sorted[count >> 1]!.key }), 20))
      )
    )
    const queried = performance.now() - began
    const ranged = files.read.length
    const more = new Map(
      Array.from({ length: 1000 }, (_, n) => {
        const entry = entryAt(count + inserts + n)
        return [entry.key, entry]
      })
    )
    const start = performance.now()
    await Effect.runPromise(
      Effect.flatMap(
        run(files.reader, () =>
          StoredTree.open({ reader: files.reader, path: "", keyOf, known: nothingKnown() })
        ),
        (stored) => run(files.reader, () => applyEdits(stored!, more, emptyTree))
      )
    )
    const together = performance.now() - start
    row([
      name,
      count.toLocaleString("en"),
      `${(took / 1000).toFixed(1)} s`,
      shape,
      kilobytes(mean(written)),
      kilobytes(mean(deflated)),
      kilobytes(Math.max(...written)),
      `${mean(put).toFixed(2)}, ${Math.max(...put)}`,
      `${mean(read).toFixed(1)}, ${Math.max(...read)}`,
      `${mean(times).toFixed(2)} ms`,
      `${ranged}, ${queried.toFixed(1)} ms`,
      `${together.toFixed(0)} ms`
    ])
  }
}
