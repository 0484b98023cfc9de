import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as DiskFile from "../../../src/git/disk/files/TemporaryFile.js"
import { makeInMemory } from "../../../src/git/TemporaryFile.js"
import { buildTree } from "../../../src/store/internal/ordered-tree/Build.js"
import { externalSort } from "../../../src/store/internal/ordered-tree/ExternalSort.js"
import { keyOfRows } from "../../../src/store/internal/ordered-tree/IndexRows.js"
import { compareEntries, type Entry, entryOf } from "../../../src/store/internal/ordered-tree/Leaf.js"

const keyOf = keyOfRows([{ path: "city", order: "asc" }])
const entries = (cities: ReadonlyArray<string>): ReadonlyArray<Entry> =>
  cities.map((city, at) => Either.getOrThrow(entryOf({ city, _id: `d${at}` }, keyOf)))

const runBytes = 300

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sort-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true }))
)
const files = {
  memory: Effect.sync(makeInMemory),
  "the disk": Effect.flatMap(directory, (made) => DiskFile.make(made))
}

/** A tree of rows that come in this order. */
const treeOf = (rows: Stream.Stream<Entry, unknown>) =>
  buildTree(rows, Oid.make("1".repeat(40)), () => Effect.void, { leaf: 200, directory: 4 })

describe.each(Object.entries(files))("runs in %s", (_, file) => {
  it.scoped.prop(
    "rows in any order make the tree of sorted ones, in one run and in many",
    [fc.array(fc.oneof(fc.constantFrom("Rome", "Zürich", "東京", "😀"), fc.string({ unit: "binary" })))],
    ([cities]) =>
      Effect.gen(function* () {
        const sort = yield* externalSort(keyOf, file, runBytes)
        for (const entry of entries(cities)) yield* sort.add([entry])
        const plain = [...entries(cities)].sort(compareEntries)
        const made = yield* treeOf(yield* sort.sorted)
        assert.deepStrictEqual(made, yield* treeOf(Stream.fromIterable(plain)))
      }),
    { fastCheck: { numRuns: 60 } }
  )

  it.scoped("a line may be longer than a piece that is read, and end within a character", () =>
    Effect.gen(function* () {
      const cities = Array.from({ length: 12 }, (_, at) => `${"é€😀".repeat(20_000 + at)}${at}`)
      const sort = yield* externalSort(keyOf, file, runBytes)
      yield* sort.add(entries(cities))
      const found = yield* Stream.runCollect(yield* sort.sorted)
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(found).map(({ line }) => line),
        [...entries(cities)].sort(compareEntries).map(({ line }) => line)
      )
    })
  )
})

it.scoped("no file is opened for one run, and none is seen", () =>
  Effect.gen(function* () {
    const made = yield* directory
    let opened = 0
    const file = Effect.tap(DiskFile.make(made), () => Effect.sync(() => opened++))
    const small = yield* externalSort(keyOf, file, runBytes)
    yield* small.add(entries(["Rome"]))
    assert.lengthOf(Chunk.toReadonlyArray(yield* Stream.runCollect(yield* small.sorted)), 1)
    assert.strictEqual(opened, 0)
    const large = yield* externalSort(keyOf, file, runBytes)
    yield* large.add(entries(Array.from({ length: 100 }, (_, at) => `${at}`)))
    assert.strictEqual(opened, 1)
    assert.deepStrictEqual(readdirSync(made), [])
  })
)

describe("the memory of a sort", () => {
  /** A file in memory that records what is appended, and fails if it is told to. */
  const recorded = (fails: "open" | "append" | "read" | undefined = undefined) => {
    const appended: Array<number> = []
    const failure = Effect.fail("the disk is full")
    const open = Effect.suspend(() => {
      if (fails === "open") return failure
      const file = makeInMemory()
      return Effect.succeed({
        ...file,
        append: (bytes: Uint8Array) =>
          fails === "append"
            ? (failure as never)
            : Effect.tap(file.append(bytes), () => Effect.sync(() => void appended.push(bytes.length))),
        read: (start: number, end: number) =>
          fails === "read" ? (Stream.fail("the disk is full") as never) : file.read(start, end)
      })
    })
    return { appended, open }
  }
  /** Rows whose lines have 100 bytes. */
  const rows = Array.from({ length: 1000 }, (_, at) =>
    Either.getOrThrow(entryOf({ _id: String(at).padStart(4, "0"), city: "x".repeat(73) }, keyOf))
  )

  it.scoped("has no more rows than a run", () =>
    Effect.gen(function* () {
      assert.strictEqual(rows[0]!.weight, 102)
      const { appended, open } = recorded()
      const sort = yield* externalSort(keyOf, open, 10 * 102)
      yield* sort.add(rows.slice(0, 10))
      assert.deepStrictEqual(appended, [])
      yield* sort.add(rows.slice(10, 30))
      assert.deepStrictEqual(appended, [11 * 101, 11 * 101])
      assert.lengthOf(Chunk.toReadonlyArray(yield* Stream.runCollect(yield* sort.sorted)), 30)
    })
  )

  it.scoped("gives the rows of several runs in chunks of at most 512", () =>
    Effect.gen(function* () {
      const sort = yield* externalSort(keyOf, recorded().open, 400 * 102)
      yield* sort.add([...rows].reverse())
      const chunks = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.chunks(yield* sort.sorted)))
      assert.deepStrictEqual(
        chunks.map(({ length }) => length),
        [512, 488]
      )
      assert.deepStrictEqual(
        chunks.flatMap(Chunk.toReadonlyArray).map(({ line }) => line),
        rows.map(({ line }) => line)
      )
    })
  )

  it.scoped("is that of nothing without rows", () =>
    Effect.gen(function* () {
      const sort = yield* externalSort(keyOf, recorded("open").open, runBytes)
      assert.strictEqual(yield* Stream.runCount(yield* sort.sorted), 0)
    })
  )

  it.scoped("fails as its file does", () =>
    Effect.gen(function* () {
      for (const fails of ["open", "append", "read"] as const) {
        const sorted = Effect.gen(function* () {
          const sort = yield* externalSort(keyOf, recorded(fails).open, 10 * 102)
          yield* sort.add(rows.slice(0, 30))
          return yield* Stream.runCount(yield* sort.sorted)
        })
        assert.strictEqual(yield* Effect.flip(sorted), "the disk is full" as never, fails)
      }
    })
  )
})
