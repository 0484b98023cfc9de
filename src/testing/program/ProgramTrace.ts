import type { StoredDocument } from "../../domain/document/Document.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { IndexOptions } from "../../domain/indexes/IndexDefinition.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { Edit, Target } from "./StoreProgram.js"

/**
 * A step as it was really asked for: ids, revisions and commits filled in.
 *
 * @since 0.1.0
 * @category models
 */
export type InnerOperation =
  | {
      readonly _tag: "insert" | "update" | "replace" | "upsert" | "delete" | "edit"
      readonly collection: string
      /** Undefined when the store was to choose, and did not answer. */
      readonly id: string | undefined
      readonly fields: JsonObject
      readonly expectedRev?: number | undefined
    }
  | (Target & { readonly _tag: "get" })
  | { readonly _tag: "list"; readonly collection: string }
  | { readonly _tag: "count"; readonly collection: string }
  | { readonly _tag: "findBy"; readonly collection: string; readonly field: string; readonly value: Json }
  | {
      readonly _tag: "batch"
      readonly edits: ReadonlyArray<Edit>
      readonly expectations: ReadonlyArray<ResolvedExpectation>
    }

/**
 * An expectation of a batch with the version that it named.
 *
 * @since 0.1.0
 * @category models
 */
export type ResolvedExpectation = Target &
  ({ readonly rev: number } | { readonly document: StoredDocument | null; readonly wrong: boolean })

/**
 * An operation that was called, with the arguments that it got.
 *
 * @since 0.1.0
 * @category models
 */
export type Operation =
  | InnerOperation
  /** `isLastUnsure` where the caller was interrupted while the last edit was queued: it may be missing. */
  | {
      readonly _tag: "writer"
      readonly edits: ReadonlyArray<Edit>
      readonly isLastUnsure?: boolean | undefined
      readonly maxOperations: number
    }
  | { readonly _tag: "transaction"; readonly inner: ReadonlyArray<InnerEvent> }
  | (Target & { readonly _tag: "restore"; readonly sha: Oid })
  | { readonly _tag: "revert"; readonly sha: Oid; readonly force: boolean }
  | { readonly _tag: "reindex"; readonly collection: string }
  | { readonly _tag: "createIndex"; readonly collection: string; readonly index: string | IndexOptions }
  | { readonly _tag: "dropIndex"; readonly collection: string; readonly name: string }
  /** The commit where the branch began, and its documents when it was merged. */
  | { readonly _tag: "merge"; readonly base: Oid; readonly theirs: ReadonlyMap<string, StoredDocument> }
  /** The same of a proposal; `contested` where another one accepted or closed it at once. */
  | {
      readonly _tag: "propose"
      readonly base: Oid
      readonly theirs: ReadonlyMap<string, StoredDocument>
      readonly contested: boolean
    }

/**
 * How a call ended. `done`: acknowledged, with its answer. `refused`: a typed failure, so that nothing may have
 * been written. `unknown`: interrupted, or an `AmbiguousWriteError`.
 *
 * @since 0.1.0
 * @category models
 */
export type Outcome =
  | { readonly _tag: "done"; readonly value: unknown }
  | { readonly _tag: "refused"; readonly error: string }
  | { readonly _tag: "unknown" }

/**
 * An operation inside a transaction, and how it ended.
 *
 * @since 0.1.0
 * @category models
 */
export interface InnerEvent {
  /** The operation that was called. */
  readonly operation: InnerOperation
  /** How it ended. */
  readonly outcome: Outcome
}

/**
 * One call of a random program. Its commits carry `token` as their message.
 *
 * @since 0.1.0
 * @category models
 */
export interface Event {
  /** The text in the commit message that ties commits to this event. */
  readonly token: string
  /** The operation that was called. */
  readonly operation: Operation
  /** How it ended. */
  readonly outcome: Outcome
  /** The branch's head just before the call, and just after its answer. */
  readonly from: Oid | undefined
  /** The branch's head just after the answer. */
  readonly to: Oid | undefined
}
