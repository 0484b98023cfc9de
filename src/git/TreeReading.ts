import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Steps from "../domain/concurrency/Steps.js"
import type { RemoteError } from "../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../domain/identifiers/Oid.js"
import * as GitObject from "./GitObject.js"
import { segmentsOf } from "./Names.js"
import { type FileEntry, type PathChange, pathChange, type Tree, type TreeEntry } from "./Tree.js"

type Entry = Pick<TreeEntry, "mode" | "oid">

/** A tree object in the representation of an implementation: its entries by position, in Git's order. */
export interface TreeNode<Self> {
  readonly length: number
  readonly entryNamed: (name: string) => Entry | undefined
  readonly name: (index: number) => string
  readonly mode: (index: number) => TreeEntry["mode"]
  readonly oid: (index: number) => Oid
  /** Compares an entry with one of another tree by Git's order of entries. */
  readonly compareTo: (index: number, other: Self, otherIndex: number) => number
  /** Whether two entries of one name have the same object and mode. */
  readonly sameEntry: (index: number, other: Self, otherIndex: number) => boolean
}

/** Loads trees by id. */
export interface TreeSource<T> {
  readonly tree: (oid: Oid) => T
}

/** The number of entries that are visited in one step. Each may require the read of a directory. */
const stepSize = 64

/** The entry at `path` below a root tree; undefined if there is none. The path "" is the root tree itself. */
export const entryAt = (
  find: (tree: Oid, name: string) => Entry | undefined,
  root: Oid,
  path: string
): Entry | undefined => {
  const segments = segmentsOf(path)
  if (segments === undefined) return undefined
  let at: Entry = { mode: "040000", oid: root }
  for (const segment of segments) {
    const below = at.mode === "040000" ? find(at.oid, segment) : undefined
    if (below === undefined) return undefined
    at = below
  }
  return at
}

/** The id of the directory at `path` below a root tree; undefined if it is missing, is a file or is empty. */
export const directoryAt = (
  find: (tree: Oid, name: string) => Entry | undefined,
  root: Oid,
  path: string
): Oid | undefined => {
  const found = entryAt(find, root, path)
  return found?.mode === "040000" && found.oid !== emptyTree ? found.oid : undefined
}

/** Adds the path and the kind to an entry. */
export const toTreeEntry = (path: string, mode: TreeEntry["mode"], oid: Oid): TreeEntry => ({
  path,
  mode,
  kind: GitObject.entryKindOf(mode),
  oid
})

export interface ListOptions {
  /** Every blob with its relative path, instead of the direct entries. */
  readonly recursive?: boolean | undefined
  /** With `recursive`: includes the trees. */
  readonly trees?: boolean | undefined
}

/** The entries below a tree, in Git's order, in steps. */
export function* entriesBelow<T extends TreeNode<T>>(
  source: TreeSource<T>,
  top: Oid,
  options: ListOptions
): Steps.Steps<ReadonlyArray<TreeEntry>> {
  const entries: Array<TreeEntry> = []
  let seen = 0
  // An explicit stack: a path may have thousands of directories, more than the call stack allows.
  const open = [{ tree: source.tree(top), prefix: "", next: 0 }]
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    if (at.next >= at.tree.length) {
      open.pop()
      continue
    }
    if (++seen % stepSize === 0) yield
    const { prefix, tree } = at
    const i = at.next++
    const entry = toTreeEntry(prefix + tree.name(i), tree.mode(i), tree.oid(i))
    const isEntered = options.recursive === true && entry.kind === "tree"
    if (!isEntered || options.trees === true) entries.push(entry)
    if (isEntered) open.push({ tree: source.tree(entry.oid), prefix: `${entry.path}/`, next: 0 })
  }
  return entries
}

/** An entry as a file; undefined for a directory. */
const fileOf = ({ mode, oid }: Entry): FileEntry | undefined =>
  mode === "040000" ? undefined : { oid, mode }

/** Every path whose file differs between two entries at `under`, ordered by path. Runs in steps. */
export function* diffTrees<T extends TreeNode<T>>(
  source: TreeSource<T>,
  before: Entry | undefined,
  after: Entry | undefined,
  under: string
): Steps.Steps<ReadonlyArray<PathChange>> {
  const changes: Array<PathChange> = []
  const record = (path: string, from: FileEntry | undefined, to: FileEntry | undefined) =>
    changes.push(pathChange(path, from, to))

  /** The stack of directories that are being compared. It may be deeper than the call stack allows. */
  const open: Array<{
    readonly from: T | undefined
    readonly to: T | undefined
    readonly prefix: string
    i: number
    j: number
  }> = []
  const enter = (from: Oid | undefined, to: Oid | undefined, prefix: string) =>
    open.push({
      from: from === undefined ? undefined : source.tree(from),
      to: to === undefined ? undefined : source.tree(to),
      prefix,
      i: 0,
      j: 0
    })

  const oneSide = (tree: T, index: number, prefix: string, isBefore: boolean) => {
    const path = prefix + tree.name(index)
    const oid = tree.oid(index)
    const file = fileOf({ oid, mode: tree.mode(index) })
    if (file === undefined) enter(isBefore ? oid : undefined, isBefore ? undefined : oid, `${path}/`)
    else record(path, isBefore ? file : undefined, isBefore ? undefined : file)
  }

  const bothSides = (from: T, i: number, to: T, j: number, prefix: string) => {
    if (from.sameEntry(i, to, j)) return
    const path = prefix + to.name(j)
    const was = fileOf({ oid: from.oid(i), mode: from.mode(i) })
    const is = fileOf({ oid: to.oid(j), mode: to.mode(j) })
    if (was !== undefined && is !== undefined) record(path, was, is)
    else if (was === undefined && is === undefined) enter(from.oid(i), to.oid(j), `${path}/`)
    else {
      oneSide(from, i, prefix, true)
      oneSide(to, j, prefix, false)
    }
  }

  function* compare(): Steps.Steps<void> {
    let seen = 0
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      if (++seen % stepSize === 0) yield
      const { from, prefix, to } = at
      const hasBefore = from !== undefined && at.i < from.length
      const hasAfter = to !== undefined && at.j < to.length
      if (!hasBefore && !hasAfter) open.pop()
      else {
        const order = !hasBefore ? 1 : !hasAfter ? -1 : from.compareTo(at.i, to, at.j)
        if (order < 0) oneSide(from!, at.i++, prefix, true)
        else if (order > 0) oneSide(to!, at.j++, prefix, false)
        else bothSides(from!, at.i++, to!, at.j++, prefix)
      }
    }
  }

  if (before?.oid === after?.oid && before?.mode === after?.mode) return changes
  const prefix = under === "" ? "" : `${under}/`
  const [oldFile, newFile] = [before && fileOf(before), after && fileOf(after)]
  if (oldFile !== undefined || newFile !== undefined) record(under, oldFile, newFile)
  const [oldTree, newTree] = [before, after].map((entry) =>
    entry?.mode === "040000" ? entry.oid : undefined
  )
  if (oldTree !== undefined || newTree !== undefined) enter(oldTree, newTree, prefix)
  yield* compare()
  return changes
}

/** The dependencies of a tree reader. */
export interface TreeReaderDependencies {
  /** The tree of a commit, or the tree itself. Throws if it is missing. */
  readonly rootOf: (oid: Oid) => Oid
  /** Runs code that throws if an object is missing. */
  readonly run: <A>(method: string, body: () => A) => Effect.Effect<A, RemoteError>
  /** Runs code in steps. Other fibers run between the steps. */
  readonly runSteps: <A>(method: string, start: () => Steps.Steps<A>) => Effect.Effect<A, RemoteError>
}

/** Makes the methods of `Repository` that read trees. */
export const makeTreeReader = <T extends TreeNode<T>>(
  source: TreeSource<T>,
  dependencies: TreeReaderDependencies
) => {
  const find = (tree: Oid, name: string) => source.tree(tree).entryNamed(name)
  const at = (root: Oid, path: string) => entryAt(find, dependencies.rootOf(root), path)
  const listedAt = (root: Oid, path: string): TreeEntry | undefined => {
    const entry = at(root, path)
    return entry === undefined ? undefined : toTreeEntry(path, entry.mode, entry.oid)
  }
  function* treeAt(root: Oid, path: string, options: ListOptions): Steps.Steps<Option.Option<Tree>> {
    const found = at(root, path)
    if (found?.mode !== "040000") return Option.none()
    return Option.some({ oid: found.oid, entries: yield* entriesBelow(source, found.oid, options) })
  }
  return {
    lookup: (root: Oid, path: string) =>
      dependencies.run("lookup", () => Option.fromNullable(listedAt(root, path))),

    entries: (root: Oid, paths: ReadonlyArray<string>) =>
      dependencies.run("entries", () => {
        const top = dependencies.rootOf(root)
        /** Directories by path: files that are read together are usually in few directories. */
        const directories = new Map<string, Entry | undefined>()
        return paths.flatMap((path) => {
          const slash = path.lastIndexOf("/")
          if (slash <= 0) return listedAt(top, path) ?? []
          const directory = path.slice(0, slash)
          if (!directories.has(directory)) directories.set(directory, entryAt(find, top, directory))
          const above = directories.get(directory)
          const name = path.slice(slash + 1)
          const found = above?.mode === "040000" ? entryAt(find, above.oid, name) : undefined
          return found === undefined || name === "" ? [] : toTreeEntry(path, found.mode, found.oid)
        })
      }),

    tree: (root: Oid, path: string, options: ListOptions = {}) =>
      options.recursive === true
        ? dependencies.runSteps("tree", () => treeAt(root, path, options))
        : dependencies.run("tree", () => Steps.runSync(treeAt(root, path, options))),

    diff: (before: Option.Option<Oid>, after: Oid, under = "") =>
      dependencies.runSteps("diff", () =>
        diffTrees(
          source,
          Option.getOrUndefined(Option.map(before, (root) => at(root, under))),
          at(after, under),
          under
        )
      )
  }
}
