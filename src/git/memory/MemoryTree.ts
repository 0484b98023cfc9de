import * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import { ValidationError } from "../../domain/StoreError.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import type { Change } from "../Commit.js"
import * as GitObject from "../GitObject.js"
import type { PathChange, TreeEntry } from "../Tree.js"
import { type Directories, unsafeEditTree } from "../TreeEdit.js"
import type { MemoryEntry, MemoryRepository, MemoryTree } from "./MemoryRepository.js"

const inOrder = (entries: ReadonlyMap<string, MemoryEntry>): MemoryTree =>
  new Map(
    Array.from(entries, ([name, entry]) => ({ name, entry }))
      .sort((a, b) =>
        GitObject.compareEntries({ name: a.name, mode: a.entry.mode }, { name: b.name, mode: b.entry.mode })
      )
      .map(({ entry, name }) => [name, entry])
  )

/** Makes changes in the tree `base`; `write` keeps each directory that is made, `blob` each content. */
export const applyChanges = (
  repository: Pick<MemoryRepository, "trees">,
  base: Oid | undefined,
  changes: ReadonlyArray<Change>,
  write: (tree: MemoryTree) => Oid,
  blob: (content: Uint8Array) => Oid
): Oid | ValidationError => {
  const made = new Map<Oid, MemoryTree>()
  const directories: Directories<MemoryTree> = {
    empty: new Map(),
    load: (oid) => made.get(oid) ?? repository.trees.get(oid) ?? new Map(),
    find: (tree, name) => tree.get(name),
    edit: (_, before, edits) => {
      const entries = new Map(before)
      let sameKinds = true
      for (const { mode, name, oid } of edits) {
        if (oid === undefined) entries.delete(name)
        else {
          sameKinds &&= before.get(name)?.mode === mode
          entries.set(name, { mode, oid })
        }
      }
      if (entries.size === 0) return undefined
      const tree = sameKinds ? entries : inOrder(entries)
      const oid = write(tree)
      made.set(oid, tree)
      return oid
    }
  }
  try {
    return TimeSlice.runSync(
      unsafeEditTree(
        directories,
        base,
        changes.map((change) => ({
          path: change.path,
          mode: "100644" as const,
          oid: change._tag === "Put" ? blob(change.content) : change._tag === "Link" ? change.oid : undefined
        })),
        { operation: "GitRemote.commit", directories: false }
      )
    )
  } catch (error) {
    if (error instanceof ValidationError) return error
    throw error
  }
}

/** Entries below a tree: the direct ones, or every file with its whole path. */
export const listTree = (
  repository: MemoryRepository,
  root: Oid,
  recursive: boolean
): ReadonlyArray<TreeEntry> => {
  const entries: Array<TreeEntry> = []
  const walk = (oid: Oid, prefix: string) => {
    for (const [name, entry] of repository.trees.get(oid) ?? []) {
      const path = prefix + name
      if (recursive && entry.mode === "040000") walk(entry.oid, `${path}/`)
      else {
        const kind = GitObject.kindOf(entry.mode)
        const size = kind === "blob" ? repository.blobs.get(entry.oid)?.length : undefined
        entries.push({ path, mode: entry.mode, kind, oid: entry.oid, size })
      }
    }
  }
  walk(root, "")
  return entries
}

/** Every file that differs between two entries, with paths from `path`. */
export const diffTrees = (
  repository: MemoryRepository,
  before: MemoryEntry | undefined,
  after: MemoryEntry | undefined,
  path: string
): ReadonlyArray<PathChange> => {
  const changes: Array<PathChange> = []
  const join = (prefix: string, name: string) => (prefix === "" ? name : `${prefix}/${name}`)
  const walk = (left: MemoryEntry | undefined, right: MemoryEntry | undefined, at: string) => {
    if (left?.oid === right?.oid) return
    const leftTree = left?.mode === "040000" ? repository.trees.get(left.oid) : undefined
    const rightTree = right?.mode === "040000" ? repository.trees.get(right.oid) : undefined
    const oldFile = leftTree === undefined ? left?.oid : undefined
    const newFile = rightTree === undefined ? right?.oid : undefined
    if (oldFile !== undefined || newFile !== undefined) {
      changes.push({ path: at, before: Option.fromNullable(oldFile), after: Option.fromNullable(newFile) })
    }
    for (const [name, entry] of leftTree ?? []) walk(entry, rightTree?.get(name), join(at, name))
    for (const [name, entry] of rightTree ?? []) {
      if (leftTree?.has(name) !== true) walk(undefined, entry, join(at, name))
    }
  }
  walk(before, after, path)
  return changes.sort((a, b) => GitObject.compareNames(a.path, b.path))
}
