import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Node } from "./Node.js"
import type { ReadSteps } from "./ReadSteps.js"
import { nameOf } from "./Separator.js"
import type { StoredTree } from "./StoredTree.js"

/**
 * A change of the directory of a tree. Paths are unique and not nested. `Link` puts a blob or a whole directory that
 * the commit has at `from`; `Remove` of a directory removes its contents.
 */
export type TreeEdit =
  | { readonly _tag: "Put"; readonly path: string; readonly content: Uint8Array }
  | {
      readonly _tag: "Link"
      readonly path: string
      readonly kind: "blob" | "tree"
      readonly oid: Oid
      readonly from: string
    }
  | { readonly _tag: "Remove"; readonly path: string; readonly kind: "blob" | "tree" }

const kindOf = ({ isLeaf }: Node) => (isLeaf ? "blob" : "tree")

/** The edits that turn a directory into `after`. */
export function* differences<E>(
  tree: StoredTree<E>,
  before: Node | undefined,
  after: Node,
  path: string
): ReadSteps<Array<TreeEdit>> {
  const found: Array<TreeEdit> = []
  const were = before === undefined ? [] : yield* tree.children(before)
  const old = new Map<string, Node>()
  for (const child of were) {
    old.set(child.location!.path.slice(child.location!.path.lastIndexOf("/") + 1), child)
  }
  for (const [at, child] of after.children!.entries()) {
    const name = nameOf(child.separator, at === 0, child.isLeaf)
    const was = old.get(name)
    old.delete(name)
    const below = `${path}/${name}`
    if (child.location !== undefined) {
      if (was?.location?.oid !== child.location.oid) {
        found.push({
          _tag: "Link",
          path: below,
          kind: kindOf(child),
          oid: child.location.oid,
          from: child.location.path
        })
      }
    } else if (child.isLeaf) {
      yield
      // The id of the directory needs the id of the leaf: compute the hash here, between yields.
      if (was?.oid === child.oid) continue
      found.push({ _tag: "Put", path: below, content: child.content })
      tree.cacheLeaf(child)
    } else {
      for (const edit of yield* differences(tree, was, child, below)) found.push(edit)
    }
  }
  for (const child of old.values()) {
    found.push({ _tag: "Remove", path: child.location!.path, kind: kindOf(child) })
  }
  return found
}
