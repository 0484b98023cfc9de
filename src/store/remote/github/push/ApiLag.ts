import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import type { Head } from "../../GitRemote.js"

/** Branches, and commits and trees, that are remembered: of others the API is asked. */
const mostBranches = 4_096
const mostHeld = 16_384

/** Where a branch is by Git's protocol, as long as the API has not shown it; `"unknown"`: it may have moved since. */
export type BranchState = Option.Option<Head> | "unknown"

/** What is known of branches and commits by Git's protocol, and what of it the API has shown. */
export class ApiLag {
  readonly #places = new LruCache<{ readonly branch: BranchState }>(mostBranches)
  /** Commits and trees that the clone holds; of commits, on which branch, and when that was learned. */
  readonly #held = new LruCache<{ readonly branch: string; readonly step: number }>(mostHeld)
  /** The head of each branch that the API has shown last, and when. */
  readonly #shown = new LruCache<{ readonly commit: Oid | undefined; readonly step: number }>(mostBranches)
  #steps = 0

  /** Where a branch is; undefined where the API shows it. */
  place(branch: string): BranchState | undefined {
    return this.#places.get(branch)?.branch
  }

  /** Changes with whatever is learned of a branch's place. */
  version(branch: string): object | undefined {
    return this.#places.peek(branch)
  }

  /** Puts a branch where a push has put it, or where it was seen by Git's protocol. */
  put(branch: string, place: BranchState): void {
    this.#places.set(branch, { branch: place })
    if (place !== "unknown" && Option.isSome(place)) this.addObjects(branch, place.value)
  }

  /** The API shows a branch where it was found, unless it has moved since. */
  confirm(branch: string, place: Option.Option<Head>): void {
    if (this.place(branch) !== place) return
    this.#places.delete(branch)
    this.#shown.set(branch, { commit: Option.getOrUndefined(place)?.commit, step: ++this.#steps })
  }

  /** The clone holds a commit: one of ours, or one that ours are made on. */
  addObjects(branch: string, { commit, tree }: Head): void {
    const shown = this.#shown.peek(branch)
    const step = shown?.commit === commit ? shown.step : ++this.#steps
    this.#held.set(commit, { branch, step })
    this.#held.set(tree, { branch, step })
  }

  /** The branch may be elsewhere than the API shows it: at this commit, which was seen by Git's protocol, or above. */
  distrust(branch: string, at: Head | undefined): void {
    if (at === undefined || this.#shown.peek(branch)?.commit !== at.commit) this.put(branch, "unknown")
  }

  /** Whether the clone holds a commit or tree. */
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
