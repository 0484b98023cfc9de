import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { Unmerged } from "../../domain/errors/StoreError.js"
import type { DocumentDifference, Merged, MergeOptions, Resolution } from "../Branches.js"
import { runCallback } from "./Callback.js"
import { effectOptions, type PromiseOptions, type SignalOptions, signalOptions } from "./PromiseOptions.js"
import type { PromiseRunner } from "./PromiseRunner.js"

/**
 * A document that differs between two commits. Its contents are read on demand, and are null if it is missing.
 *
 * @since 0.1.0
 * @category models
 */
export interface AsyncDocumentDifference extends Pick<DocumentDifference, "collection" | "id" | "kind"> {
  /** Reads the document of the first commit; null if it was added. */
  readonly before: (options?: SignalOptions) => Promise<StoredDocument | null>
  /** Reads the document of the second commit; null if it was removed. */
  readonly after: (options?: SignalOptions) => Promise<StoredDocument | null>
}

/**
 * The options of a merge; `onConflict` may be an async function.
 *
 * @since 0.1.0
 * @category options
 */
export interface AsyncMergeOptions extends Omit<MergeOptions, "onConflict"> {
  /** Resolves each conflict. Default `fail`: any conflict fails the merge. */
  readonly onConflict?:
    | "fail"
    | "ours"
    | "theirs"
    | ((conflict: Unmerged) => PromiseLike<Resolution> | Resolution)
    | undefined
}

/**
 * The result of a merge or of its preview; `commitSha` is null if nothing was written.
 *
 * @since 0.1.0
 * @category models
 */
export interface AsyncMerged extends Omit<Merged, "commitSha"> {
  /** The new commit of the branch; null if nothing was written. */
  readonly commitSha: string | null
}

/** Converts the options to those of the Effect API. */
export const mergeOptionsOf = <Options extends Pick<AsyncMergeOptions, "onConflict">>(
  options: PromiseOptions<Options> | undefined
): Omit<Options, "onConflict"> & Pick<MergeOptions, "onConflict"> => {
  const given = effectOptions(options) as Omit<Options, "onConflict"> & Pick<MergeOptions, "onConflict">
  const onConflict = options?.onConflict as AsyncMergeOptions["onConflict"]
  return typeof onConflict === "function"
    ? { ...given, onConflict: (conflict: Unmerged) => Effect.orDie(runCallback(() => onConflict(conflict))) }
    : given
}

/** Converts the result of the Effect API. */
export const mergedOf = (merged: Merged): AsyncMerged => ({
  ...merged,
  commitSha: Option.getOrNull(merged.commitSha)
})

/** Converts the differences of the Effect API. */
export const differencesOf = <E>(
  runner: PromiseRunner,
  differences: Stream.Stream<DocumentDifference, E>
): Stream.Stream<AsyncDocumentDifference, E> =>
  Stream.map(differences, ({ after, before, ...document }) => ({
    ...document,
    before: (options) => runner.run(Effect.map(before, Option.getOrNull), signalOptions(options)),
    after: (options) => runner.run(Effect.map(after, Option.getOrNull), signalOptions(options))
  }))
