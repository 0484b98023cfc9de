import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import type { TreeEntry } from "../../../../src/store/remote/GitRemote.js"
import { makeCachedTrees } from "../../../../src/store/remote/github/objects/CachedTrees.js"
import { entryNamed, shallowListing } from "../../../../src/store/remote/github/objects/Listing.js"
import { makeObjectCache } from "../../../../src/store/remote/github/objects/ObjectCache.js"

const oid = (n: number) => n.toString(16).padStart(40, "0") as Oid
const entry = (path: string, isTree: boolean, n: number): TreeEntry =>
  isTree
    ? { path, mode: "040000", kind: "tree", oid: oid(n) }
    : { path, mode: "100644", kind: "blob", oid: oid(n) }

describe("entries of a tree by their names", () => {
  it("are found wherever Git's order puts them", () => {
    const name = fc.stringOf(fc.constantFrom("a", "b", "-", ".", "0", "é", "\uffff", "𐀀"), {
      minLength: 1,
      maxLength: 3
    })
    const tree = fc.uniqueArray(fc.tuple(name, fc.boolean()), { selector: ([path]) => path })
    fc.assert(
      fc.property(tree, fc.array(name), (given, others) => {
        const all = given.map(([path, isTree], n) => entry(path, isTree, n))
        const entries = shallowListing(all).directories.get("")!
        for (const path of [...others, ...given.map(([path]) => path)]) {
          assert.strictEqual(entryNamed(entries, path)?.oid, all.find((one) => one.path === path)?.oid, path)
        }
      })
    )
  })

  it("are found as fast among 100,000", () => {
    const known = makeCachedTrees(makeObjectCache(64 * 1024 * 1024))
    const names = Array.from({ length: 100_000 }, (_, n) => `product-${String(n).padStart(6, "0")}.json`)
    known.putListing(oid(1), "c", shallowListing(names.map((name, n) => entry(name, false, n))))
    const head = { commit: oid(2), tree: oid(1) }
    const started = performance.now()
    for (const name of names.slice(0, 20_000)) {
      assert.isTrue(Option.isSome(known.entryAt(head, `c/${name}`) ?? Option.none()))
    }
    assert.isBelow(performance.now() - started, 2_000)
  })
})

describe("directories known of roots", () => {
  it("are bounded over all of them, and those of the last ones are kept", () => {
    const cache = makeObjectCache(1024)
    const roots = Array.from({ length: 40 }, (_, n) => oid(n + 1))
    for (const root of roots) {
      for (let n = 0; n < 5_000; n++) cache.putDirectories(root, new Map([[`d${n}`, oid(n)]]))
    }
    const sizes = roots.map((root) => cache.directories(root).size)
    assert.strictEqual(sizes.at(-1), 4_096)
    assert.isAtMost(
      sizes.reduce((sum, size) => sum + size),
      70_000
    )
    for (let n = 0; n < 300; n++) cache.putDirectories(oid(1_000 + n), new Map([["d", null]]))
    assert.strictEqual(cache.directory(oid(1_299), "d"), null)
    assert.isUndefined(cache.directory(oid(1_000), "d"))
  })
})
