import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ReadError, WriteError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import type { MergeConflict } from "../../domain/merge/MergeRules.js"
import type { Proposal, ProposeOptions } from "../Proposals.js"

/**
 * The most edits of one publication.
 *
 * @since 0.1.0
 * @category editing
 */
export const maxEdits = 500

/**
 * The version of a document that an edit began with.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditBase {
  /** The id of its file's blob. */
  readonly sha: string
  /** A commit that has it. */
  readonly commit: string
}

/**
 * A document to be edited.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditableDocument extends EditBase {
  /** Its JSON text without the fields that the store writes, with its numbers as the file has them. */
  readonly text: string
}

/**
 * Who is right at the places where an edit and a stored version contradict each other.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditSettlement {
  /** The blob of the stored version that was looked at: against another one nothing is settled. */
  readonly against: string
  /** The paths, as conflicts name them, at which the stored value holds; at all others the edit's does. */
  readonly theirs: ReadonlyArray<ReadonlyArray<string | number>>
}

/**
 * A change of one document that waits to be published.
 *
 * @since 0.1.0
 * @category editing
 */
export interface StagedEdit {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** The version that was edited; null where there was no document. */
  readonly base: EditBase | null
  /** The JSON text of the document as it is to be; null deletes it. */
  readonly text: string | null
  /** What was decided about a conflict. */
  readonly settled?: EditSettlement | undefined
  /** Another one for each edit, also for one that says the same as an earlier one: published edits are known by it. */
  readonly stamp?: string | undefined
}

/**
 * Where an edit and what others have stored meanwhile contradict each other.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditConflict {
  /** The version that was edited; null where there was no document. */
  readonly base: JsonObject | null
  /** The document as the edit wants it; null where it deletes it. */
  readonly ours: JsonObject | null
  /** The document as it is stored; null where it was deleted. */
  readonly theirs: JsonObject | null
  /** The stored version, for the base of another edit; null where there is none. */
  readonly version: EditBase | null
  /** The merge with the edit's values at `fields`; null where documents as a whole contradict each other. */
  readonly merged: JsonObject | null
  /** The places that no rule merges; empty where documents as a whole contradict each other. */
  readonly fields: ReadonlyArray<MergeConflict>
}

/**
 * What an edit comes to: `create`, `change` or `delete` as it says; `merge` where others changed the document at other
 * places; `none` where the document is already as it says; `conflict` and `invalid` keep all edits from being published.
 *
 * @since 0.1.0
 * @category editing
 */
export type EditState = "create" | "change" | "merge" | "delete" | "none" | "conflict" | "invalid"

/**
 * One edit beside what is stored, without the fields that the store writes.
 *
 * @since 0.1.0
 * @category editing
 */
export interface ReviewedEdit {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** What the edit comes to. */
  readonly state: EditState
  /** The document as it is stored; null where there is none. */
  readonly before: JsonObject | null
  /** The document as it will be; null where there will be none. */
  readonly after: JsonObject | null
  /** Of `conflict`: what contradicts what. */
  readonly conflict?: EditConflict | undefined
  /** Of `invalid`: what is wrong with the text. */
  readonly problem?: string | undefined
}

/**
 * What publishing some edits would do.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditReview {
  /** One for each edit, in their order. */
  readonly edits: ReadonlyArray<ReviewedEdit>
  /** The files of the commit: documents, indexes, manifests. */
  readonly files: ReadonlyArray<{ readonly path: string; readonly removed: boolean }>
  /** Why the commit would be refused, such as two documents with one value of a unique index. */
  readonly problem?: string | undefined
}

/**
 * What came of publishing some edits.
 *
 * @since 0.1.0
 * @category editing
 */
export interface Publication {
  /** The commit; null where nothing was written, because nothing was left to write or because of a conflict. */
  readonly commit: string | null
  /** One for each edit, in their order. */
  readonly edits: ReadonlyArray<ReviewedEdit>
}

/**
 * What came of proposing some edits.
 *
 * @since 0.1.0
 * @category editing
 */
export interface ProposedEdits {
  /** The proposal; null where there was nothing to propose, or because of a conflict. */
  readonly proposal: Proposal | null
  /** One for each edit, in their order. */
  readonly edits: ReadonlyArray<ReviewedEdit>
}

/**
 * Documents to be edited, and edits that are published together.
 *
 * @since 0.1.0
 * @category editing
 */
export interface StagedEdits {
  /** A document to be edited; none where there is none. */
  readonly document: (
    collection: string,
    id: string
  ) => Effect.Effect<Option.Option<EditableDocument>, ReadError>
  /** The JSON Schema that is stored of a collection, for a form; none where none is. */
  readonly schema: (collection: string) => Effect.Effect<Option.Option<JsonObject>, ReadError>
  /** Compares edits with what is stored now, and shows the commit that they come to. Writes nothing. */
  readonly review: (edits: ReadonlyArray<StagedEdit>) => Effect.Effect<EditReview, WriteError>
  /**
   * Writes all edits in one commit, merged with what others have changed since their bases; or none of them, where one
   * is a conflict or not valid. The commit's message ends in a trailer, `Chainstore-Edits:`, that names what was written: an
   * edit that one of the last 100 commits of its document names (of the branch, where the document is as it was and the edit has a stamp), or that
   * the document already has, is not written again.
   */
  readonly publish: (
    edits: ReadonlyArray<StagedEdit>,
    message: string
  ) => Effect.Effect<Publication, WriteError>
  /**
   * Proposes all edits for the branch instead of writing them there; merged, and left, as `publish` does. Once it is
   * accepted, the edits that it names are not written again. Proposing twice makes two proposals.
   */
  readonly propose: (
    edits: ReadonlyArray<StagedEdit>,
    options: Pick<ProposeOptions, "title" | "body">
  ) => Effect.Effect<ProposedEdits, WriteError>
}
