import type { Oid } from "../../domain/identifiers/Oid.js"
import * as GitObject from "../GitObject.js"
import { encodeMapTree, type MapEntry, type MapTree } from "../MapTree.js"
import { type RevisionSource, resolveRevision } from "../Revision.js"
import { entryAt } from "../TreeReading.js"

export type MemoryEntry = MapEntry

/** The entries of one directory by name, in Git's order. */
export type MemoryTree = MapTree

export interface MemoryCommit extends GitObject.CommitObject {
  readonly oid: Oid
  /** Increases with every commit, so a parent has a lower number. */
  readonly sequence: number
}

let repositories = 0

/**
 * The objects and refs of a repository in memory. Several remotes may share it, as several processes share a repository on a disk.
 *
 * @since 0.1.0
 * @category models
 */
export class MemoryRepository {
  /** The name for errors and spans. */
  readonly name: string
  /** Every blob, by id. */
  readonly blobs: Map<Oid, Uint8Array> = new Map()
  /** Every tree, by id. */
  readonly trees = new Map<Oid, MemoryTree>()
  /** Every commit, by id. */
  readonly commits = new Map<Oid, MemoryCommit>()
  /** The refs by full name, such as `refs/heads/main`. */
  readonly refs = new Map<string, Oid>()

  private readonly revisions: RevisionSource = {
    ref: (name) => this.refs.get(name === "HEAD" ? `refs/heads/${this.defaultBranch ?? "main"}` : name),
    peel: (oid) => (this.typeOf(oid) === undefined ? undefined : oid),
    startingWith: (digits) => Array.from(this.commits.keys()).filter((oid) => oid.startsWith(digits)),
    parents: (oid) => this.commits.get(oid)?.parents
  }

  constructor(name?: string) {
    repositories++
    this.name = name ?? `memory://${repositories}`
    this.trees.set(this.treeOid(new Map()), new Map())
  }

  /** The id of a tree. */
  treeOid(tree: MemoryTree): Oid {
    return GitObject.hash("tree", encodeMapTree(tree))
  }

  /** Stores a tree, and returns its id. */
  writeTree(tree: MemoryTree): Oid {
    const oid = this.treeOid(tree)
    if (!this.trees.has(oid)) this.trees.set(oid, tree)
    return oid
  }

  /** Stores a blob, and returns its id. */
  writeBlob(content: Uint8Array): Oid {
    const oid = GitObject.hash("blob", content)
    if (!this.blobs.has(oid)) this.blobs.set(oid, content.slice())
    return oid
  }

  /** Stores a commit. No ref points to it yet. */
  writeCommit(commit: GitObject.CommitObject): MemoryCommit {
    const oid = GitObject.hash("commit", GitObject.encodeCommit(commit))
    const existing = this.commits.get(oid)
    if (existing !== undefined) return existing
    const written = { ...commit, oid, sequence: this.commits.size }
    this.commits.set(oid, written)
    return written
  }

  /** The type of an object; undefined if it does not exist. */
  typeOf(oid: Oid): GitObject.ObjectType | undefined {
    return this.commits.has(oid)
      ? "commit"
      : this.trees.has(oid)
        ? "tree"
        : this.blobs.has(oid)
          ? "blob"
          : undefined
  }

  /** The tree with an id, or the tree of the commit with that id. */
  rootOf(oid: Oid): Oid | undefined {
    return this.commits.get(oid)?.tree ?? (this.trees.has(oid) ? oid : undefined)
  }

  /** The entry at `path` below a tree. The path "" is the tree itself. */
  lookup(root: Oid, path: string): MemoryEntry | undefined {
    return entryAt((tree, name) => this.trees.get(tree)?.get(name), root, path)
  }

  /** The default branch: `main`, or the oldest branch if there is no `main`. */
  get defaultBranch(): string | undefined {
    if (this.refs.has("refs/heads/main")) return "main"
    for (const name of this.refs.keys())
      if (name.startsWith("refs/heads/")) return name.slice("refs/heads/".length)
    return undefined
  }

  /** Resolves `HEAD`, a branch, a tag, a full ref name, or a full or abbreviated id, with suffixes, to a commit. */
  resolve(text: string): MemoryCommit | undefined {
    const oid = resolveRevision(this.revisions, text)
    return oid === undefined ? undefined : this.commits.get(oid)
  }

  /** Whether `ancestor` is `descendant` or in its history. */
  isAncestor(ancestor: Oid, descendant: Oid): boolean {
    const seen = new Set<Oid>()
    const pending = [descendant]
    for (let oid = pending.pop(); oid !== undefined; oid = pending.pop()) {
      if (oid === ancestor) return true
      if (seen.has(oid)) continue
      seen.add(oid)
      pending.push(...(this.commits.get(oid)?.parents ?? []))
    }
    return false
  }
}
