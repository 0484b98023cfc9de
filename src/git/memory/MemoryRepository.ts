import type { Oid } from "../../domain/Oid.js"
import * as GitObject from "../GitObject.js"
import { commitAfter, parseRevision } from "../Revision.js"
import type { TreeEntry } from "../Tree.js"

export interface MemoryEntry {
  readonly mode: TreeEntry["mode"]
  readonly oid: Oid
}

/** The entries of one directory by name, in Git's order. */
export type MemoryTree = ReadonlyMap<string, MemoryEntry>

export interface MemoryCommit extends GitObject.CommitObject {
  readonly oid: Oid
  /** Rises with every commit made, so a parent's is always lower. */
  readonly sequence: number
}

let repositories = 0

/**
 * The objects and refs of one repository in memory. Several remotes may share it, as several processes share a
 * repository on a disk.
 */
export class MemoryRepository {
  readonly name: string
  readonly blobs: Map<Oid, Uint8Array> = new Map()
  readonly trees = new Map<Oid, MemoryTree>()
  readonly commits = new Map<Oid, MemoryCommit>()
  /** Whole ref names, such as `refs/heads/main`. */
  readonly refs = new Map<string, Oid>()

  constructor(name?: string) {
    repositories++
    this.name = name ?? `memory://${repositories}`
    this.trees.set(this.treeOid(new Map()), new Map())
  }

  treeOid(tree: MemoryTree): Oid {
    const entries = Array.from(tree, ([name, entry]) => ({ name, ...entry }))
    return GitObject.hash("tree", GitObject.encodeTree(entries))
  }

  writeTree(tree: MemoryTree): Oid {
    const oid = this.treeOid(tree)
    if (!this.trees.has(oid)) this.trees.set(oid, tree)
    return oid
  }

  writeBlob(content: Uint8Array): Oid {
    const oid = GitObject.hash("blob", content)
    if (!this.blobs.has(oid)) this.blobs.set(oid, content.slice())
    return oid
  }

  writeCommit(commit: GitObject.CommitObject): MemoryCommit {
    const oid = GitObject.hash("commit", GitObject.encodeCommit(commit))
    const known = this.commits.get(oid)
    if (known !== undefined) return known
    const written = { ...commit, oid, sequence: this.commits.size }
    this.commits.set(oid, written)
    return written
  }

  /** The tree that an id names, directly or through a commit. */
  rootOf(oid: Oid): Oid | undefined {
    return this.commits.get(oid)?.tree ?? (this.trees.has(oid) ? oid : undefined)
  }

  /** What lies at `path` below a tree; "" is the tree itself. */
  lookup(root: Oid, path: string): MemoryEntry | undefined {
    let entry: MemoryEntry = { mode: "040000", oid: root }
    if (path === "") return entry
    for (const segment of path.split("/")) {
      const next = entry.mode === "040000" ? this.trees.get(entry.oid)?.get(segment) : undefined
      if (next === undefined) return undefined
      entry = next
    }
    return entry
  }

  /** The branch of `HEAD`: `main`, or else the first one that was made. */
  get defaultBranch(): string | undefined {
    if (this.refs.has("refs/heads/main")) return "main"
    for (const name of this.refs.keys())
      if (name.startsWith("refs/heads/")) return name.slice("refs/heads/".length)
    return undefined
  }

  /** A commit by `HEAD`, branch, tag, whole ref name, or full or short id, with steps to an earlier one. */
  resolve(text: string): MemoryCommit | undefined {
    const revision = parseRevision(text)
    if (revision === undefined) return undefined
    return commitAfter(revision, this.named(revision.name), ({ parents }, nth) => {
      const parent = parents[nth - 1]
      return parent === undefined ? undefined : this.commits.get(parent)
    })
  }

  private named(name: string): MemoryCommit | undefined {
    if (name === "HEAD") {
      const branch = this.defaultBranch
      return branch === undefined ? undefined : this.named(`refs/heads/${branch}`)
    }
    for (const ref of [`refs/heads/${name}`, `refs/tags/${name}`, name]) {
      const oid = this.refs.get(ref)
      if (oid !== undefined) return this.commits.get(oid)
    }
    const id = name.toLowerCase()
    if (!/^[0-9a-f]{4,40}$/.test(id)) return undefined
    const found = Array.from(this.commits.values()).filter((commit) => commit.oid.startsWith(id))
    return found.length === 1 ? found[0] : undefined
  }

  isAncestor(ancestor: Oid, descendant: Oid): boolean {
    const seen = new Set<Oid>()
    const waiting = [descendant]
    for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
      if (oid === ancestor) return true
      if (seen.has(oid)) continue
      seen.add(oid)
      waiting.push(...(this.commits.get(oid)?.parents ?? []))
    }
    return false
  }
}
