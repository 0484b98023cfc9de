import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StoredDocument } from "../domain/document/Document.js"
import type { ReadError, Unmerged } from "../domain/errors/StoreError.js"
import type { JsonObject } from "../domain/json/Json.js"
import type { MergeConflict, MergeRules } from "../domain/merge/index.js"
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
  /** The branch, tag or commit that it begins at. Default: the branch of the store. */
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
   * What the second one is compared with: `"mergeBase"` (default), where it left the first one, so that its own changes
   * are shown; or `"first"`, the first one as it is.
   */
  readonly against?: "mergeBase" | "first" | undefined
}

/**
 * A document that differs between two commits. Its contents are read when they are asked for; none where it is missing.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentDifference {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** `added` is in the second commit alone, `removed` in the first alone, `changed` in both with different contents. */
  readonly kind: "added" | "changed" | "removed"
  /** Reads the document of the first commit; none where it was added. */
  readonly before: Effect.Effect<Option.Option<StoredDocument>, ReadError>
  /** Reads the document of the second commit; none where it was removed. */
  readonly after: Effect.Effect<Option.Option<StoredDocument>, ReadError>
}

/**
 * What becomes of a conflict: the version of one side; another document, whose metadata are the store's; `null` for no
 * document; or, of a document that both sides changed, a side for each of its `conflicts`, by a function of their paths: it
 * keeps numbers as the files have them. `undefined` leaves it a conflict.
 *
 * @since 0.1.0
 * @category models
 */
export type Resolution =
  | "ours"
  | "theirs"
  | JsonObject
  | null
  | ((conflict: MergeConflict) => "ours" | "theirs" | undefined)
  | undefined

/**
 * Decides conflicts of a merge, one after another. It may run again where the branch has moved meanwhile.
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
  /** The branch that is merged into. Default: the branch of the store. */
  readonly into?: string | undefined
  /**
   * What becomes of conflicts. `"fail"` (default): a `ConflictError` with all of them in `unmerged`. `"ours"`, `"theirs"`:
   * in each conflict the value of that side, `ours` being the branch that is merged into. A function decides each.
   */
  readonly onConflict?: "fail" | "ours" | "theirs" | Resolver | undefined
  /** How documents are merged, by collection, before what the definitions and their schemas say. */
  readonly rules?: { readonly [collection: string]: MergeRules } | undefined
  /** Definitions whose schemas merged documents must fulfil, beside those of the store's option `collections`. */
  readonly collections?: ReadonlyArray<CollectionDefinition> | undefined
  /** Of the merge commit. Default: `merge FROM into INTO`. */
  readonly message?: string | undefined
  /** Of the merge commit. Default: as of every other commit of the store. */
  readonly author?: Signature | undefined
  /** Whether a branch that has nothing of its own is moved without a merge commit. Default true. */
  readonly fastForward?: boolean | undefined
  /** Writes nothing, and returns what the merge would do, with the conflicts that would stop it. Default false. */
  readonly dryRun?: boolean | undefined
}

/**
 * What a merge has done, or would do.
 *
 * @since 0.1.0
 * @category models
 */
export interface Merged {
  /** `upToDate`: everything was merged already. */
  readonly kind: "merge" | "fastForward" | "upToDate"
  /** The commit that the branch was moved to; none where nothing was written. */
  readonly commitSha: Option.Option<string>
  /** The documents that the merge changes on the branch that it is made into. */
  readonly documents: ReadonlyArray<{
    readonly collection: string
    readonly id: string
    readonly kind: "added" | "changed" | "removed"
  }>
  /** The other files that it changes there, without indexes and manifests. */
  readonly files: ReadonlyArray<string>
  /** The conflicts: with `dryRun` those that would stop the merge, else those that `onConflict` has decided. */
  readonly conflicts: ReadonlyArray<Unmerged>
}
