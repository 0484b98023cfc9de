import { emptyTree, type Oid } from "../../domain/Oid.js"
import { ValidationError } from "../../domain/StoreError.js"
import { pathError } from "../Names.js"
import type { TreeEntry } from "../Tree.js"
import { hashObject } from "./GitObjects.js"
import { RawTree, type Splice, type TreeEdit } from "./RawTree.js"

/** One change of a tree; `oid` undefined removes. */
export interface PathEdit {
  readonly path: string
  readonly mode: TreeEntry["mode"]
  readonly oid: Oid | undefined
}

/** A tree that a rewrite made; `base` and `splices` tell how it differs from the one it replaces. */
export interface NewTree {
  readonly oid: Oid
  readonly tree: RawTree
  readonly base: Oid | undefined
  readonly splices: ReadonlyArray<Splice>
}

export interface Rewritten {
  /** The new root; the empty tree when nothing is left. */
  readonly root: Oid
  /** Subtrees before the trees that hold them. */
  readonly trees: ReadonlyArray<NewTree>
}

export interface TreeSource {
  readonly load: (oid: Oid) => RawTree
  /** Remembers trees made for edits of a base, so that hashing first and committing after costs once. */
  readonly memo: {
    get(key: string): NewTree | undefined
    set(key: string, value: NewTree, weight: number): void
  }
}

export interface RewriteOptions {
  readonly operation: string
  /** Whether a removal may name a directory. */
  readonly directories: boolean
}

interface Node {
  edit: PathEdit | undefined
  readonly children: Map<string, Node>
}

const node = (): Node => ({ edit: undefined, children: new Map() })

const plan = (edits: Iterable<PathEdit>, operation: string): Node => {
  const root = node()
  for (const edit of edits) {
    const wrong = pathError(operation, edit.path)
    if (wrong !== undefined) throw wrong
    let at = root
    let from = 0
    for (;;) {
      const end = edit.path.indexOf("/", from)
      const name = end < 0 ? edit.path.slice(from) : edit.path.slice(from, end)
      let next = at.children.get(name)
      if (next === undefined) {
        next = node()
        at.children.set(name, next)
      }
      at = next
      if (end < 0) break
      from = end + 1
    }
    if (at.edit !== undefined) throw refusal(operation, edit.path, "is changed twice in one commit")
    at.edit = edit
  }
  return root
}

const refusal = (operation: string, path: string, problem: string, hint?: string) =>
  new ValidationError({ operation, path, message: `${JSON.stringify(path)} ${problem}`, hint })

const memoKey = (base: Oid | undefined, edits: ReadonlyArray<TreeEdit>): string | undefined => {
  if (edits.length > 20_000) return undefined
  let key: string = base ?? "none"
  for (const edit of edits) key += `\0${edit.name.toString("latin1")}\0${edit.mode}${edit.oid ?? "-"}`
  return key
}

/** Makes `edits` in the tree `base` (undefined: in an empty one), touching only the directories on their way. */
export const rewrite = (
  source: TreeSource,
  base: Oid | undefined,
  edits: Iterable<PathEdit>,
  options: RewriteOptions
): Rewritten => {
  const trees: Array<NewTree> = []

  const editOf = (tree: RawTree, nameText: string, child: Node, path: string): TreeEdit | undefined => {
    const name = Buffer.from(nameText, "utf8")
    const index = tree.find(name)
    const existing = index < 0 ? undefined : tree.kind(index)
    const { edit } = child
    if (child.children.size > 0) {
      if (existing !== undefined && existing !== "tree" && edit?.oid !== undefined) {
        throw refusal(options.operation, path, "is changed both as a file and as a directory")
      }
      if (existing !== undefined && existing !== "tree" && edit === undefined) {
        throw refusal(
          options.operation,
          path,
          "is a file, so nothing can be put below it",
          "Remove the file in the same commit, or use another path"
        )
      }
      const below = visit(existing === "tree" ? tree.oid(index) : undefined, child, path)
      if (edit?.oid !== undefined) {
        if (below !== undefined) {
          throw refusal(options.operation, path, "is changed both as a file and as a directory")
        }
        return { name, mode: edit.mode, oid: edit.oid }
      }
      return { name, mode: "040000", oid: below }
    }
    if (edit === undefined) return undefined
    if (edit.oid === undefined) {
      if (existing === undefined || (existing === "tree" && !options.directories)) {
        throw refusal(
          options.operation,
          path,
          existing === undefined
            ? "is not there, so it cannot be removed"
            : "is a directory, so it cannot be removed as a file",
          "Look at the branch again"
        )
      }
      return { name, mode: existing === "tree" ? "040000" : "100644", oid: undefined }
    }
    if (existing === "tree" && edit.mode !== "040000" && !options.directories) {
      throw refusal(
        options.operation,
        path,
        "is a directory, so it cannot be written as a file",
        "Use another path"
      )
    }
    return { name, mode: edit.mode, oid: edit.oid }
  }

  const visit = (oid: Oid | undefined, at: Node, path: string): Oid | undefined => {
    const before = oid === undefined ? RawTree.empty : source.load(oid)
    const prefix = path === "" ? "" : `${path}/`
    const changes: Array<TreeEdit> = []
    for (const [name, child] of at.children) {
      const edit = editOf(before, name, child, prefix + name)
      if (edit !== undefined) changes.push(edit)
    }
    const key = memoKey(oid, changes)
    const known = key === undefined ? undefined : source.memo.get(key)
    if (known !== undefined) {
      if (known.tree.length === 0) return undefined
      if (known.oid !== oid) trees.push(known)
      return known.oid
    }
    const { tree, splices } = before.edit(changes)
    if (tree.length === 0 && path !== "") return undefined
    const made: NewTree = { oid: hashObject("tree", tree.bytes), tree, base: oid, splices }
    if (key !== undefined) source.memo.set(key, made, tree.weight + key.length)
    if (tree.length === 0) return undefined
    if (made.oid !== oid) trees.push(made)
    return made.oid
  }

  const root = visit(base === emptyTree ? undefined : base, plan(edits, options.operation), "")
  if (root !== undefined) return { root, trees }
  trees.push({ oid: emptyTree, tree: RawTree.empty, base: undefined, splices: [] })
  return { root: emptyTree, trees }
}
