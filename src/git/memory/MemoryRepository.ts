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
  /** Rises with every commit made, so a parent's is always lower. */
  readonly sequence: number
}

let repositories = 0

/**
 * The objects and refs of one repository in memory. Several remotes may share it, as several processes share a
 * repository on a disk.
 *
 * @since 0.1.0
 * @category models
 */
export class MemoryRepository {
  /** The name that errors and spans give it. */
  readonly name: string
  /** Every blob, by id. */
  readonly blobs: Map<Oid, Uint8Array> = new Map()
  /** Every tree, by id. */
  readonly trees = new Map<Oid, MemoryTree>()
  /** Every commit, by id. */
  readonly commits = new Map<Oid, MemoryCommit>()
  /** Whole ref names, such as `refs/heads/main`. */
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

  /** The id that a tree would have. */
  treeOid(tree: MemoryTree): Oid {
    return GitObject.hash("tree", encodeMapTree(tree))
  }

  /** Keeps a tree, and returns its id. */
  writeTree(tree: MemoryTree): Oid {
    const oid = this.treeOid(tree)
    if (!this.trees.has(oid)) this.trees.set(oid, tree)
    return oid
  }

  /** Keeps the bytes of a file, and returns the id of the blob. */
  writeBlob(content: Uint8Array): Oid {
    const oid = GitObject.hash("blob", content)
    if (!this.blobs.has(oid)) this.blobs.set(oid, content.slice())
    return oid
  }

  /** Keeps a commit that no ref points to yet. */
  writeCommit(commit: GitObject.CommitObject): MemoryCommit {
    const oid = GitObject.hash("commit", GitObject.encodeCommit(commit))
    const known = this.commits.get(oid)
    if (known !== undefined) return known
    const written = { ...commit, oid, sequence: this.commits.size }
    this.commits.set(oid, written)
    return written
  }

  /** The type of an object; undefined when there is none of this id. */
  typeOf(oid: Oid): GitObject.ObjectType | undefined {
    return this.commits.has(oid)
      ? "commit"
      : this.trees.has(oid)
        ? "tree"
        : this.blobs.has(oid)
          ? "blob"
          : undefined
  }

  /** The tree that an id names, directly or through a commit. */
  rootOf(oid: Oid): Oid | undefined {
    return this.commits.get(oid)?.tree ?? (this.trees.has(oid) ? oid : undefined)
  }

  /** What lies at `path` below a tree; "" is the tree itself. */
  lookup(root: Oid, path: string): MemoryEntry | undefined {
    return entryAt((tree, name) => this.trees.get(tree)?.get(name), root, path)
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
    const oid = resolveRevision(this.revisions, text)
    return oid === undefined ? undefined : this.commits.get(oid)
  }

  /** Whether the first commit is the second one or in its history. */
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
