import * as Effect from "effect/Effect"
import type { StoredDocument } from "../../domain/Document.js"
import type { Unmerged } from "../../domain/StoreError.js"
import type { DocumentDifference, Merged, MergeOptions, Resolution } from "../Branches.js"
import { called } from "./Callback.js"
import { effectOptions, type PromiseOptions, type SignalOptions } from "./Options.js"

/**
 * A document that differs between two commits. Its contents are read when they are asked for; null where it is missing.
 *
 * @since 0.1.0
 * @category models
 */
export interface AsyncDocumentDifference extends Pick<DocumentDifference, "collection" | "id" | "kind"> {
  /** Reads the document of the first commit; null where it was added. */
  readonly before: (options?: SignalOptions) => Promise<StoredDocument | null>
  /** Reads the document of the second commit; null where it was removed. */
  readonly after: (options?: SignalOptions) => Promise<StoredDocument | null>
}

/**
 * The options of a merge; `onConflict` may be an async function.
 *
 * @since 0.1.0
 * @category options
 */
export interface AsyncMergeOptions extends Omit<MergeOptions, "onConflict"> {
  /** Decides each conflict; absent: any conflict fails the merge. */
  readonly onConflict?:
    | "fail"
    | "ours"
    | "theirs"
    | ((conflict: Unmerged) => PromiseLike<Resolution> | Resolution)
    | undefined
}

/**
 * What a merge has done, or would do; `commitSha` is null where nothing was written.
 *
 * @since 0.1.0
 * @category models
 */
export interface AsyncMerged extends Omit<Merged, "commitSha"> {
  /** The commit that was made, or that the branch was moved to; null where nothing was written. */
  readonly commitSha: string | null
}

/** The options as the Effect API takes them. */
export const mergeOptionsOf = (options: PromiseOptions<AsyncMergeOptions> | undefined): MergeOptions => {
  const given = effectOptions(options)
  const onConflict = options?.onConflict
  return typeof onConflict === "function"
    ? { ...given, onConflict: (conflict) => Effect.orDie(called(() => onConflict(conflict))) }
    : (given as MergeOptions)
}
