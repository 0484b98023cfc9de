import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import type { Head } from "../../GitRemote.js"

/** The number of branches, and of commits and trees, with a record. Others are read by the API. */
const mostBranches = 4_096
const mostHeld = 16_384

/** The head of a branch by Git's protocol that the API has not shown yet; `"unknown"`: the branch may have moved since. */
export type BranchState = Option.Option<Head> | "unknown"

/** Tracks the heads and commits that Git's protocol has shown and the API may not show yet. */
export class ApiLag {
  readonly #places = new LruCache<{ readonly branch: BranchState }>(mostBranches)
  /** Commits and trees in the clone, with their branch and the step at which they were added. */
  readonly #held = new LruCache<{ readonly branch: string; readonly step: number }>(mostHeld)
  /** The last head of each branch that the API has shown, and the step. */
  readonly #shown = new LruCache<{ readonly commit: Oid | undefined; readonly step: number }>(mostBranches)
  #steps = 0

  /** The head of a branch; undefined: the API shows it. */
  place(branch: string): BranchState | undefined {
    return this.#places.get(branch)?.branch
  }

  /** An object that changes whenever the head of a branch is updated. */
  version(branch: string): object | undefined {
    return this.#places.peek(branch)
  }

  /** Records the head of a branch after a push, or as Git's protocol has shown it. */
  put(branch: string, place: BranchState): void {
    this.#places.set(branch, { branch: place })
    if (place !== "unknown" && Option.isSome(place)) this.addObjects(branch, place.value)
  }

  /** Records that the API shows this head of a branch. */
  confirm(branch: string, place: Option.Option<Head>): void {
    if (this.place(branch) !== place) return
    this.#places.delete(branch)
    this.#shown.set(branch, { commit: Option.getOrUndefined(place)?.commit, step: ++this.#steps })
  }

  /** Records that the clone has a commit and its tree. */
  addObjects(branch: string, { commit, tree }: Head): void {
    const shown = this.#shown.peek(branch)
    const step = shown?.commit === commit ? shown.step : ++this.#steps
    this.#held.set(commit, { branch, step })
    this.#held.set(tree, { branch, step })
  }

  /** Records that the API may not show the head of the branch. `at`: a commit of the branch that Git's protocol has shown. */
  distrust(branch: string, at: Head | undefined): void {
    if (at === undefined || this.#shown.peek(branch)?.commit !== at.commit) this.put(branch, "unknown")
  }

  /** Whether the clone has a commit or tree. */
  isInClone(at: Head | Oid): boolean {
    return typeof at === "string"
      ? this.#held.peek(at) !== undefined
      : this.#held.peek(at.commit) !== undefined || this.#held.peek(at.tree) !== undefined
  }

  /** Whether the API may not have a commit yet. */
  mayBeHidden(at: Head | Oid): boolean {
    const held = this.#held.peek(typeof at === "string" ? at : at.commit)
    return held !== undefined && held.step > (this.#shown.peek(held.branch)?.step ?? 0)
  }
}
