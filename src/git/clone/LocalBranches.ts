import type { Oid } from "../../domain/identifiers/Oid.js"
import type { PackableObject } from "../disk/packs/PackBuilder.js"
import type { RefOutcome } from "../disk/refs/RefStore.js"
import type { BranchFlush } from "../disk/writes/Flush.js"

/** A branch of a clone that the server does not have. */
interface LocalBranch {
  readonly base: Oid
  readonly tip: Oid
  /** The new objects of its commits. The base of a delta comes before the delta. */
  readonly objects: Map<Oid, PackableObject>
  bytes: number
}

/** The temporary branches that exist only in a clone, and the objects of their commits. */
export class LocalBranches {
  private readonly branches = new Map<string, LocalBranch>()

  has(branch: string): boolean {
    return this.branches.has(branch)
  }

  /** The head of a local branch; undefined if the branch is not local. */
  tip(branch: string): Oid | undefined {
    return this.branches.get(branch)?.tip
  }

  /** The size of the new objects of a branch, in bytes. */
  bytes(branch: string): number {
    return this.branches.get(branch)?.bytes ?? 0
  }

  names(): ReadonlyArray<string> {
    return [...this.branches.keys()]
  }

  create(branch: string, at: Oid): void {
    this.branches.set(branch, { base: at, tip: at, objects: new Map(), bytes: 0 })
  }

  /** Appends commits to a branch; `Moved` if the branch is not at their base. */
  add({ base, branch, objects, tip }: Pick<BranchFlush, "base" | "branch" | "objects" | "tip">): RefOutcome {
    const found = this.branches.get(branch)
    if (found === undefined || found.tip !== base) return { _tag: "Moved", actual: found?.tip }
    for (const object of objects) {
      if (found.objects.has(object.oid)) continue
      found.objects.set(object.oid, object)
      found.bytes += object.content.length
    }
    this.branches.set(branch, { ...found, tip })
    return { _tag: "Done" }
  }

  /** Fast-forwards a branch to a commit of another local branch. */
  fastForward(branch: string, tip: Oid): void {
    this.add({ branch, base: this.tip(branch), tip, objects: this.unpublishedObjects(tip) })
  }

  delete(branch: string): void {
    this.branches.delete(branch)
  }

  /** The local branch that a commit was made on; undefined if the server has the commit. */
  branchWithCommit(commit: Oid): string | undefined {
    return this.entryWithCommit(commit)?.[0]
  }

  /** The newest ancestor of a commit that the server has, or the commit itself. */
  publishedAncestor(commit: Oid): Oid {
    const entry = this.entryWithCommit(commit)
    return entry === undefined ? commit : this.publishedAncestor(entry[1].base)
  }

  /** The objects of a commit and of its history that the server does not have. */
  unpublishedObjects(commit: Oid): ReadonlyArray<PackableObject> {
    const entry = this.entryWithCommit(commit)
    if (entry === undefined) return []
    const [, { base, objects }] = entry
    return [...this.unpublishedObjects(base), ...objects.values()]
  }

  private entryWithCommit(commit: Oid): readonly [string, LocalBranch] | undefined {
    return [...this.branches].find(([, { objects }]) => objects.get(commit)?.type === "commit")
  }
}
