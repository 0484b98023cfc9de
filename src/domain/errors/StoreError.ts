import * as Data from "effect/Data"
import type { Json, JsonObject } from "../json/Json.js"
import type { DocumentMerge, MergeConflict } from "../merge/MergeRules.js"

/**
 * What every error of the store says of itself. None of it ever holds a token.
 *
 * @since 0.1.0
 * @category errors
 */
export interface StoreErrorFields {
  /** What a human needs to act. */
  readonly message: string
  /** The operation that failed, such as `Collection.insert`. */
  readonly operation: string
  /** The file in the repository that the failure is about. */
  readonly path?: string | undefined
  /** The collection that the operation was about. */
  readonly collection?: string | undefined
  /** The document that the operation was about. */
  readonly id?: string | undefined
  /** What to do next, where that helps. */
  readonly hint?: string | undefined
  /** The HTTP status of the remote's answer, where there was one. */
  readonly status?: number | undefined
  /** Queued writes that are not durable because of this failure. */
  readonly unwritten?: ReadonlyArray<{ readonly collection: string; readonly id: string }> | undefined
  /** The failure below this one, where there is one. */
  readonly cause?: unknown
}

/**
 * The family of the store's errors: caught by class with `instanceof`, or one by one with `Effect.catchTag`.
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
 * One version of a document: its revision, its blob, and its content where it was read.
 *
 * @since 0.1.0
 * @category errors
 */
export interface DocumentVersion {
  /** Its `_rev`; undefined where the document was not read. */
  readonly rev?: number | undefined
  /** The id of its file's blob, 40 hexadecimal digits. */
  readonly sha?: string | undefined
  /** Its content with the metadata; undefined where it was not read. */
  readonly document?: unknown
}

/**
 * A document that is not as the caller expected. `null` stands for a missing document.
 *
 * @since 0.1.0
 * @category errors
 */
export interface DocumentConflict {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** The version that the caller named or had read; undefined where it was not named. */
  readonly expected?: DocumentVersion | null | undefined
  /** The version that is stored; undefined where it was not read. */
  readonly actual?: DocumentVersion | null | undefined
}

/**
 * `UniqueViolation`: another document has a value that may occur once.
 *
 * @since 0.1.0
 * @category errors
 */
export type ConflictErrorReason = "UniqueViolation"

/**
 * Two documents that would have one value of a unique index.
 *
 * @since 0.1.0
 * @category errors
 */
export interface UniqueViolation {
  /** The collection of both documents. */
  readonly collection: string
  /** The name of the index. */
  readonly index: string
  /** The value; of an index of several fields, an object of their paths and values. */
  readonly value: unknown
  /** The document that the write would give the value. */
  readonly id: string
  /** Another document that has it. */
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
  /** Where in the document both sides changed something; empty for everything else. */
  readonly conflicts: ReadonlyArray<MergeConflict>
  /** What is wrong, in words. */
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
  /** Everything merged that could be, with our values at the conflicts. */
  readonly document?: JsonObject | undefined
  /** The ids of the blobs of both sides, absent where the document is missing: they tell versions apart that read alike. */
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
 * The repository is not as the write expected it: nothing was written.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConflictError extends StoreError {
  readonly _tag = "ConflictError"
  override readonly name = "ConflictError"
  /** The documents in conflict, with both versions; empty when the branch itself kept moving. */
  declare readonly conflicts: ReadonlyArray<DocumentConflict>
  /** The work branch that holds a transaction's commits, when it was kept. */
  declare readonly branch?: string | undefined
  /** What kind of conflict it is, where it is not about the version of a document. */
  declare readonly reason?: ConflictErrorReason | undefined
  /** Of a write with a `base`: how it was merged with the version that is stored, and what could not be. */
  declare readonly merge?: DocumentMerge | undefined
  /** With the reason `UniqueViolation`: the first twenty violations. */
  declare readonly violations?: ReadonlyArray<UniqueViolation> | undefined

  /** Of branches that do not merge by themselves: every conflict. */
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
 * Whether a write was refused because of a unique index.
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
 * The remote's rate limit is exhausted, or its advice is to wait longer than `maxWait`.
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimitError extends StoreError {
  readonly _tag = "RateLimitError"
  override readonly name = "RateLimitError"
  /** Requests left in the window, when known. */
  declare readonly remaining?: number | undefined
  /** Seconds since the epoch at which the window resets, when known. */
  declare readonly reset?: number | undefined
  /** The same moment as a date. */
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
 * Bad credentials, a missing permission, or a write to something opened for reading.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthError extends StoreError {
  readonly _tag = "AuthError"
  override readonly name = "AuthError"
}

/**
 * Something the caller gave, or something stored, breaks a rule. Problems lie inside it at `issues`.
 *
 * @since 0.1.0
 * @category errors
 */
export class ValidationError extends StoreError {
  readonly _tag = "ValidationError"
  override readonly name = "ValidationError"
  /** What is wrong, by the path of the field; undefined where one message says it. */
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
 * The reply to a write was lost and nothing could tell whether it took effect: look before writing again.
 *
 * @since 0.1.0
 * @category errors
 */
export class AmbiguousWriteError extends StoreError {
  readonly _tag = "AmbiguousWriteError"
  override readonly name = "AmbiguousWriteError"
  /** True where the write can be seen, and the disk did not say that it will stay: looking again tells no more. */
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
  /** What went wrong, for programs that decide by it. */
  declare readonly reason: RemoteErrorReason

  constructor(fields: StoreErrorFields & { readonly reason: RemoteErrorReason }) {
    super(fields)
  }
}

/**
 * `Unreachable`: no connection, or the directory is gone. `Timeout`: no answer in time. `Locked`: another
 * process holds a lock. `Denied`: the file system or a rule of the repository forbids it. `Corrupt`: an object
 * or a reply is not what it must be. `Unsupported`: this remote (or this version of Git) cannot do it.
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
 * Why a read failed.
 *
 * @since 0.1.0
 * @category errors
 */
export type ReadError = AuthError | NotFoundError | RateLimitError | RemoteError | ValidationError

/**
 * Why a write failed: nothing was written, except as `AmbiguousWriteError` says.
 *
 * @since 0.1.0
 * @category errors
 */
export type WriteError = ReadError | ConflictError | AmbiguousWriteError
