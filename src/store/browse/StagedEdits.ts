import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ReadError, WriteError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import type { MergeConflict } from "../../domain/merge/MergeRules.js"
import type { Proposal, ProposeOptions } from "../Proposals.js"

/**
 * The maximum number of edits of one publication.
 *
 * @since 0.1.0
 * @category editing
 */
export const maxEdits = 500

/**
 * The maximum number of documents that `StagedEdits.documents` reads.
 *
 * @since 0.1.0
 * @category editing
 */
export const maxDocuments = 50

/**
 * The version of a document that an edit is based on.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditBase {
  /** The blob id of the file. */
  readonly sha: string
  /** A commit that contains the version. */
  readonly commit: string
}

/**
 * The text of a document for an editor, and its version.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditableDocument extends EditBase {
  /** The JSON text of the document without metadata, with numbers as the file spells them. */
  readonly text: string
}

/**
 * Decides the conflicts between an edit and a stored version.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditSettlement {
  /** The blob id of the stored version that was compared. The settlement is ignored for any other version. */
  readonly against: string
  /** The paths of the conflicts at which the stored value is kept. At all others the value of the edit is written. */
  readonly theirs: ReadonlyArray<ReadonlyArray<string | number>>
}

/**
 * A change of one document that is not published yet.
 *
 * @since 0.1.0
 * @category editing
 */
export interface StagedEdit {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** The version that was edited; null if there was no document. */
  readonly base: EditBase | null
  /** The new JSON text of the document; null deletes it. */
  readonly text: string | null
  /** The decisions about conflicts. */
  readonly settled?: EditSettlement | undefined
  /** A unique value for each edit, which distinguishes an edit from an earlier one of the same content. */
  readonly stamp?: string | undefined
}

/**
 * A conflict between an edit and the version that others have stored since.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditConflict {
  /** The version that was edited; null if there was no document. */
  readonly base: JsonObject | null
  /** The document of the edit; null if the edit deletes it. */
  readonly ours: JsonObject | null
  /** The stored document; null if it was deleted. */
  readonly theirs: JsonObject | null
  /** The stored version, as the base of a new edit; null if there is none. */
  readonly version: EditBase | null
  /** The merged document, with the values of the edit at `fields`; null if the whole documents are in conflict. */
  readonly merged: JsonObject | null
  /** The fields that no rule merges; empty if the whole documents are in conflict. */
  readonly fields: ReadonlyArray<MergeConflict>
}

/**
 * The state of an edit: `create`, `change` or `delete` if the base is the stored version; `merge` if others changed other
 * fields of the document; `none` if the document already has the content of the edit. `conflict` and `invalid` prevent
 * the publication of all edits.
 *
 * @since 0.1.0
 * @category editing
 */
export type EditState = "create" | "change" | "merge" | "delete" | "none" | "conflict" | "invalid"

/**
 * One edit compared with the stored document, without metadata.
 *
 * @since 0.1.0
 * @category editing
 */
export interface ReviewedEdit {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** The state of the edit. */
  readonly state: EditState
  /** The stored document; null if there is none. */
  readonly before: JsonObject | null
  /** The document after the publication; null if it will not exist. */
  readonly after: JsonObject | null
  /** The conflict, if the state is `conflict`. */
  readonly conflict?: EditConflict | undefined
  /** The problem of the text, if the state is `invalid`. */
  readonly problem?: string | undefined
}

/**
 * The preview of a publication.
 *
 * @since 0.1.0
 * @category editing
 */
export interface EditReview {
  /** One review for each edit, in the same order. */
  readonly edits: ReadonlyArray<ReviewedEdit>
  /** The files that the commit changes: documents, indexes, manifests. */
  readonly files: ReadonlyArray<{ readonly path: string; readonly removed: boolean }>
  /** Why the commit would fail, such as two documents with the same value in a unique index. */
  readonly problem?: string | undefined
}

/**
 * The result of a publication.
 *
 * @since 0.1.0
 * @category editing
 */
export interface Publication {
  /** The commit id; null if there was nothing to write, or if an edit is invalid or in conflict. */
  readonly commit: string | null
  /** One review for each edit, in the same order. */
  readonly edits: ReadonlyArray<ReviewedEdit>
}

/**
 * The result of proposing edits.
 *
 * @since 0.1.0
 * @category editing
 */
export interface ProposedEdits {
  /** The proposal; null if there was nothing to propose, or if an edit is invalid or in conflict. */
  readonly proposal: Proposal | null
  /** One review for each edit, in the same order. */
  readonly edits: ReadonlyArray<ReviewedEdit>
}

/**
 * Reads documents for editors, and publishes edits together.
 *
 * @since 0.1.0
 * @category editing
 */
export interface StagedEdits {
  /**
   * The texts of at most `maxDocuments` documents for editors, in the order of the ids and of one commit; none for a
   * document that does not exist. Documents that were read before are not read again while the branch does not move.
   */
  readonly documents: (
    collection: string,
    ids: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Option.Option<EditableDocument>>, ReadError>
  /** The stored JSON Schema of a collection, for a form; none if there is none. */
  readonly schema: (collection: string) => Effect.Effect<Option.Option<JsonObject>, ReadError>
  /** Compares edits with the stored documents, and previews the commit. Writes nothing. */
  readonly review: (edits: ReadonlyArray<StagedEdit>) => Effect.Effect<EditReview, WriteError>
  /**
   * Writes all edits in one commit, merged with the changes since their bases. If an edit is invalid or in conflict, none
   * is written. The commit message ends with a trailer `Chainstore-Edits:` of the digests of the edits. An edit is not
   * written again if the document already has its content, or if the trailer of one of the last 100 commits of its
   * document contains its digest. If the document is unchanged and the edit has a stamp, the last 100 commits of the
   * branch are searched instead.
   */
  readonly publish: (
    edits: ReadonlyArray<StagedEdit>,
    message: string
  ) => Effect.Effect<Publication, WriteError>
  /**
   * Proposes all edits for the branch instead of writing them to it. Merges and skips edits as `publish` does. After the
   * proposal is accepted, its edits are not written again. Proposing twice makes two proposals.
   */
  readonly propose: (
    edits: ReadonlyArray<StagedEdit>,
    options: Pick<ProposeOptions, "title" | "body">
  ) => Effect.Effect<ProposedEdits, WriteError>
}
