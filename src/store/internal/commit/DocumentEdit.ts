import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StoredDocument } from "../../../domain/document/Document.js"
import type { WriteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import type { DerivedFormat, Settings } from "../../../domain/settings/Settings.js"
import type { Change, Committed, Signature } from "../../remote/GitRemote.js"
import type { CollectionWrite, OnDocumentsRead } from "../derived/DerivedWrites.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import type { NextVersion } from "./NextVersion.js"

/** The stored version of a document, at the commit that an edit is based on. */
export interface StoredVersion {
  readonly path: string
  readonly oid: Oid
  readonly content: Uint8Array
  /** None if the file contains no JSON object; `problem` gives the reason. */
  readonly document: Option.Option<JsonObject>
  readonly problem: string | undefined
  /** 0 if the file has no revision. */
  readonly rev: number
  readonly createdAt: string | undefined
}

/** The version that a document must have at the commit that an edit is based on. */
export interface Precondition {
  readonly rev?: number | undefined
  readonly sha?: string | undefined
  readonly absent?: boolean | undefined
}

/** A precondition on a document that the edit does not write. */
export interface DocumentPrecondition {
  readonly collection: string
  readonly id: string
  readonly precondition: Precondition
}

/** The write of one document: a function from the stored version to the next one. */
export interface DocumentOperation {
  readonly collection: string
  readonly id: string
  /** `present` fails with `NotFoundError` on a missing document, `absent` with `ConflictError` on an existing one. */
  readonly needs: "present" | "absent" | "any"
  readonly precondition?: Precondition | undefined
  /**
   * Called again on each attempt, and also after a call with a version that was only assumed. Only the result for the version
   * that the commit replaces is used. `settings` are those of the commit.
   */
  readonly next: (
    stored: Option.Option<StoredVersion>,
    settings: Settings
  ) => Effect.Effect<NextVersion, WriteError>
}

/** The parts of an edit that are known before a snapshot is read. */
export interface EditOptions {
  /** The name in errors, such as `Collection.insert`. */
  readonly operation: string
  /** The message of the commit; may depend on the versions that the operations replace. */
  readonly message: string | ((before: ReadonlyArray<Option.Option<StoredVersion>>) => string)
  /**
   * `document` retries up to `conflictRetries` changes of the written documents, and until the deadline. `batch` retries up to
   * `batchRetries` moves of the branch.
   */
  readonly mode: "document" | "batch"
  /** Replaces the store's `conflictRetries` or `batchRetries`. */
  readonly retries?: number | undefined
}

/**
 * One commit of document operations. `StoreCore.write` reads the documents at the head of the branch, checks `needs` and
 * preconditions, computes metadata and bytes, derives index and manifest files, and commits. If the branch moved
 * meanwhile, all of this is repeated on the new head.
 */
export interface DocumentEdit extends EditOptions {
  /** At most one for a document. */
  readonly operations: ReadonlyArray<DocumentOperation>
  /** Preconditions on documents that the edit does not write. */
  readonly preconditions?: ReadonlyArray<DocumentPrecondition> | undefined
  /** Collections whose index and manifest files are rebuilt from the documents; "all": those that the settings name. */
  readonly reindex?: ReadonlyArray<string> | "all" | undefined
  /** The new format of indexes and manifests; requires `reindex: "all"`. */
  readonly format?: DerivedFormat | undefined
  /** Earlier commits that wrote documents without their index and manifest files, which this edit writes. */
  readonly missingDerived?: ReadonlyArray<CollectionWrite> | undefined
  /** Receives the number of documents that were read for `reindex`. */
  readonly onRead?: OnDocumentsRead | undefined
  /** Further parents of a merge commit, which is made even if it changes no file. */
  readonly merges?: ReadonlyArray<Oid> | undefined
  /** Replaces the store's author. */
  readonly author?: Signature | undefined
  /** Changes of files that are not documents of the operations. */
  readonly files?: ReadonlyArray<Change> | undefined
  /** The new settings; `reindex` names the collections whose indexes or manifest they change. */
  readonly settings?: Settings | undefined
  /** The time that index and manifest files contain, in ISO form. Default: now. */
  readonly derivedAt?: string | undefined
}

/** An edit that depends on the snapshot: `plan` is called on each attempt, and none writes nothing. */
export interface PlannedEdit extends EditOptions {
  readonly plan: (snapshot: Snapshot) => Effect.Effect<Option.Option<DocumentEdit>, WriteError>
}

export type Edit = DocumentEdit | PlannedEdit

/** The result of one operation. */
export interface OperationOutcome {
  readonly collection: string
  readonly id: string
  readonly path: string
  readonly before: Option.Option<StoredVersion>
  /** None if the document does not exist any more. */
  readonly after: Option.Option<{
    readonly document: StoredDocument
    readonly content: Uint8Array
    readonly sha: Oid
  }>
}

/** The result of an edit. */
export interface EditOutcome {
  /** None if nothing had to be written. */
  readonly committed: Option.Option<Pick<Committed, "commit">>
  /** In the order of the operations. */
  readonly documents: ReadonlyArray<OperationOutcome>
}

/** A unique name of a document: neither part contains a slash. */
export const nameOfDocument = (document: { readonly collection: string; readonly id: string }): string =>
  `${document.collection}/${document.id}`

/** The message of the commit of an edit. */
export const commitMessage = (
  edit: DocumentEdit,
  before: ReadonlyArray<Option.Option<StoredVersion>>
): string => (typeof edit.message === "string" ? edit.message : edit.message(before))
