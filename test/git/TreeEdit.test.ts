import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Option } from "effect"
import * as Steps from "../../src/domain/concurrency/Steps.js"
import { ValidationError } from "../../src/domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../src/domain/identifiers/Oid.js"
import * as GitObject from "../../src/git/GitObject.js"
import { encodeMapTree, type MapTree } from "../../src/git/MapTree.js"
import { editMapTree } from "../../src/git/MapTreeEdit.js"
import { blobSides, type FileEntry, pathChange, submodulesOf } from "../../src/git/Tree.js"
import { changedPathsError, type PathEdit, unsafeEditTree } from "../../src/git/TreeEdit.js"

const oid = (n: number) => n.toString(16).padStart(40, "0") as Oid

type Files = ReadonlyMap<string, { readonly mode: PathEdit["mode"]; readonly oid: Oid }>

/** The objects of a repository in memory. */
class Trees {
  readonly found = new Map<Oid, MapTree>()
  read: Array<Oid> = []

  readonly write = (tree: MapTree): Oid => {
    const id = GitObject.hash("tree", encodeMapTree(tree))
    this.found.set(id, tree)
    return id
  }

  get(id: Oid): MapTree | undefined {
    this.read.push(id)
    return this.found.get(id)
  }

  edit(base: Oid | undefined, edits: ReadonlyArray<PathEdit>) {
    return editMapTree(this, base, edits, "edit", this.write)
  }
}

/** The root of a tree with these files, built without the code under test. */
const rootOf = (files: Files): Oid => {
  const build = (prefix: string): Oid => {
    const entries = new Map<string, GitObject.NamedEntry>()
    for (const [path, { mode, oid }] of files) {
      if (!path.startsWith(prefix)) continue
      const [name, ...rest] = path.slice(prefix.length).split("/") as [string, ...Array<string>]
      if (rest.length === 0) entries.set(name, { name, mode, oid })
      else if (!entries.has(name))
        entries.set(name, { name, mode: "040000", oid: build(`${prefix}${name}/`) })
    }
    const sorted = [...entries.values()].sort(GitObject.compareEntries)
    return GitObject.hash("tree", GitObject.encodeTree(sorted))
  }
  return build("")
}

const put = (path: string, n: number, mode: PathEdit["mode"] = "100644"): PathEdit => ({
  path,
  mode,
  oid: oid(n)
})
const remove = (path: string): PathEdit => ({ path, mode: "100644", oid: undefined })

const name = FastCheck.constantFrom("a", "b", "a.json", "a-b", "ab", "é")
const path = FastCheck.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"))
const mode = FastCheck.constantFrom<PathEdit["mode"]>("100644", "100644", "100755", "120000", "160000")
const change = FastCheck.record({ path, mode, n: FastCheck.nat(5) })

/** Whether a path is above or below a file, or is one. */
const clashes = (files: Files, path: string) =>
  [...files.keys()].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`))

const error = (result: Oid | ValidationError) =>
  result instanceof ValidationError ? [result.operation, result.path, result.message, result.hint] : result

describe("edits of a tree", () => {
  it("give the tree of the files that remain, and read only directories on edited paths", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.array(change, { maxLength: 8 }), { maxLength: 6 }),
        (rounds) => {
          const trees = new Trees()
          let files: Files = new Map()
          let root: Oid | undefined
          for (const changes of rounds) {
            const next = new Map(files)
            const edits: Array<PathEdit> = []
            for (const { mode, n, path } of changes) {
              if (edits.some((edit) => edit.path === path)) continue
              if (n === 0 && files.has(path)) {
                edits.push(remove(path))
                next.delete(path)
              } else if (!clashes(next, path) && !clashes(files, path)) {
                edits.push(put(path, n, mode))
                next.set(path, { mode, oid: oid(n) })
              }
            }
            trees.read = []
            const made = trees.edit(root, edits)
            assert.strictEqual(made, rootOf(next))
            const directories = new Set(
              edits.flatMap(({ path }) => path.split("/").map((_, at, all) => all.slice(0, at).join("/")))
            )
            assert.isAtMost(trees.read.length, Math.max(1, directories.size))
            files = next
            root = made as Oid
          }
        }
      ),
      { numRuns: 300 }
    )
  })

  const trees = new Trees()
  const base = trees.edit(undefined, [
    put("d/a", 1),
    put("d/e/b", 2),
    put("file", 3),
    put("sub", 4, "160000")
  ]) as Oid

  it("may empty a directory, or the whole tree", () => {
    assert.strictEqual(
      trees.edit(base, [remove("d/a"), remove("d/e/b"), remove("file"), remove("sub")]),
      emptyTree
    )
    assert.strictEqual(trees.edit(base, []), base)
    assert.strictEqual(trees.edit(undefined, []), emptyTree)
    assert.strictEqual(trees.edit(emptyTree, [put("a", 1)]), trees.edit(undefined, [put("a", 1)]))
  })

  it("replace a file by a directory and a directory by a file, where the commit removes what is there", () => {
    const files = (...entries: ReadonlyArray<readonly [string, number]>) =>
      rootOf(new Map(entries.map(([path, n]) => [path, { mode: "100644" as const, oid: oid(n) }])))
    const plain = trees.edit(undefined, [put("d/a", 1), put("file", 3)]) as Oid
    assert.strictEqual(
      trees.edit(plain, [remove("file"), put("file/x", 5)]),
      files(["d/a", 1], ["file/x", 5])
    )
    assert.strictEqual(trees.edit(plain, [put("d", 5), remove("d/a")]), files(["d", 5], ["file", 3]))
    assert.strictEqual(trees.edit(plain, [remove("d/a"), put("d/b/c", 5)]), files(["d/b/c", 5], ["file", 3]))
    const other = trees.edit(undefined, [put("b/c", 5)]) as Oid
    const directory: PathEdit = { path: "d", mode: "040000", oid: other }
    assert.strictEqual(trees.edit(plain, [directory]), files(["d/b/c", 5], ["file", 3]))
  })

  it("are refused where they do not fit", () => {
    const refused: ReadonlyArray<
      readonly [ReadonlyArray<PathEdit>, path: string, problem: string, hint?: string]
    > = [
      [[remove("missing")], "missing", "is not there, so it cannot be removed", "look at the branch again"],
      [[remove("d/x/y")], "d/x/y", "is not there, so it cannot be removed", "look at the branch again"],
      [[remove("d")], "d", "is a directory, so it cannot be removed as a file", "look at the branch again"],
      [[put("d", 1)], "d", "is a directory, so it cannot be written as a file", "use another path"],
      [
        [put("file/x", 1)],
        "file",
        "is a file, so nothing can be put below it",
        "remove the file in the same commit, or use another path"
      ],
      [
        [put("sub/x", 1)],
        "sub",
        "is a file, so nothing can be put below it",
        "remove the file in the same commit, or use another path"
      ],
      [[put("x", 1), put("x/y", 1)], "x", "is changed both as a file and as a directory"],
      [[put("x/y", 1), put("x", 1)], "x", "is changed both as a file and as a directory"],
      [[put("file", 1), put("file/y", 1)], "file", "is changed both as a file and as a directory"],
      [[put("d", 1), remove("d/a")], "d", "is changed both as a file and as a directory"],
      [[put("x", 1), put("x", 1)], "x", "is changed twice in one commit"],
      [[put("x/y", 1), put("z", 1), remove("x/y")], "x/y", "is changed twice in one commit"],
      [
        [{ ...put("sub", 1), keepsSubmodule: true }],
        "sub",
        "is a submodule, so it cannot be written as a file",
        "use another path"
      ]
    ]
    for (const [edits, path, problem, hint] of refused) {
      assert.deepStrictEqual(
        error(trees.edit(base, edits)),
        ["edit", path, `the path ${JSON.stringify(path)} ${problem}`, hint],
        JSON.stringify(edits)
      )
    }
    assert.include(String(error(trees.edit(base, [put("a/../b", 1)]))), "a/../b")
    assert.notInstanceOf(trees.edit(base, [put("sub", 1)]), ValidationError)
    assert.notInstanceOf(trees.edit(base, [{ ...put("file", 1), keepsSubmodule: true }]), ValidationError)
    assert.throws(
      () => editMapTree({ get: () => assert.fail("a defect") }, base, [put("a", 1)], "edit", trees.write),
      "a defect"
    )
  })

  it("with removesDirectories remove or replace a directory as a whole", () => {
    const edit = (...edits: ReadonlyArray<PathEdit>) => {
      const empty: MapTree = new Map()
      return Steps.runSync(
        unsafeEditTree<MapTree>(
          {
            empty,
            load: (id) => trees.found.get(id)!,
            find: (tree, name) => tree.get(name),
            edit: (_, before, changes) => {
              const entries = new Map(before)
              for (const { mode, name, oid } of changes) {
                if (oid === undefined) {
                  assert.strictEqual(before.get(name)?.mode === "040000", mode === "040000", name)
                  entries.delete(name)
                } else entries.set(name, { mode, oid })
              }
              const sorted = [...entries]
                .map(([name, entry]) => ({ name, ...entry }))
                .sort(GitObject.compareEntries)
              return sorted.length === 0
                ? undefined
                : trees.write(new Map(sorted.map(({ name, ...entry }) => [name, entry])))
            }
          },
          base,
          edits,
          { operation: "edit", removesDirectories: true }
        )
      )
    }
    const files = (...paths: ReadonlyArray<PathEdit>) =>
      rootOf(new Map(paths.map(({ mode, oid, path }) => [path, { mode, oid: oid! }])))
    const rest = [put("file", 3), put("sub", 4, "160000")]
    assert.strictEqual(edit(remove("d")), files(...rest))
    assert.strictEqual(edit(put("d", 9)), files(...rest, put("d", 9)))
    assert.strictEqual(edit(remove("d/e")), files(...rest, put("d/a", 1)))
    assert.throws(() => edit(remove("x")), "is not there, so it cannot be removed")
    const directory = trees.found.get(base)!.get("d")!.oid
    assert.strictEqual(
      edit({ path: "copy", mode: "040000", oid: directory }),
      files(...rest, put("d/a", 1), put("d/e/b", 2), put("copy/a", 1), put("copy/e/b", 2))
    )
  })

  it("pause in time where there are many", () => {
    const many = Array.from({ length: 20_000 }, (_, n) => put(`${n % 150}/${n}`, n))
    const steps = unsafeEditTree<MapTree>(
      {
        empty: new Map(),
        load: () => new Map(),
        find: () => undefined,
        edit: (_, __, changes) => (changes.length === 0 ? undefined : oid(changes.length))
      },
      undefined,
      many,
      { operation: "edit", removesDirectories: false }
    )
    let pauses = 0
    while (steps.next().done !== true) pauses++
    assert.isAtLeast(pauses, 150 + 2 * Math.floor(many.length / Steps.stepSize))
    assert.isAtMost(pauses, 150 + 2 * Math.ceil((many.length + 1000) / Steps.stepSize))
  })

  it("are checked for invalid and repeated paths before they are applied", () => {
    assert.isUndefined(changedPathsError("write", [put("a", 1), put("b", 1)]))
    const twice = changedPathsError("write", [put("a", 1), put("b", 1), remove("a")])
    assert.deepStrictEqual([twice?.operation, twice?.path], ["write", "a"])
    assert.strictEqual(twice?.message, 'the path "a" is changed twice in one commit')
    assert.strictEqual(changedPathsError("write", [put("a", 1), put("/b", 1)])?.path, "/b")
  })
})

describe("the change of a path", () => {
  const plain: FileEntry = { oid: oid(1), mode: "100644" }
  const script: FileEntry = { oid: oid(1), mode: "100755" }
  const module: FileEntry = { oid: oid(2), mode: "160000" }
  const some = Option.some
  const none = Option.none()

  it("has modes only where one is not that of a plain file", () => {
    assert.deepStrictEqual(pathChange("a", plain, undefined), {
      path: "a",
      before: some(oid(1)),
      after: none
    })
    assert.deepStrictEqual(pathChange("a", undefined, plain), {
      path: "a",
      before: none,
      after: some(oid(1))
    })
    assert.deepStrictEqual(pathChange("a", plain, script), {
      path: "a",
      before: some(oid(1)),
      after: some(oid(1)),
      modes: { before: "100644", after: "100755" }
    })
    assert.deepStrictEqual(pathChange("a", module, undefined).modes, { before: "160000", after: undefined })
    assert.deepStrictEqual(pathChange("a", undefined, script).modes, { before: undefined, after: "100755" })
  })

  it("has blobs except of submodules, and submodules except of files", () => {
    const cases = [plain, script, module, undefined]
    for (const before of cases) {
      for (const after of cases) {
        const change = pathChange("a", before, after)
        const blob = (file: FileEntry | undefined) =>
          file === undefined || file === module ? none : some(file.oid)
        assert.deepStrictEqual(blobSides(change), { before: blob(before), after: blob(after) })
        const only = (file: FileEntry | undefined) => (file === module ? module : undefined)
        assert.deepStrictEqual(
          submodulesOf(change),
          before === module || after === module ? pathChange("a", only(before), only(after)) : undefined
        )
      }
    }
  })
})
