import * as Option from "effect/Option"
import { emptyTree, type Oid } from "../../domain/Oid.js"
import { ValidationError } from "../../domain/StoreError.js"
import type { Change } from "../Commit.js"
import * as GitObject from "../GitObject.js"
import { pathError } from "../Names.js"
import type { PathChange, TreeEntry } from "../Tree.js"
import type { MemoryEntry, MemoryRepository, MemoryTree } from "./MemoryRepository.js"

const refuse = (path: string, message: string) =>
  new ValidationError({ operation: "GitRemote.commit", path, message: `${path}: ${message}` })

/** What the changes do to a path, or why they cannot be one commit. */
export const checkChanges = (changes: ReadonlyArray<Change>): ValidationError | undefined => {
  const seen = new Set<string>()
  for (const change of changes) {
    const wrong = pathError("GitRemote.commit", change.path)
    if (wrong !== undefined) return wrong
    if (seen.has(change.path)) return refuse(change.path, "the path is changed twice in one commit")
    seen.add(change.path)
  }
  return undefined
}

interface Edit {
  readonly path: string
  readonly rest: string
  readonly oid: Oid | undefined
}

const replaceLeaf = (entries: Map<string, MemoryEntry>, name: string, edit: Edit) => {
  const existing = entries.get(name)
  if (edit.oid !== undefined) {
    if (existing?.mode === "040000") throw refuse(edit.path, "a directory lies there")
    entries.set(name, { mode: "100644", oid: edit.oid })
  } else {
    if (existing === undefined || existing.mode === "040000") throw refuse(edit.path, "there is no such file")
    entries.delete(name)
  }
}

const inOrder = (entries: ReadonlyMap<string, MemoryEntry>): MemoryTree =>
  new Map(
    Array.from(entries, ([name, entry]) => ({ name, entry }))
      .sort((a, b) =>
        GitObject.compareEntries({ name: a.name, mode: a.entry.mode }, { name: b.name, mode: b.entry.mode })
      )
      .map(({ entry, name }) => [name, entry])
  )

const edited = (
  repository: MemoryRepository,
  base: Oid | undefined,
  edits: ReadonlyArray<Edit>,
  write: (tree: MemoryTree) => Oid
): Oid | undefined => {
  const before = base === undefined ? undefined : repository.trees.get(base)
  const entries = new Map(before)
  const leaves = new Map<string, Edit>()
  const below = new Map<string, Array<Edit>>()
  for (const edit of edits) {
    const slash = edit.rest.indexOf("/")
    if (slash < 0) {
      leaves.set(edit.rest, edit)
    } else {
      const name = edit.rest.slice(0, slash)
      const list = below.get(name) ?? []
      list.push({ ...edit, rest: edit.rest.slice(slash + 1) })
      below.set(name, list)
    }
  }
  // A file that gives way to a directory is removed first; one that takes a directory's place is put last.
  for (const [name, leaf] of leaves) if (leaf.oid === undefined) replaceLeaf(entries, name, leaf)
  for (const [name, list] of below) {
    const existing = entries.get(name)
    if (existing !== undefined && existing.mode !== "040000") {
      throw refuse(list[0]!.path, `${name} is a file, not a directory`)
    }
    const oid = edited(repository, existing?.oid, list, write)
    if (oid === undefined) entries.delete(name)
    else entries.set(name, { mode: "040000", oid })
  }
  for (const [name, leaf] of leaves) if (leaf.oid !== undefined) replaceLeaf(entries, name, leaf)
  if (entries.size === 0) return undefined
  const kept = before !== undefined && entries.size === before.size
  const sameKinds =
    kept && Array.from(entries).every(([name, entry]) => before.get(name)?.mode === entry.mode)
  return write(sameKinds ? entries : inOrder(entries))
}

export const applyChanges = (
  repository: MemoryRepository,
  base: Oid | undefined,
  changes: ReadonlyArray<Change>,
  write: (tree: MemoryTree) => Oid,
  blob: (content: Uint8Array) => Oid
): Oid | ValidationError => {
  const problem = checkChanges(changes)
  if (problem !== undefined) return problem
  const edits = changes.map(
    (change): Edit => ({
      path: change.path,
      rest: change.path,
      oid: change._tag === "Put" ? blob(change.content) : change._tag === "Link" ? change.oid : undefined
    })
  )
  try {
    return edited(repository, base, edits, write) ?? emptyTree
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
