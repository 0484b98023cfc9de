import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StoredDocument } from "../domain/document/Document.js"
import type { ReadError, Unmerged } from "../domain/errors/StoreError.js"
import type { JsonObject } from "../domain/json/Json.js"
import type { MergeConflict, MergeRules, Settlement } from "../domain/merge/index.js"
import type { CollectionDefinition } from "./CollectionDefinition.js"
import type { Signature } from "./remote/GitRemote.js"

export type { Unmerged, UnmergedKind } from "../domain/errors/StoreError.js"

/**
 * A branch and the commit that it points to.
 *
 * @since 0.1.0
 * @category models
 */
export interface Branch {
  /** The short name, such as `main`. */
  readonly name: string
  /** The commit that it points to, 40 hexadecimal digits. */
  readonly commitSha: string
}

/**
 * Options of `store.createBranch`.
 *
 * @since 0.1.0
 * @category options
 */
export interface CreateBranchOptions {
  /** The branch, tag or commit at which it starts. Default: the branch of the store. */
  readonly from?: string | undefined
}

/**
 * Options of `store.compare`.
 *
 * @since 0.1.0
 * @category options
 */
export interface CompareOptions {
  /**
   * With which commit the second one is compared: `"mergeBase"` (default) is the merge base of both, so that only the
   * changes of the second one are shown; `"first"` is the first one itself.
   */
  readonly against?: "mergeBase" | "first" | undefined
}

/**
 * A document that differs between two commits. Its contents are read on demand.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentDifference {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** `added`: only in the second commit; `removed`: only in the first; `changed`: in both with different contents. */
  readonly kind: "added" | "changed" | "removed"
  /** Reads the document at the first commit; none if it was added. */
  readonly before: Effect.Effect<Option.Option<StoredDocument>, ReadError>
  /** Reads the document at the second commit; none if it was removed. */
  readonly after: Effect.Effect<Option.Option<StoredDocument>, ReadError>
}

/**
 * The resolution of a conflict: a side; another document, to which the store adds its metadata; `null` to delete the
 * document; or, if both sides changed the document, a function that settles each of its `conflicts` by path, which keeps
 * the spelling of numbers. `undefined` leaves the conflict. A document with a number that JavaScript rounded is refused.
 *
 * @since 0.1.0
 * @category models
 */
export type Resolution =
  | "ours"
  | "theirs"
  | JsonObject
  | null
  | ((conflict: MergeConflict) => Settlement | undefined)
  | undefined

/**
 * Resolves the conflicts of a merge, one after another. It may be called again if the branch moved meanwhile.
 *
 * @since 0.1.0
 * @category models
 */
export type Resolver = (conflict: Unmerged) => Resolution | Effect.Effect<Resolution>

/**
 * Options of `store.merge`.
 *
 * @since 0.1.0
 * @category options
 */
export interface MergeOptions {
  /** The target branch. Default: the branch of the store. */
  readonly into?: string | undefined
  /**
   * How conflicts are resolved. `"fail"` (default): a `ConflictError` with all of them in `unmerged`. `"ours"`,
   * `"theirs"`: the value of that side, where `ours` is the target branch. A function resolves each conflict.
   */
  readonly onConflict?: "fail" | "ours" | "theirs" | Resolver | undefined
  /** Merge rules by collection. They take precedence over those of definitions and schemas. */
  readonly rules?: { readonly [collection: string]: MergeRules } | undefined
  /** Definitions whose schemas the merged documents must match, in addition to the store's option `collections`. */
  readonly collections?: ReadonlyArray<CollectionDefinition> | undefined
  /** The message of the merge commit. Default: `merge FROM into INTO`. */
  readonly message?: string | undefined
  /** The author of the merge commit. Default: the author of the store's other commits. */
  readonly author?: Signature | undefined
  /** Whether a target without commits of its own is fast-forwarded. Default true. */
  readonly fastForward?: boolean | undefined
  /** Writes nothing, and returns what the merge would do, with the conflicts that would prevent it. Default false. */
  readonly dryRun?: boolean | undefined
}

/**
 * The result of a merge.
 *
 * @since 0.1.0
 * @category models
 */
export interface Merged {
  /** `upToDate`: the target already contains the commit. */
  readonly kind: "merge" | "fastForward" | "upToDate"
  /** The new head of the target branch; none if nothing was written. */
  readonly commitSha: Option.Option<string>
  /** The documents that the merge changes on the target branch. */
  readonly documents: ReadonlyArray<{
    readonly collection: string
    readonly id: string
    readonly kind: "added" | "changed" | "removed"
  }>
  /** The other files that it changes there, without index and manifest files. */
  readonly files: ReadonlyArray<string>
  /** The conflicts: with `dryRun` those that would prevent the merge, otherwise those that `onConflict` resolved. */
  readonly conflicts: ReadonlyArray<Unmerged>
}
