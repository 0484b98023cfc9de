import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Node } from "./Node.js"
import type { ReadSteps } from "./ReadSteps.js"
import { nameOf } from "./Separator.js"
import type { StoredTree } from "./StoredTree.js"

/**
 * One change of the directory of a tree. Paths are unique, and none lies below another one. `Link` puts a blob or a whole
 * directory that the commit has at `from` in the place of what is there; `Remove` of a directory removes what is in it.
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

/** What makes the directory `after` of the directory that was at its path. */
export function* differences<E>(
  tree: StoredTree<E>,
  before: Node | undefined,
  after: Node,
  path: string
): ReadSteps<Array<TreeEdit>> {
  const found: Array<TreeEdit> = []
  const children = after.children!
  const were = before === undefined ? [] : yield* tree.children(before)
  // A write changes few of a directory's children: those before and behind them are the same, at the same paths.
  let from = 0
  while (from < children.length && from < were.length && children[from] === were[from]) from++
  let [end, oldEnd] = [children.length, were.length]
  const least = Math.max(from, 1)
  while (end > least && oldEnd > least && children[end - 1] === were[oldEnd - 1]) {
    end--
    oldEnd--
  }
  const old = new Map<string, Node>()
  for (const child of were.slice(from, oldEnd)) {
    old.set(child.location!.path.slice(child.location!.path.lastIndexOf("/") + 1), child)
  }
  for (let at = from; at < end; at++) {
    const child = children[at]!
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
      // The id of the directory needs that of the leaf: the hash is taken here, in turns.
      if (was?.oid === child.oid) continue
      found.push({ _tag: "Put", path: below, content: child.content })
      tree.keep(child)
    } else {
      for (const edit of yield* differences(tree, was, child, below)) found.push(edit)
    }
  }
  for (const child of old.values()) {
    found.push({ _tag: "Remove", path: child.location!.path, kind: kindOf(child) })
  }
  return found
}
