import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Either, Exit, Option, Stream } from "effect"
import * as fc from "fast-check"
import { emptyTree } from "../../../src/domain/identifiers/Oid.js"
import { sortKey } from "../../../src/domain/indexes/SortKey.js"
import * as GitObject from "../../../src/git/GitObject.js"
import { applyEdits } from "../../../src/store/internal/ordered-tree/ApplyEdits.js"
import { BrokenTree } from "../../../src/store/internal/ordered-tree/BrokenTree.js"
import { buildTree } from "../../../src/store/internal/ordered-tree/Build.js"
import { parseHeader, printHeader } from "../../../src/store/internal/ordered-tree/Header.js"
import { keyOfRows } from "../../../src/store/internal/ordered-tree/IndexRows.js"
import { type Entry, entryOf, type Row } from "../../../src/store/internal/ordered-tree/Leaf.js"
import { run, runAllSteps } from "../../../src/store/internal/ordered-tree/ReadSteps.js"
import { firstWithin, type ScanRange, scan } from "../../../src/store/internal/ordered-tree/Scan.js"
import { StoredTree } from "../../../src/store/internal/ordered-tree/StoredTree.js"
import type { TreeReader } from "../../../src/store/internal/ordered-tree/TreeReader.js"
import { verifyTree } from "../../../src/store/internal/ordered-tree/Verify.js"
import { built, nothingKnown, small, sorted } from "../../support/orderedTree.js"
import type { TreeFiles } from "../../support/treeFiles.js"
import { turnsDuring } from "../../support/turnsDuring.js"

const keyOf = keyOfRows([{ path: "v", order: "asc" }])
const entry = (row: Row): Entry => Either.getOrThrow(entryOf(row, keyOf))
const numbered = (count: number) => Array.from({ length: count }, (_, n) => entry({ v: n, _id: `d${n}` }))

/** One leaf after another in a directory of all. */
const flat = { leaf: 200, directory: 1000 }

/** A reader that records what is read together, and how many directories at the same time. */
const recorded = <E>(reader: TreeReader<E>, concurrency = 16) => {
  const seen = { directories: 0, files: [] as Array<number>, most: 0 }
  let open = 0
  const recording: TreeReader<E> = {
    concurrency,
    directory: (path) =>
      Effect.gen(function* () {
        seen.directories++
        seen.most = Math.max(seen.most, ++open)
        yield* Effect.yieldNow()
        open--
        return yield* reader.directory(path)
      }),
    files: (paths) =>
      Effect.gen(function* () {
        seen.files.push(paths.length)
        seen.most = Math.max(seen.most, ++open)
        yield* Effect.yieldNow()
        open--
        return yield* reader.files(paths)
      })
  }
  return { reader: recording, seen }
}

const steps = <E>(reader: TreeReader<E>, known = nothingKnown(), path = "") =>
  StoredTree.open({ reader, path, keyOf, known })

const opened = <E>(reader: TreeReader<E>, known = nothingKnown(), path = "") =>
  Effect.map(
    run(reader, () => steps(reader, known, path)),
    (tree) => tree!
  )

const lines = <E>(tree: StoredTree<E>, range?: ScanRange) =>
  Effect.map(Stream.runCollect(scan(tree, range)), (rows) => Array.from(rows, ({ line }) => line))

const leavesIn = (files: TreeFiles) => files.list().filter(([path]) => path !== "_header.json")

describe("the rows of a range", () => {
  it.effect("are read one leaf first, then twice as many each time, at most 16 together", () =>
    Effect.gen(function* () {
      const rows = numbered(300)
      const files = yield* built(rows, flat)
      const leaves = leavesIn(files).length
      assert.isAbove(leaves, 63)
      for (const reverse of [false, true]) {
        const { reader, seen } = recorded(files.reader)
        const tree = yield* opened(reader)
        seen.files = []
        const found = yield* lines(tree, { reverse })
        const expected = sorted(rows).map(({ line }) => line)
        assert.deepStrictEqual(found, reverse ? expected.reverse() : expected)
        assert.deepStrictEqual(seen.files.slice(0, 6), [1, 2, 4, 8, 16, 16])
        assert.strictEqual(
          seen.files.reduce((sum, count) => sum + count, 0),
          leaves
        )
        assert.strictEqual(Math.max(...seen.files), 16)
      }
    })
  )

  it.effect("are read no further than they are consumed", () =>
    Effect.gen(function* () {
      const files = yield* built(numbered(300), flat)
      const { reader, seen } = recorded(files.reader)
      const tree = yield* opened(reader)
      seen.files = []
      assert.isTrue(Option.isSome(yield* Stream.runHead(scan(tree))))
      assert.deepStrictEqual(seen.files, [1])
    })
  )

  it.effect("are read from their own leaves and directories", () =>
    Effect.gen(function* () {
      const rows = sorted(numbered(300))
      const files = yield* built(rows)
      const whole = recorded(files.reader)
      yield* lines(yield* opened(whole.reader))
      const { reader, seen } = recorded(files.reader)
      const tree = yield* opened(reader)
      seen.files = []
      const [from, until] = [rows[100]!.key, rows[110]!.key]
      assert.lengthOf(yield* lines(tree, { from, until }), 10)
      assert.isAtMost(
        seen.files.reduce((sum, count) => sum + count, 0),
        6
      )
      assert.isBelow(seen.directories * 3, whole.seen.directories)
    })
  )

  it.effect("are not found in another leaf, even if the header has been made to fit", () =>
    Effect.gen(function* () {
      const rows = numbered(60)
      const text = (content: Uint8Array) => Buffer.from(content).toString().slice(2, -3).split(",\n")
      // The last row of the next leaf, or its first one, which both leaves have then.
      for (const [reverse, which] of [
        [false, -1],
        [true, -1],
        [false, 0],
        [true, 0]
      ] as const) {
        const files = yield* built(rows, flat)
        const [[path, content], [next, after]] = leavesIn(files).slice(3, 5) as [
          readonly [string, Uint8Array],
          readonly [string, Uint8Array]
        ]
        const foreign = text(after).at(which)
        files.edit([
          { _tag: "Put", path, content: Buffer.from(`[\n${[...text(content), foreign].join(",\n")}\n]\n`) }
        ])
        const header = { tree: emptyTree, rows: files.directory("rows").oid, count: rows.length }
        files.edit([{ _tag: "Put", path: "_header.json", content: printHeader(header) }])
        const failure = yield* Effect.flip(lines(yield* opened(files.reader), { reverse }))
        const at = reverse ? path : next
        assert.deepStrictEqual(
          [failure.path, failure.message],
          [at, `${at} has rows that belong to another leaf`]
        )
      }
    })
  )
})

describe("the first rows of many values", () => {
  const prefixOf = (value: number | string) => sortKey(value)

  it.effect("are those in the order of the rows that are not left out", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ v: fc.nat(8), _id: fc.nat(30).map((n) => `d${n}`) }), { maxLength: 80 }),
          fc.uniqueArray(fc.nat(12), { maxLength: 6 }),
          fc.uniqueArray(
            fc.nat(30).map((n) => `d${n}`),
            { maxLength: 20 }
          ),
          (given, values, except) =>
            Effect.runPromise(
              Effect.gen(function* () {
                const rows = sorted(new Map(given.map(entry).map((one) => [one.key, one])).values())
                const files = yield* built(rows)
                const fits = (row: Row) => !except.includes(String(row["_id"]))
                const found = yield* firstWithin(yield* opened(files.reader), values.map(prefixOf), fits)
                const expected = values.flatMap((value) => {
                  const first = rows.find(({ row }) => row["v"] === value && fits(row))
                  return first === undefined ? [] : [[prefixOf(value), first.row] as const]
                })
                assert.deepStrictEqual(new Map(found), new Map(expected))
              })
            )
        ),
        { seed: 19, numRuns: 100 }
      )
    )
  )

  it.effect("are read together, and a second leaf only if the first one ends within the value", () =>
    Effect.gen(function* () {
      const files = yield* built(numbered(300), flat)
      const { reader, seen } = recorded(files.reader)
      const tree = yield* opened(reader)
      seen.files = []
      const values = Array.from({ length: 20 }, (_, n) => 15 * n)
      const found = yield* firstWithin(tree, values.map(prefixOf), () => true)
      assert.deepStrictEqual(
        values.map((value) => found.get(prefixOf(value))?.["v"]),
        values
      )
      assert.lengthOf(seen.files, 1)
      // At most the leaf of a value and the next one.
      assert.isAtMost(seen.files[0]!, 40)
    })
  )
})

describe("several trees", () => {
  const place = (files: TreeFiles, directory: string) =>
    files.list().map(([path, content]) => ({ _tag: "Put", path: `${directory}/${path}`, content }) as const)

  const beside = Effect.gen(function* () {
    const files = yield* built([])
    const counts = { a: 10, b: 20, c: 30 }
    for (const [name, count] of Object.entries(counts)) {
      files.edit(place(yield* built(numbered(count)), name))
    }
    return files
  })

  it.effect("are read together in as many requests as one, each with its own files", () =>
    Effect.gen(function* () {
      const files = yield* beside
      const { reader, seen } = recorded(files.reader)
      const found = yield* runAllSteps(
        reader,
        ["a", "b", "c", "d"].map((path) => () => steps(reader, nothingKnown(), path))
      )
      assert.deepStrictEqual(
        found.map((one) => Either.getOrThrow(one)?.header.count),
        [10, 20, 30, undefined]
      )
      assert.deepStrictEqual(seen.files, [3])
      assert.strictEqual(seen.directories, 7)
      for (const [at, one] of found.slice(0, 3).entries()) {
        assert.lengthOf(yield* lines(Either.getOrThrow(one)!), 10 * (at + 1))
      }
    })
  )

  it.effect("are read without a request if there are none", () =>
    Effect.gen(function* () {
      const files = yield* beside
      assert.deepStrictEqual(yield* runAllSteps(files.reader, []), [])
      assert.deepStrictEqual(files.read, [])
    })
  )

  it.effect("are read although one of them is damaged", () =>
    Effect.gen(function* () {
      const files = yield* beside
      files.edit([{ _tag: "Put", path: "b/_header.json", content: Buffer.from("{}") }])
      const { reader } = files
      const found = yield* runAllSteps(
        reader,
        ["a", "b", "c"].map((path) => () => steps(reader, nothingKnown(), path))
      )
      assert.deepStrictEqual(
        found.map((one) => (Either.isLeft(one) ? one.left.message : one.right?.header.count)),
        [10, "_header.json is of format undefined, not 2", 30]
      )
    })
  )

  it.effect("are read one after another for a reader that says so, and at the same time for others", () =>
    Effect.gen(function* () {
      const files = yield* beside
      const most = (concurrency: number) => {
        const { reader, seen } = recorded(files.reader, concurrency)
        return Effect.map(
          runAllSteps(
            reader,
            ["a", "b", "c"].map((path) => () => steps(reader, nothingKnown(), path))
          ),
          () => seen.most
        )
      }
      assert.strictEqual(yield* most(1), 1)
      // A directory and a file of one tree are read at the same time, too.
      const single = recorded(files.reader)
      yield* opened(single.reader, nothingKnown(), "a")
      assert.strictEqual(single.seen.most, 2)
      assert.isAbove(yield* most(2), 1)
      assert.isAbove(yield* most(16), 2)
    })
  )

  it.effect("fail as their reader does", () =>
    Effect.gen(function* () {
      const files = yield* beside
      const reader: TreeReader<string> = { ...files.reader, files: () => Effect.fail("no network") }
      assert.strictEqual(yield* Effect.flip(opened(reader, nothingKnown(), "a")), "no network")
    })
  )

  it.effect("are not called damaged where a function of the program throws", () =>
    Effect.gen(function* () {
      const files = yield* beside
      const { reader } = files
      const broken = () => {
        throw new Error("a bug")
      }
      const tree = yield* run(reader, () =>
        StoredTree.open({ reader, path: "b", keyOf: broken, known: nothingKnown() })
      )
      const exit = yield* Effect.exit(lines(tree!))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
    })
  )
})

describe("the files of a tree that were read or written", () => {
  const change = (tree: StoredTree<never>, n: number) => {
    const one = entry({ v: n, _id: `d${n}` })
    return run(tree.reader, () => applyEdits(tree, new Map([[one.key, one]]), emptyTree, small))
  }

  it.effect("are not read again by those who share a cache", () =>
    Effect.gen(function* () {
      const rows = numbered(100)
      const files = yield* built(rows)
      // A file of another program, which is listed before the header and does not change.
      files.edit([{ _tag: "Put", path: "README.md", content: Buffer.from("read me") }])
      files.root = new Map([...files.root].sort(([a], [b]) => (a < b ? -1 : 1)))
      const known = nothingKnown()
      const first = yield* opened(files.reader, known)
      const all = yield* lines(first)
      const { reader, seen } = recorded(files.reader)
      const again = yield* opened(reader, known)
      assert.deepStrictEqual(again.header, first.header)
      assert.deepStrictEqual(yield* lines(again), all)
      assert.deepStrictEqual(seen.files, [])
      // Nor are those of the next commit, except for leaves that it has moved.
      const { edits } = yield* change(again, 1000)
      files.edit(edits)
      const next = yield* opened(reader, known)
      assert.strictEqual(next.header.count, 101)
      assert.lengthOf(yield* lines(next), 101)
      assert.deepStrictEqual(seen.files, [])
    })
  )

  it.effect("are read once in a tree", () =>
    Effect.gen(function* () {
      const files = yield* built(numbered(100))
      const { headers } = nothingKnown()
      const known = { headers, leaves: { get: () => undefined, set: () => {} } }
      const { reader, seen } = recorded(files.reader)
      const tree = yield* opened(reader, known)
      yield* change(tree, 1000)
      const before = { ...seen, files: seen.files.length }
      yield* change(tree, 1000)
      assert.deepStrictEqual({ ...seen, files: seen.files.length }, before)
    })
  )

  it.effect("are those of one level together", () =>
    Effect.gen(function* () {
      const files = yield* built(numbered(300))
      const { reader, seen } = recorded(files.reader)
      const tree = yield* opened(reader)
      seen.files = []
      const ends = sorted(numbered(300)).filter((_, at) => at % 30 === 0)
      const found = yield* run(reader, () => tree.leavesOf(ends))
      assert.deepStrictEqual(
        found.flatMap(([, share]) => share.map(({ key }) => key)),
        ends.map(({ key }) => key)
      )
      yield* run(reader, () => tree.load(found.map(([leaf]) => leaf)))
      assert.deepStrictEqual(seen.files, [found.length])
      assert.deepStrictEqual(yield* run(reader, () => tree.leavesOf([])), [])
    })
  )
})

describe("a tree that another program has damaged", () => {
  const rows = numbered(60)

  /** What opening a tree, or reading its rows, says of a change; with a header that was made to fit or without. */
  const problem = (
    edit: (files: TreeFiles) => void,
    { fits = true, limits = small }: { readonly fits?: boolean; readonly limits?: typeof small } = {}
  ) =>
    Effect.gen(function* () {
      const files = yield* built(rows, limits)
      edit(files)
      if (fits) {
        const header = { tree: emptyTree, rows: files.directory("rows").oid, count: rows.length }
        files.edit([{ _tag: "Put", path: "_header.json", content: printHeader(header) }])
      }
      const failure = yield* Effect.flip(Effect.flatMap(opened(files.reader), (tree) => lines(tree)))
      assert.instanceOf(failure, BrokenTree)
      return [failure.path, failure.message]
    })

  const put = (path: string, content = "{}") =>
    ({ _tag: "Put", path, content: Buffer.from(content) }) as const

  it.effect("is refused with the path and the reason", () =>
    Effect.gen(function* () {
      const header = "_header.json"
      const without =
        (path: string, kind: "blob" | "tree" = "blob") =>
        (files: TreeFiles) =>
          files.edit([{ _tag: "Remove", path, kind }])
      assert.deepStrictEqual(yield* problem(without(header), { fits: false }), [
        header,
        "_header.json is missing"
      ])
      assert.deepStrictEqual(
        yield* problem(
          (files) => {
            without(header)(files)
            files.edit([put(`${header}/x.json`)])
          },
          { fits: false }
        ),
        [header, "_header.json is missing"]
      )
      assert.deepStrictEqual(yield* problem(without("rows", "tree"), { fits: false }), [
        "rows",
        "rows is missing"
      ])
      assert.deepStrictEqual(yield* problem((files) => files.edit([put("rows/x.json")]), { fits: false }), [
        "rows",
        "rows was changed by another program"
      ])
      assert.deepStrictEqual(yield* problem((files) => files.edit([put("rows/README.md")])), [
        "rows",
        "rows contains README.md, which is not part of the tree"
      ])
      assert.deepStrictEqual(yield* problem((files) => files.edit([put("rows/0/README.md")])), [
        "rows/0",
        "rows/0 contains README.md, which is not part of the tree"
      ])
      assert.deepStrictEqual(yield* problem((files) => files.edit([put("rows/a.json")])), [
        "rows",
        "rows contains both files and directories"
      ])
      assert.deepStrictEqual(yield* problem(without("rows/0.json"), { limits: flat }), [
        "rows",
        "rows has lost its beginning"
      ])
    })
  )

  it.effect("is refused where a leaf has the name of another one", () =>
    Effect.gen(function* () {
      let at = ""
      const found = yield* problem(
        (files) => {
          const [path, content] = leavesIn(files)[3]!
          at = path.replace(".json", "0.json")
          files.edit([
            { _tag: "Remove", path, kind: "blob" },
            { _tag: "Put", path: at, content }
          ])
        },
        { limits: flat }
      )
      assert.deepStrictEqual(found, [at, `${at} does not begin with the row that its name tells`])
    })
  )

  it.effect("is refused where its repository lacks a file or a directory that it lists", () =>
    Effect.gen(function* () {
      const files = yield* built(rows)
      const failure = (reader: TreeReader<never>) =>
        Effect.map(Effect.flip(Effect.flatMap(opened(reader), (tree) => lines(tree))), (error) => [
          error.path,
          error.message
        ])
      const { reader } = files
      const withoutLeaves: TreeReader<never> = {
        ...reader,
        files: (paths) =>
          Effect.map(reader.files(paths), (found) =>
            found.map((content, at) => (paths[at] === "_header.json" ? content : undefined))
          )
      }
      const [path, message] = yield* failure(withoutLeaves)
      assert.match(path!, /^rows\/0\/.*0\.json$/)
      assert.strictEqual(message, `${path} is missing`)
      const withoutDirectory: TreeReader<never> = {
        ...reader,
        directory: (path) => (path === "rows/0" ? Effect.succeed(undefined) : reader.directory(path))
      }
      assert.deepStrictEqual(yield* failure(withoutDirectory), ["rows/0", "rows/0 is empty or missing"])
      const withoutHeader: TreeReader<never> = {
        ...reader,
        files: (paths) =>
          Effect.map(reader.files(paths), (found) =>
            found.map((content, at) => (paths[at] === "_header.json" ? undefined : content))
          )
      }
      assert.deepStrictEqual(yield* failure(withoutHeader), ["_header.json", "_header.json is missing"])
    })
  )

  it.effect("is not remembered as whole", () =>
    Effect.gen(function* () {
      const files = yield* built(rows)
      const known = nothingKnown()
      files.edit([put("_header.json", "{}")])
      for (const _ of [1, 2]) {
        const failure = yield* Effect.flip(opened(files.reader, known))
        assert.strictEqual(failure.path, "_header.json")
      }
      assert.isTrue(Either.isLeft(parseHeader(files.file("_header.json")!)))
    })
  )
})

describe("a tree that is made anew", () => {
  const made = (rows: ReadonlyArray<Entry>, limits = small) =>
    Effect.gen(function* () {
      const written = new Map<string, Uint8Array>()
      const { count, files } = yield* buildTree(
        Stream.fromIterable(sorted(rows)),
        emptyTree,
        (content, oid) => Effect.sync(() => void written.set(oid, content)),
        limits
      )
      return { count, files, written }
    })

  it.effect("passes on the content of each of its files, with its id", () =>
    Effect.gen(function* () {
      for (const count of [0, 1, 200]) {
        const tree = yield* made(numbered(count))
        assert.strictEqual(tree.count, count)
        assert.deepStrictEqual(new Set(tree.files.map(({ oid }) => oid)), new Set(tree.written.keys()))
        for (const [oid, content] of tree.written) assert.strictEqual(GitObject.hash("blob", content), oid)
        assert.strictEqual(tree.files[0]!.path, "_header.json")
      }
    })
  )

  it.effect("of no rows has one leaf without any", () =>
    Effect.gen(function* () {
      const files = yield* built([])
      assert.deepStrictEqual(
        files.list().map(([path]) => path),
        ["_header.json", "rows/0.json"]
      )
      assert.deepStrictEqual(yield* lines(yield* opened(files.reader)), [])
    })
  )

  it.effect("fails as the writing of a file does", () =>
    Effect.gen(function* () {
      const failing = buildTree(Stream.empty, emptyTree, () => Effect.fail("the disk is full"), small)
      assert.strictEqual(yield* Effect.flip(failing), "the disk is full")
    })
  )

  it.live("lets timers run, and so do the changes of many rows", () =>
    Effect.gen(function* () {
      const rows = numbered(60_000)
      for (const one of rows) void one.separator.strength
      const limits = { leaf: 2000, directory: 100 }
      assert.isAbove(yield* turnsDuring(made(rows, limits)), 2)
      const files = yield* built(rows, limits)
      const tree = yield* opened(files.reader)
      const gone = new Map(rows.slice(0, 30_000).map(({ key }) => [key, undefined]))
      const turns = yield* turnsDuring(run(files.reader, () => applyEdits(tree, gone, emptyTree, limits)))
      assert.isAbove(turns, 2)
    })
  )
})

describe("a comparison with a tree that is made anew", () => {
  it.effect("names the files that are missing, different or too many", () =>
    Effect.gen(function* () {
      const rows = sorted(numbered(60))
      const files = yield* built(rows, flat)
      const [, [missing], [different]] = leavesIn(files) as ReadonlyArray<readonly [string, Uint8Array]> as [
        unknown,
        readonly [string, Uint8Array],
        readonly [string, Uint8Array]
      ]
      files.edit([
        { _tag: "Remove", path: missing, kind: "blob" },
        { _tag: "Put", path: different, content: Buffer.from("[]\n") },
        { _tag: "Put", path: "rows/z/more.json", content: Buffer.from("{}") },
        { _tag: "Put", path: "README.md", content: Buffer.from("read me") }
      ])
      const problems = yield* verifyTree(files.reader, "", Stream.fromIterable(rows), emptyTree, flat)
      assert.deepStrictEqual(
        new Map(problems.map(({ path, problem }) => [path, problem])),
        new Map<string, string>([
          [missing, "missing"],
          [different, "different"],
          ["rows/z/more.json", "unexpected"],
          ["README.md", "unexpected"]
        ])
      )
    })
  )
})

describe("the order of a tree", () => {
  const byId = ({ _id }: Row) => `t${String(_id)}`
  const ofId = (id: string) => Either.getOrThrow(entryOf({ _id: id }, byId))
  const opening = (files: TreeFiles, reader = files.reader) =>
    run(reader, () => StoredTree.open({ reader, path: "", keyOf: byId, known: nothingKnown() }))

  // A name has at most 100 characters of a key, which begins with a "t".
  const beginning = "a".repeat(99)
  const ids = [
    ...["0", "1", "10", "a", "aa", "b", `b${beginning}`],
    ...[beginning, beginning.slice(1), `${beginning}0`, `${beginning}00`, `${beginning}b`, `${beginning}bb`],
    ...[`${beginning}0${beginning}`, `${beginning}${beginning}1`]
  ]

  it.effect("is that of the keys, in whatever order the remote lists files and however names are cut", () =>
    Effect.gen(function* () {
      const rows = ids.map(ofId)
      const expected = sorted(rows).map(({ line }) => line)
      for (const directory of [3, 1000]) {
        const files = yield* built(rows, { leaf: 1, directory })
        for (const order of [1, -1]) {
          const { directory: listed, ...others } = files.reader
          const reader: TreeReader<never> = {
            ...others,
            directory: (path) =>
              Effect.map(
                listed(path),
                (found) =>
                  found && {
                    ...found,
                    entries: [...found.entries].sort((a, b) => (a.name < b.name ? -order : order))
                  }
              )
          }
          const tree = (yield* opening(files, reader))!
          assert.deepStrictEqual(yield* lines(tree), expected)
          assert.deepStrictEqual(yield* lines(tree, { reverse: true }), [...expected].reverse())
          for (const [at, { key, line }] of rows.entries()) {
            const fresh = (yield* opening(files, reader))!
            const [one] = yield* lines(fresh, { from: key })
            assert.strictEqual(one, line)
            if (at % 3 > 0) continue
            assert.lengthOf(yield* lines(fresh, { until: key }), expected.indexOf(line))
            const edits = new Map([[key, undefined]])
            const limits = { leaf: 1, directory }
            const applied = yield* run(reader, () => applyEdits(fresh, edits, emptyTree, limits))
            const after = yield* built(rows, limits)
            after.edit(applied.edits)
            const others = rows.filter((other) => other.key !== key)
            assert.strictEqual(after.directory("").oid, (yield* built(others, limits)).directory("").oid)
          }
        }
      }
    })
  )
})

describe("what is read for a change", () => {
  it.effect("is less where the remote tells the sizes of files", () =>
    Effect.gen(function* () {
      const read = (sizes: boolean) =>
        Effect.gen(function* () {
          const rows = numbered(250)
          const files = yield* built(rows, small, sizes)
          let count = 0
          for (const { key } of rows.slice(0, 60)) {
            const { reader, seen } = recorded(files.reader)
            const tree = yield* opened(reader)
            const { edits } = yield* run(reader, () =>
              applyEdits(tree, new Map([[key, undefined]]), emptyTree, small)
            )
            count += seen.files.reduce((sum, some) => sum + some, 0)
            files.edit(edits)
          }
          return count
        })
      assert.isBelow(yield* read(true), yield* read(false))
    })
  )

  // Two leaves at most have a name that is cut, to different texts.
  const long = (letter: string) => letter.repeat(150)

  it.effect("includes the first row of a leaf only if its name is cut to the beginning of the key", () =>
    Effect.gen(function* () {
      const all = Array.from({ length: 40 }, (_, n) =>
        entry({ v: `${String.fromCharCode(97 + (n % 20))}${n}`, _id: `d${n}` })
      )
      const cut = ["y", "z"].map((letter) => entry({ v: long(letter), _id: letter, note: "x".repeat(200) }))
      const files = yield* built([...all, ...cut], { leaf: 100, directory: 1000 })
      const reads = (key: string) =>
        Effect.gen(function* () {
          const { reader, seen } = recorded(files.reader)
          const tree = yield* opened(reader)
          assert.deepStrictEqual(seen.files, [1])
          yield* run(reader, () => tree.leavesOf([{ key }]))
          return seen.files.slice(1)
        })
      assert.deepStrictEqual(yield* reads(all[0]!.key), [])
      assert.deepStrictEqual(yield* reads(cut[0]!.key), [1])
      for (const { key, line } of cut) {
        assert.deepStrictEqual(yield* lines(yield* opened(files.reader), { from: key, until: `${key}~` }), [
          line
        ])
      }
    })
  )

  it.effect("includes the first rows of all leaves whose names are cut to the same text, once", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 12 }, (_, n) => entry({ v: `${long("x")}${n}`, _id: `d${n}` }))
      const files = yield* built([entry({ v: "a", _id: "a" }), ...rows], { leaf: 50, directory: 1000 })
      const { reader, seen } = recorded(files.reader)
      const known = nothingKnown()
      const tree = yield* opened(reader, known)
      assert.deepStrictEqual(seen.files, [1, rows.length])
      const found = yield* run(reader, () => tree.leavesOf(sorted(rows)))
      assert.lengthOf(found, rows.length)
      assert.deepStrictEqual(seen.files, [1, rows.length])
      assert.deepStrictEqual(
        yield* lines(tree),
        sorted([entry({ v: "a", _id: "a" }), ...rows]).map(({ line }) => line)
      )
    })
  )
})
