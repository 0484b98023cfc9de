import type * as Effect from "effect/Effect"
import type { ReadError } from "../Collection.js"
import type { Finding } from "../Doctor.js"

/**
 * The documents that changed since a commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChangesSince {
  /** The total number of documents that differ. */
  readonly total: number
  /** The first of them, by collection and id. */
  readonly documents: ReadonlyArray<{
    readonly collection: string
    readonly id: string
    readonly kind: "added" | "changed" | "removed"
  }>
}

/**
 * Facts about a whole repository. `R` is the error of reads.
 *
 * @since 0.1.0
 * @category models
 */
export interface Overview<R = ReadError> {
  /** The number of documents of each collection, in the given order. */
  readonly counts: (collections: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<number>, R>
  /** The documents that differ between a commit and the head of the branch. Reads no document. */
  readonly changesSince: (commit: string) => Effect.Effect<ChangesSince, R>
  /** The findings of `doctor`. `deep` reads every document. */
  readonly health: (deep: boolean) => Effect.Effect<ReadonlyArray<Finding>, R>
}
