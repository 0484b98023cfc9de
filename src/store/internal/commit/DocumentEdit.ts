import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StoredDocument } from "../../../domain/document/Document.js"
import type { WriteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import type { DerivedFormat, Settings } from "../../../domain/settings/Settings.js"
import type { FileEntry } from "../../../git/Tree.js"
import type { Change, Committed, Signature } from "../../remote/GitRemote.js"
import type { CollectionWrite, OnDocumentsRead } from "../derived/DerivedWrites.js"
import type { Snapshot } from "../snapshot/Snapshot.js"

/** A document's version at the commit that a write stands on. */
export interface StoredVersion {
  readonly path: string
  readonly oid: Oid
  readonly content: Uint8Array
  /** None where the file holds no JSON object: `problem` says why. */
  readonly document: Option.Option<JsonObject>
  readonly problem: string | undefined
  /** 0 where the file has no revision. */
  readonly rev: number
  readonly createdAt: string | undefined
}

/** What a document must be at the commit that the write stands on. */
export interface Precondition {
  readonly rev?: number | undefined
  readonly sha?: string | undefined
  readonly absent?: boolean | undefined
}

/** The next version of a document: its content without metadata, none to delete it. */
export interface NextVersion {
  readonly document: Option.Option<JsonObject>
  /** For a document that is missing now, or that nobody can read: the moment of its creation. Default: now. */
  readonly createdAt?: string | undefined
  /** For the same: the revision before the one that is written. Default 0. */
  readonly rev?: number | undefined
  /** Files that the content came from, other than the stored version: their numbers must survive too. */
  readonly numberSources?: ReadonlyArray<Uint8Array> | undefined
  /** The bytes of the whole file, which another commit has: it is written as it is, with the metadata that it has. */
  readonly content?: Uint8Array | undefined
  /** The file of those bytes, which the repository has: its mode is kept. */
  readonly file?: FileEntry | undefined
  /** True where the settings' rules of merging had a say in the document. */
  readonly isMerged?: boolean | undefined
  /** True where the stored version already says this (imports that go on): it is left as it is, `after` equals it. */
  readonly unchanged?: boolean | undefined
}

/** One write of one document, as a function from the stored version to the next one. */
export interface DocumentOperation {
  readonly collection: string
  readonly id: string
  /**
   * What the operation needs: a missing document where one must be `present` is a `NotFoundError`, an existing one
   * where it must be `absent` a `ConflictError`.
   */
  readonly needs: "present" | "absent" | "any"
  readonly precondition?: Precondition | undefined
  /**
   * Runs again whenever the write is rebuilt, also where it first ran on a version that was only assumed. What it answers
   * counts for the version that the commit replaces, and for no other. The settings are those of the commit.
   */
  readonly next: (
    stored: Option.Option<StoredVersion>,
    settings: Settings
  ) => Effect.Effect<NextVersion, WriteError>
}

/**
 * One commit of document operations. `core.write(unit)` takes the branch's turn, reads the touched documents at the
 * head, judges `needs` and expectations against that head, computes metadata and bytes, recomputes index and manifest
 * files of every touched collection from that head, writes the settings file when it is first needed, and commits.
 * A lost race starts all of it again: `document` mode counts only changes of the touched documents, up to
 * `conflictRetries` and the deadline; `batch` mode counts every move of the branch, up to `batchRetries`.
 */
export interface DocumentEdit {
  /** For errors, such as `Collection.insert`. */
  readonly operation: string
  /** Of the commit; may depend on the versions that the operations replace. */
  readonly message: string | ((before: ReadonlyArray<Option.Option<StoredVersion>>) => string)
  readonly mode: "document" | "batch"
  /** At most one for a document. */
  readonly operations: ReadonlyArray<DocumentOperation>
  /** Expectations on documents that the unit does not write. */
  readonly preconditions?:
    | ReadonlyArray<{ readonly collection: string; readonly id: string; readonly expected: Precondition }>
    | undefined
  /** Collections whose indexes and manifest are made anew from the documents; or all that the settings name. */
  readonly reindex?: ReadonlyArray<string> | "all" | undefined
  /** The format that indexes and manifests are in from then on; only together with `reindex` of all. */
  readonly format?: DerivedFormat | undefined
  /** Collections whose index and manifest files lack a commit that wrote documents alone. */
  readonly missingDerived?: ReadonlyArray<CollectionWrite> | undefined
  /** Told of the documents that were read for them. */
  readonly onRead?: OnDocumentsRead | undefined
  /** Instead of the store's `conflictRetries` or `batchRetries`. */
  readonly retries?: number | undefined
  /** Commits of other branches that the commit merges; it is made also where it changes nothing. */
  readonly merges?: ReadonlyArray<Oid> | undefined
  /** Instead of the store's. */
  readonly author?: Signature | undefined
  /** Files beside the documents of the operations, which change as they are. */
  readonly files?: ReadonlyArray<Change> | undefined
  /** The settings that hold from then on; `reindex` names the collections whose indexes or manifest they change. */
  readonly settings?: Settings | undefined
  /** The moment that index and manifest files name, in ISO form. Default: now. */
  readonly derivedAt?: string | undefined
  /**
   * Makes the unit that is written of the commit that it is built on, each time that it is built; none writes nothing.
   * This unit then says no more than its operation, its mode and its retries.
   */
  readonly plan?: ((snapshot: Snapshot) => Effect.Effect<Option.Option<DocumentEdit>, WriteError>) | undefined
}

/** What became of one operation. */
export interface OperationOutcome {
  readonly collection: string
  readonly id: string
  readonly path: string
  readonly before: Option.Option<StoredVersion>
  /** None where the document is gone. */
  readonly after: Option.Option<{
    readonly document: StoredDocument
    readonly content: Uint8Array
    readonly sha: Oid
  }>
}

/** What became of a unit: `committed` is none when nothing had to be written. */
export interface EditOutcome {
  readonly committed: Option.Option<Pick<Committed, "commit">>
  /** In the order of the operations. */
  readonly documents: ReadonlyArray<OperationOutcome>
}

/** One name for a document inside a unit: neither part holds a slash. */
export const nameOfDocument = (document: { readonly collection: string; readonly id: string }): string =>
  `${document.collection}/${document.id}`

/** The message of a unit's commit. */
export const commitMessage = (
  unit: DocumentEdit,
  before: ReadonlyArray<Option.Option<StoredVersion>>
): string => (typeof unit.message === "string" ? unit.message : unit.message(before))
