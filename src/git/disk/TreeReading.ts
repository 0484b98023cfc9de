import * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import { segmentsOf } from "../Names.js"
import type { PathChange, Tree, TreeEntry } from "../Tree.js"
import type { ObjectDatabase } from "./ObjectDatabase.js"
import { RawTree } from "./RawTree.js"

/** The entry at `path` below a root tree; undefined when there is none. */
export const lookup = (objects: ObjectDatabase, root: Oid, path: string): TreeEntry | undefined => {
  const segments = segmentsOf(path)
  if (segments === undefined) return undefined
  let at: Oid = root
  for (let i = 0; i < segments.length; i++) {
    const tree = objects.tree(at)
    const index = tree.find(Buffer.from(segments[i]!, "utf8"))
    if (index < 0) return undefined
    if (i === segments.length - 1) {
      const mode = tree.mode(index)
      return { path, mode, kind: tree.kind(index), oid: tree.oid(index) }
    }
    if (!tree.isTree(index)) return undefined
    at = tree.oid(index)
  }
  return { path: "", mode: "040000", kind: "tree", oid: at }
}

/** A directory with its entries; undefined when `path` is missing or is no directory. */
export const list = (
  objects: ObjectDatabase,
  root: Oid,
  path: string,
  options: { readonly recursive: boolean; readonly trees: boolean }
): Tree | undefined => {
  const top = lookup(objects, root, path)
  if (top?.kind !== "tree") return undefined
  const entries: Array<TreeEntry> = []
  const walk = (oid: Oid, prefix: string) => {
    const tree = objects.tree(oid)
    for (let i = 0; i < tree.length; i++) {
      if (options.recursive && tree.isTree(i)) {
        const entry = tree.entry(i, prefix)
        if (options.trees) entries.push(entry)
        walk(entry.oid, `${entry.path}/`)
      } else entries.push(tree.entry(i, prefix))
    }
  }
  walk(top.oid, "")
  return { oid: top.oid, entries }
}

/** Every path whose blob differs between two root trees, below `under`. */
export const diff = (
  objects: ObjectDatabase,
  before: Oid | undefined,
  after: Oid | undefined,
  under: string
): Array<PathChange> => {
  const changes: Array<PathChange> = []
  const record = (path: string, from: Oid | undefined, to: Oid | undefined) =>
    changes.push({ path, before: Option.fromNullable(from), after: Option.fromNullable(to) })

  const oneSide = (tree: RawTree, index: number, prefix: string, isBefore: boolean) => {
    const path = prefix + tree.name(index)
    if (tree.isTree(index)) {
      const below = objects.tree(tree.oid(index))
      for (let i = 0; i < below.length; i++) oneSide(below, i, `${path}/`, isBefore)
    } else if (tree.kind(index) === "blob") {
      record(path, isBefore ? tree.oid(index) : undefined, isBefore ? undefined : tree.oid(index))
    }
  }

  const compare = (from: RawTree, to: RawTree, prefix: string) => {
    let i = 0
    let j = 0
    while (i < from.length || j < to.length) {
      const order = i >= from.length ? 1 : j >= to.length ? -1 : Buffer.compare(keyOf(from, i), keyOf(to, j))
      if (order < 0) oneSide(from, i++, prefix, true)
      else if (order > 0) oneSide(to, j++, prefix, false)
      else {
        if (!from.sameEntry(i, to, j)) {
          const path = prefix + to.name(j)
          if (to.isTree(j)) compare(objects.tree(from.oid(i)), objects.tree(to.oid(j)), `${path}/`)
          else if (from.kind(i) === "blob" && to.kind(j) === "blob") record(path, from.oid(i), to.oid(j))
          else {
            oneSide(from, i, prefix, true)
            oneSide(to, j, prefix, false)
          }
        }
        i++
        j++
      }
    }
  }

  const at = (root: Oid | undefined): TreeEntry | undefined =>
    root === undefined ? undefined : lookup(objects, root, under)
  const [from, to] = [at(before), at(after)]
  if (from?.oid === to?.oid) return changes
  const treeOf = (entry: TreeEntry | undefined) =>
    entry?.kind === "tree" ? objects.tree(entry.oid) : RawTree.empty
  const blobOf = (entry: TreeEntry | undefined) => (entry?.kind === "blob" ? entry.oid : undefined)
  if (blobOf(from) !== blobOf(to)) record(under, blobOf(from), blobOf(to))
  compare(treeOf(from), treeOf(to), under === "" ? "" : `${under}/`)
  return changes
}

const keyOf = (tree: RawTree, index: number): Buffer =>
  tree.isTree(index) ? Buffer.concat([tree.nameBytes(index), Buffer.of(0x2f)]) : tree.nameBytes(index)

/** The id of the directory at `path`, over trees that may not be written yet; undefined when missing or empty. */
export const directoryId = (load: (oid: Oid) => RawTree, root: Oid, path: string): Oid | undefined => {
  const segments = segmentsOf(path)
  if (segments === undefined || load(root).length === 0) return undefined
  let at = root
  for (const segment of segments) {
    const tree = load(at)
    const index = tree.find(Buffer.from(segment, "utf8"))
    if (index < 0 || !tree.isTree(index)) return undefined
    at = tree.oid(index)
  }
  return at
}
