import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { HistoryEntry, ReadError, WriteError } from "../Collection.js"
import type { Budget } from "../remote/GitRemote.js"
import type { Query, QueryAnswer } from "./BrowseQuery.js"
import type { StagedEdits } from "./StagedEdits.js"
import type { Timeline } from "./Timeline.js"

/**
 * The head of a branch, and the number of its commits since the commit that is shown.
 *
 * @since 0.1.0
 * @category models
 */
export interface NewerCommits {
  /** The newest commit of the branch; null if the branch does not exist. */
  readonly head: string | null
  /** The number of newer commits; undefined if the shown commit is not among the newest hundred. */
  readonly count?: number | undefined
}

/**
 * An index of one field, in ascending order.
 *
 * @since 0.1.0
 * @category models
 */
export interface FieldIndex {
  /** The path of the field. */
  readonly field: string
  /** Whether no two documents may have the same value. */
  readonly unique: boolean
}

/**
 * The reads and writes of the console in one repository.
 *
 * @since 0.1.0
 * @category models
 */
export interface Browse {
  /** Whether writes fail: without a token, or with a read-only token. */
  readonly readOnly: boolean
  /** The names of the collections that have documents. */
  readonly collections: Effect.Effect<ReadonlyArray<string>, ReadError>
  /** The directories of the branch that can be data roots. */
  readonly roots: Effect.Effect<ReadonlyArray<string>, ReadError>
  /** One page of a query. An invalid query is a `ValidationError`. */
  readonly query: (query: Query) => Effect.Effect<QueryAnswer, ReadError>
  /** The number of commits since a commit. Sends one conditional request while the branch has not moved. */
  readonly newer: (since: string | undefined) => Effect.Effect<NewerCommits, ReadError>
  /** The history, branches and proposals of the repository. The code is loaded on the first use. */
  readonly timeline: Effect.Effect<Timeline, ReadError>
  /** The same repository on another branch. */
  readonly onBranch: (branch: string) => Effect.Effect<Browse, ReadError>
  /** The document; none if it does not exist. */
  readonly document: (
    collection: string,
    id: string,
    at?: string
  ) => Effect.Effect<Option.Option<StoredDocument>, ReadError>
  /** The commits that changed a document, or the collection if no id is given, newest first. */
  readonly history: (
    collection: string,
    id: string | undefined,
    limit: number
  ) => Effect.Effect<ReadonlyArray<HistoryEntry>, ReadError>
  /** Restores the version of a commit. Fails if the document is no longer at the expected revision. */
  readonly restore: (
    collection: string,
    id: string,
    commitSha: string,
    expectedRev: number | undefined
  ) => Effect.Effect<StoredDocument, WriteError>
  /**
   * Creates an index in one commit and returns it; none if the index is there already. A nested field needs format 2.
   * The code is loaded on the first use.
   */
  readonly createIndex: (
    collection: string,
    index: FieldIndex
  ) => Effect.Effect<Option.Option<string>, WriteError>
  /** Staged edits of documents. The code is loaded on the first use. */
  readonly edits: Effect.Effect<StagedEdits, ReadError>
  /** The current rate limit budgets of the remote. Spends no request of them. */
  readonly rate: Effect.Effect<ReadonlyArray<Budget>, ReadError>
}
