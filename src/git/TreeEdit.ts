import * as Steps from "../domain/concurrency/Steps.js"
import { ValidationError } from "../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../domain/identifiers/Oid.js"
import { pathError } from "./Names.js"
import type { TreeEntry } from "./Tree.js"

type Mode = TreeEntry["mode"]

/** The change of one path of a tree. `oid` is undefined for a removal. */
export interface PathEdit {
  readonly path: string
  readonly mode: Mode
  readonly oid: Oid | undefined
  /** The edit fails where a submodule has the path, as it does where a directory has it. */
  readonly keepsSubmodule?: boolean | undefined
}

/** The change of one entry of a directory. `oid` is undefined for a removal. */
export interface EntryEdit {
  readonly name: string
  readonly mode: Mode
  readonly oid: Oid | undefined
}

/** Reads and writes directories in the representation of an implementation. */
export interface DirectoryStore<Directory> {
  readonly empty: Directory
  readonly load: (oid: Oid) => Directory
  readonly find: (
    directory: Directory,
    name: string
  ) => { readonly mode: Mode; readonly oid: Oid } | undefined
  /** Applies edits with unique names to a directory (`base` undefined: a new one). Undefined if the result is empty. */
  readonly edit: (
    base: Oid | undefined,
    directory: Directory,
    edits: ReadonlyArray<EntryEdit>
  ) => Oid | undefined
}

export interface EditOptions {
  /** The operation that errors name, such as `GitRepository.commitNext`. */
  readonly operation: string
  /** Whether a removal may name a directory. */
  readonly removesDirectories: boolean
}

interface Node {
  edit: PathEdit | undefined
  readonly children: Map<string, Node>
}

const node = (): Node => ({ edit: undefined, children: new Map() })

const refusal = (operation: string, path: string, problem: string, hint?: string) =>
  new ValidationError({ operation, path, message: `the path ${JSON.stringify(path)} ${problem}`, hint })

/** The error for a change below a path that is a file. */
export const fileBlocksDirectory = (operation: string, path: string): ValidationError =>
  refusal(
    operation,
    path,
    "is a file, so nothing can be put below it",
    "remove the file in the same commit, or use another path"
  )

/** The error for a directory or a submodule where a change writes a file. */
export const notAFile = (operation: string, path: string, kind: "tree" | "commit"): ValidationError =>
  refusal(
    operation,
    path,
    `is a ${kind === "tree" ? "directory" : "submodule"}, so it cannot be written as a file`,
    "use another path"
  )

/** The error for changes with invalid or repeated paths. */
export const changedPathsError = (
  operation: string,
  changes: ReadonlyArray<{ readonly path: string }>
): ValidationError | undefined => {
  const seen = new Set<string>()
  for (const { path } of changes) {
    const invalid = pathError(operation, path)
    if (invalid !== undefined) return invalid
    if (seen.has(path)) return refusal(operation, path, "is changed twice in one commit")
    seen.add(path)
  }
  return undefined
}

function* plan(edits: Iterable<PathEdit>, operation: string): Steps.Steps<Node> {
  const root = node()
  let count = 0
  for (const edit of edits) {
    if (++count % Steps.stepSize === 0) yield
    const invalid = pathError(operation, edit.path)
    if (invalid !== undefined) throw invalid
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

/**
 * Applies edits to the tree `base` (undefined: the empty tree), in steps, and returns the id of the new root. Only directories on
 * the edited paths are read. A subdirectory is written before its parent. Throws a `ValidationError` for invalid edits.
 */
export function* unsafeEditTree<Directory>(
  directories: DirectoryStore<Directory>,
  base: Oid | undefined,
  edits: Iterable<PathEdit>,
  options: EditOptions
): Steps.Steps<Oid> {
  const { operation } = options

  /** The id of an existing subdirectory that contains changes; undefined if it is created. */
  const directoryBelow = (before: Directory, name: string, { edit }: Node, path: string): Oid | undefined => {
    const existing = directories.find(before, name)
    if (existing === undefined) return undefined
    if (existing.mode === "040000") return existing.oid
    if (edit?.oid !== undefined)
      throw refusal(operation, path, "is changed both as a file and as a directory")
    if (edit === undefined) throw fileBlocksDirectory(operation, path)
    return undefined
  }

  /** The entry for an edited directory. A file may replace it if it is empty. */
  const directoryEdit = (made: Oid | undefined, name: string, { edit }: Node, path: string): EntryEdit => {
    if (edit?.oid === undefined) return { name, mode: "040000", oid: made }
    if (made !== undefined) throw refusal(operation, path, "is changed both as a file and as a directory")
    return { name, mode: edit.mode, oid: edit.oid }
  }

  const fileEdit = (before: Directory, name: string, { edit }: Node, path: string): EntryEdit | undefined => {
    const existing = directories.find(before, name)
    const isTree = existing?.mode === "040000"
    if (edit === undefined) return undefined
    if (edit.oid === undefined) {
      if (existing === undefined || (isTree && !options.removesDirectories)) {
        throw refusal(
          operation,
          path,
          existing === undefined
            ? "is not there, so it cannot be removed"
            : "is a directory, so it cannot be removed as a file",
          "look at the branch again"
        )
      }
      return { name, mode: isTree ? "040000" : "100644", oid: undefined }
    }
    if (isTree && edit.mode !== "040000" && !options.removesDirectories) {
      throw notAFile(operation, path, "tree")
    }
    if (existing?.mode === "160000" && edit.keepsSubmodule === true) throw notAFile(operation, path, "commit")
    return { name, mode: edit.mode, oid: edit.oid }
  }

  const enter = (name: string, path: string, node: Node, oid: Oid | undefined) => ({
    name,
    path,
    node,
    oid,
    before: oid === undefined ? directories.empty : directories.load(oid),
    children: node.children.entries(),
    changes: [] as EntryEdit[]
  })

  // An explicit stack: a path may have thousands of directories, more than the call stack allows.
  const root = yield* plan(edits, operation)
  const open = [enter("", "", root, base === emptyTree ? undefined : base)]
  for (let visited = 1; ; visited++) {
    if (visited % Steps.stepSize === 0) yield
    const at = open[open.length - 1]!
    const next = at.children.next()
    if (next.done !== true) {
      const [name, child] = next.value
      const path = at.path === "" ? name : `${at.path}/${name}`
      if (child.children.size > 0) {
        open.push(enter(name, path, child, directoryBelow(at.before, name, child, path)))
        continue
      }
      const edit = fileEdit(at.before, name, child, path)
      if (edit !== undefined) at.changes.push(edit)
      continue
    }
    const edited = directories.edit(at.oid, at.before, at.changes)
    open.pop()
    const above = open[open.length - 1]
    if (above === undefined) return edited ?? emptyTree
    above.changes.push(directoryEdit(edited, at.name, at.node, at.path))
    // A step for each directory, as one may be large.
    yield
  }
}
