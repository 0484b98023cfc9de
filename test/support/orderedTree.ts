import { Effect, Stream } from "effect"
import { emptyTree } from "../../src/domain/identifiers/Oid.js"
import { buildTree } from "../../src/store/internal/ordered-tree/Build.js"
import type { Entry } from "../../src/store/internal/ordered-tree/Leaf.js"
import { makeTreeCache } from "../../src/store/internal/ordered-tree/TreeCache.js"
import type { TreeLimits } from "../../src/store/internal/ordered-tree/TreeLimits.js"
import { TreeFiles } from "./treeFiles.js"

/** So small that a hundred rows make a tree of several levels. */
export const small: TreeLimits = { leaf: 200, directory: 3 }

export const sorted = <A extends { readonly key: string }>(rows: Iterable<A>): Array<A> =>
  [...rows].sort((a, b) => (a.key < b.key ? -1 : 1))

/** A tree made anew of rows in any order. */
export const built = (rows: Iterable<Entry>, limits: TreeLimits = small, sizes = false) =>
  Effect.gen(function* () {
    const files = new TreeFiles(sizes)
    const { files: found } = yield* buildTree(
      Stream.fromIterable(sorted(rows)),
      emptyTree,
      (content) => Effect.sync(() => files.write(content)),
      limits
    )
    files.edit(found.map(({ oid, path }) => ({ _tag: "Link", path, kind: "blob", oid, from: path })))
    files.written = []
    return files
  })

export const nothingKnown = () => {
  const { headers, leaves } = makeTreeCache()
  return { headers, leaves: leaves("") }
}
