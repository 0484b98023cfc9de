import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Option } from "effect"
import * as Steps from "../../../../src/domain/concurrency/Steps.js"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import { editMapTree, toPathEdits } from "../../../../src/git/MapTreeEdit.js"
import { MapTreeNode } from "../../../../src/git/MapTreeNode.js"
import { MemoryRepository } from "../../../../src/git/memory/MemoryRepository.js"
import { diffTrees, entriesBelow } from "../../../../src/git/TreeReading.js"
import { recursiveListing } from "../../../../src/store/remote/github/objects/Listing.js"
import { diff as diffOfHost } from "../../../../src/store/remote/github/reads/History.js"

const repository = new MemoryRepository("diff")
const source = { tree: (oid: Oid) => new MapTreeNode(repository.trees.get(oid)!) }

/** A tree of some files, and the listing of it as the host tells it. */
const treeOf = (files: Iterable<readonly [string, number]>) => {
  const put = new Map(files)
  const changes = [...put].map(
    ([path, n]) => ({ _tag: "Put", path, content: new TextEncoder().encode(`${n}`) }) as const
  )
  const edits = toPathEdits(changes, (content) => repository.writeBlob(content))
  const oid = editMapTree(repository.trees, undefined, edits, "test", (tree) =>
    repository.writeTree(tree)
  ) as Oid
  const entries = Steps.runSync(entriesBelow(source, oid, { recursive: true, trees: true }))
  return { oid, listing: recursiveListing(entries) }
}

describe("what differs between two listings", () => {
  it("is what differs between their trees", () => {
    const name = fc.constantFrom("a", "b", "c", "a-", "a.x")
    // A file never lies where a directory does: its name says which it is.
    const path = fc
      .tuple(fc.array(name, { maxLength: 2 }), name)
      .map(([above, file]) => [...above.map((part) => `${part}d`), file].join("/"))
    const files = fc.array(fc.tuple(path, fc.nat(2)), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(files, files, fc.boolean(), (one, other, isChange) => {
        const before = treeOf(one)
        const after = treeOf(isChange ? [...one, ...other.slice(0, 2)] : other)
        const trees = {
          list: (at: Oid) => Effect.succeedSome(at === before.oid ? before.listing : after.listing)
        }
        const found = Effect.runSync(diffOfHost(trees as never, Option.some(before.oid), after.oid, ""))
        const entry = (oid: Oid) => ({ mode: "040000", oid }) as const
        const steps = diffTrees(source, entry(before.oid), entry(after.oid), "")
        assert.deepStrictEqual(found, Steps.runSync(steps))
      })
    )
  })
})
