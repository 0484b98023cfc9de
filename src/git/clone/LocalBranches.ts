import type { Oid } from "../../domain/identifiers/Oid.js"
import type { PackableObject } from "../disk/packs/PackBuilder.js"
import type { RefOutcome } from "../disk/refs/RefStore.js"
import type { BranchFlush } from "../disk/writes/Flush.js"

/** A branch of a clone that the server does not have. */
interface LocalBranch {
  readonly base: Oid
  readonly tip: Oid
  /** What was made for it, each object after those that it is a delta of. */
  readonly objects: Map<Oid, PackableObject>
  bytes: number
}

/** The temporary branches of a clone that the server does not have, and what their commits are made of. */
export class LocalBranches {
  private readonly branches = new Map<string, LocalBranch>()

  has(branch: string): boolean {
    return this.branches.has(branch)
  }

  /** Where a branch is; undefined where it is not one of these. */
  at(branch: string): Oid | undefined {
    return this.branches.get(branch)?.tip
  }

  /** Bytes of what was made for a branch. */
  bytes(branch: string): number {
    return this.branches.get(branch)?.bytes ?? 0
  }

  names(): ReadonlyArray<string> {
    return [...this.branches.keys()]
  }

  create(branch: string, at: Oid): void {
    this.branches.set(branch, { base: at, tip: at, objects: new Map(), bytes: 0 })
  }

  /** Notes commits that were made on a branch; they are not its next ones where the branch is elsewhere. */
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

  /** Moves a branch forward to a commit of another one of these. */
  move(branch: string, tip: Oid): void {
    this.add({ branch, base: this.at(branch), tip, objects: this.objectsOf(tip) })
  }

  delete(branch: string): void {
    this.branches.delete(branch)
  }

  /** The branch that a commit was made for; undefined where the server has the commit. */
  holder(commit: Oid): string | undefined {
    return this.holding(commit)?.[0]
  }

  /** The newest commit on the way back from a commit that is not one of these. */
  published(commit: Oid): Oid {
    const holding = this.holding(commit)
    return holding === undefined ? commit : this.published(holding[1].base)
  }

  /** What the server lacks of a commit. */
  objectsOf(commit: Oid): ReadonlyArray<PackableObject> {
    const holding = this.holding(commit)
    if (holding === undefined) return []
    const [, { base, objects }] = holding
    return [...this.objectsOf(base), ...objects.values()]
  }

  private holding(commit: Oid): readonly [string, LocalBranch] | undefined {
    return [...this.branches].find(([, { objects }]) => objects.get(commit)?.type === "commit")
  }
}
