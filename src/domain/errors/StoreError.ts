import * as Data from "effect/Data"
import type { Json, JsonObject } from "../json/Json.js"
import type { DocumentMerge, MergeConflict } from "../merge/MergeRules.js"

/**
 * The fields of every store error. No field ever contains a token.
 *
 * @since 0.1.0
 * @category errors
 */
export interface StoreErrorFields {
  /** The problem in words. */
  readonly message: string
  /** The operation that failed, such as `Collection.insert`. */
  readonly operation: string
  /** The file in the repository, if the error is about one. */
  readonly path?: string | undefined
  /** The collection of the operation. */
  readonly collection?: string | undefined
  /** The id of the operation's document. */
  readonly id?: string | undefined
  /** What to do next. */
  readonly hint?: string | undefined
  /** The HTTP status of the remote's reply, if there was one. */
  readonly status?: number | undefined
  /** The queued writes that are lost because of this failure. */
  readonly unwritten?: ReadonlyArray<{ readonly collection: string; readonly id: string }> | undefined
  /** The underlying failure, if there is one. */
  readonly cause?: unknown
}

/**
 * The base class of the store's errors. Catch them with `instanceof`, or by tag with `Effect.catchTag`.
 *
 * @since 0.1.0
 * @category errors
 */
export abstract class StoreError extends Data.Error<StoreErrorFields> {
  abstract readonly _tag: string
}

/**
 * A document, path, branch or repository is missing.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotFoundError extends StoreError {
  readonly _tag = "NotFoundError"
  override readonly name = "NotFoundError"
}

/**
 * One version of a document.
 *
 * @since 0.1.0
 * @category errors
 */
export interface DocumentVersion {
  /** Its `_rev`; undefined if the document was not read. */
  readonly rev?: number | undefined
  /** The id of its file's blob, 40 hexadecimal digits. */
  readonly sha?: string | undefined
  /** Its content with the metadata; undefined if it was not read. */
  readonly document?: unknown
}

/**
 * A document whose stored version is not the expected one. `null` is a missing document.
 *
 * @since 0.1.0
 * @category errors
 */
export interface DocumentConflict {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** The version that the caller expected; undefined if it named none. */
  readonly expected?: DocumentVersion | null | undefined
  /** The stored version; undefined if it was not read. */
  readonly actual?: DocumentVersion | null | undefined
}

/**
 * `UniqueViolation`: another document has the same value of a unique index.
 *
 * @since 0.1.0
 * @category errors
 */
export type ConflictErrorReason = "UniqueViolation"

/**
 * Two documents with the same value of a unique index.
 *
 * @since 0.1.0
 * @category errors
 */
export interface UniqueViolation {
  /** The collection of both documents. */
  readonly collection: string
  /** The name of the index. */
  readonly index: string
  /** The value; for an index of several fields, an object of paths and values. */
  readonly value: unknown
  /** The document of the write. */
  readonly id: string
  /** The other document with this value. */
  readonly other: string
}

/**
 * Why branches do not merge by themselves at one place. `changed`: both sides changed one document at the same path.
 * `deleted`: one side deleted the document that the other one changed. `unreadable`: both sides changed it, and one of
 * them contains no JSON object. `invalid`: the merged document breaks the schema of its collection. `file`: both sides
 * changed a file that is no document. `setting`: both sides changed one setting of the repository.
 *
 * @since 0.1.0
 * @category errors
 */
export type UnmergedKind = Unmerged["kind"]

interface UnmergedFields {
  /** The file in the repository. */
  readonly path: string
  /** The conflicts in the document; empty for other kinds. */
  readonly conflicts: ReadonlyArray<MergeConflict>
  /** The problem in words. */
  readonly problem: string
}

/**
 * A document that two branches changed: as both had it once, and on each branch; undefined where it is missing or
 * unreadable.
 *
 * @since 0.1.0
 * @category errors
 */
export interface UnmergedDocument extends UnmergedFields {
  /** Why the document does not merge, as `UnmergedKind` says. */
  readonly kind: "changed" | "deleted" | "unreadable" | "invalid"
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** The document at the merge base. */
  readonly base?: JsonObject | undefined
  /** On the branch that is merged into. */
  readonly ours?: JsonObject | undefined
  /** On the branch that is merged. */
  readonly theirs?: JsonObject | undefined
  /** The merged document, with our values at the conflicts. */
  readonly document?: JsonObject | undefined
  /** The blob ids of both sides, absent if the document is missing. They distinguish versions with equal values. */
  readonly blobs: { readonly ours?: string | undefined; readonly theirs?: string | undefined }
}

/**
 * A file that is no document, and its blobs.
 *
 * @since 0.1.0
 * @category errors
 */
export interface UnmergedFile extends UnmergedFields {
  /** Both sides changed a file that is no document. */
  readonly kind: "file"
  /** Undefined: the file belongs to no collection. */
  readonly collection?: undefined
  /** Undefined: the file is no document. */
  readonly id?: undefined
  /** The id of its blob at the merge base; undefined where it was missing. */
  readonly base?: string | undefined
  /** The id of its blob on the branch that is merged into; undefined where it is missing. */
  readonly ours?: string | undefined
  /** The id of its blob on the branch that is merged; undefined where it is missing. */
  readonly theirs?: string | undefined
}

/**
 * A setting of the repository, and its values.
 *
 * @since 0.1.0
 * @category errors
 */
export interface UnmergedSetting extends UnmergedFields {
  /** Both sides changed one setting of the repository. */
  readonly kind: "setting"
  /** Undefined: a setting belongs to no collection. */
  readonly collection?: undefined
  /** Undefined: a setting is no document. */
  readonly id?: undefined
  /** Its value at the merge base; undefined where it was not set. */
  readonly base?: Json | undefined
  /** Its value on the branch that is merged into; undefined where it is not set. */
  readonly ours?: Json | undefined
  /** Its value on the branch that is merged; undefined where it is not set. */
  readonly theirs?: Json | undefined
}

/**
 * One document, file or setting in which two branches are in conflict.
 *
 * @since 0.1.0
 * @category errors
 */
export type Unmerged = UnmergedDocument | UnmergedFile | UnmergedSetting

/**
 * A precondition of the write does not hold. Nothing was written.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConflictError extends StoreError {
  readonly _tag = "ConflictError"
  override readonly name = "ConflictError"
  /** The documents in conflict, with both versions; empty if the branch moved at every attempt. */
  declare readonly conflicts: ReadonlyArray<DocumentConflict>
  /** The work branch with a transaction's commits, if it was kept. */
  declare readonly branch?: string | undefined
  /** The kind of the conflict, if it is not about the version of a document. */
  declare readonly reason?: ConflictErrorReason | undefined
  /** For a write with a `base`: its merge with the stored version. */
  declare readonly merge?: DocumentMerge | undefined
  /** For the reason `UniqueViolation`: the first twenty violations. */
  declare readonly violations?: ReadonlyArray<UniqueViolation> | undefined

  /** For a merge of branches: all conflicts. */
  declare readonly unmerged?: ReadonlyArray<Unmerged> | undefined

  constructor(
    fields: StoreErrorFields & {
      readonly unmerged?: ReadonlyArray<Unmerged> | undefined
      readonly conflicts: ReadonlyArray<DocumentConflict>
      readonly branch?: string | undefined
      readonly reason?: ConflictErrorReason | undefined
      readonly merge?: DocumentMerge | undefined
      readonly violations?: ReadonlyArray<UniqueViolation> | undefined
    }
  ) {
    super(fields)
  }
}

/**
 * Whether a write was rejected because of a unique index.
 *
 * @example
 * ```ts
 * const taken = people.insert({ mail: "ada@example.org" }).pipe(
 *   Effect.catchIf(isUniqueViolation, () => Effect.succeed("somebody has this address"))
 * )
 * ```
 *
 * @since 0.1.0
 * @category errors
 */
export const isUniqueViolation = (error: unknown): error is ConflictError =>
  error instanceof ConflictError && error.reason === "UniqueViolation"

/**
 * The remote's rate limit is exhausted, or the remote asks to wait longer than `maxWait`.
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimitError extends StoreError {
  readonly _tag = "RateLimitError"
  override readonly name = "RateLimitError"
  /** The remaining requests of the window, if known. */
  declare readonly remaining?: number | undefined
  /** The time at which the window resets, in seconds since the epoch, if known. */
  declare readonly reset?: number | undefined
  /** `reset` as a date. */
  declare readonly resetAt?: Date | undefined

  constructor(
    fields: StoreErrorFields & {
      readonly remaining?: number | undefined
      readonly reset?: number | undefined
      readonly resetAt?: Date | undefined
    }
  ) {
    super(fields)
  }
}

/**
 * Invalid credentials, a missing permission, or a write to a read-only store.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthError extends StoreError {
  readonly _tag = "AuthError"
  override readonly name = "AuthError"
}

/**
 * An argument or a stored value is invalid. `issues` contains the problems by path.
 *
 * @since 0.1.0
 * @category errors
 */
export class ValidationError extends StoreError {
  readonly _tag = "ValidationError"
  override readonly name = "ValidationError"
  /** The problems by the path of the field; undefined if `message` describes the only problem. */
  declare readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string }> | undefined

  constructor(
    fields: StoreErrorFields & {
      readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string }> | undefined
    }
  ) {
    super(fields)
  }
}

/**
 * The reply to a write was lost, and it is unknown whether the write took effect. Read before you write again.
 *
 * @since 0.1.0
 * @category errors
 */
export class AmbiguousWriteError extends StoreError {
  readonly _tag = "AmbiguousWriteError"
  override readonly name = "AmbiguousWriteError"
  /** True if the write is visible, but the disk did not confirm that it is durable. Reading again gives no new information. */
  declare readonly unsettled?: boolean | undefined

  constructor(fields: StoreErrorFields & { readonly unsettled?: boolean | undefined }) {
    super(fields)
  }
}

/**
 * The repository cannot be reached, used or trusted.
 *
 * @since 0.1.0
 * @category errors
 */
export class RemoteError extends StoreError {
  readonly _tag = "RemoteError"
  override readonly name = "RemoteError"
  /** The reason, for programs. */
  declare readonly reason: RemoteErrorReason

  constructor(fields: StoreErrorFields & { readonly reason: RemoteErrorReason }) {
    super(fields)
  }
}

/**
 * `Unreachable`: no connection, or the directory does not exist. `Timeout`: no reply in time. `Locked`: another
 * process has a lock. `Denied`: the file system or a rule of the repository forbids it. `Corrupt`: an object or
 * a reply is invalid. `Unsupported`: this remote, or this version of Git, does not support it.
 * `Server`: the remote failed.
 *
 * @since 0.1.0
 * @category errors
 */
export type RemoteErrorReason =
  | "Unreachable"
  | "Timeout"
  | "Locked"
  | "Denied"
  | "Corrupt"
  | "Unsupported"
  | "Server"

/**
 * The errors of a read.
 *
 * @since 0.1.0
 * @category errors
 */
export type ReadError = AuthError | NotFoundError | RateLimitError | RemoteError | ValidationError

/**
 * The errors of a write. Nothing was written, except possibly after an `AmbiguousWriteError`.
 *
 * @since 0.1.0
 * @category errors
 */
export type WriteError = ReadError | ConflictError | AmbiguousWriteError
