import { annotations as ofApi } from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Ref from "../domain/errors/RefMoved.js"
import * as Errors from "../domain/errors/StoreError.js"
import { Oid } from "../domain/identifiers/Oid.js"
import type { Json } from "../domain/json/Json.js"
import type { DocumentMerge, MergeConflict } from "../domain/merge/MergeRules.js"
import * as Destination from "../store/transfer/Destination.js"
import * as Source from "../store/transfer/SourceError.js"

/** The fields of every error except its cause, which may contain private data. */
const shared = {
  message: Schema.String,
  operation: Schema.String,
  path: Schema.optional(Schema.String),
  collection: Schema.optional(Schema.String),
  id: Schema.optional(Schema.String),
  hint: Schema.optional(Schema.String),
  status: Schema.optional(Schema.Int),
  unwritten: Schema.optional(Schema.Array(Schema.Struct({ collection: Schema.String, id: Schema.String })))
}

/** Removes undefined members, which some encodings cannot represent. */
const present = <A extends object>(members: A): A =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as A

const sharedOf = ({ collection, hint, id, message, operation, path, status, unwritten }: Errors.StoreError) =>
  present({ message, operation, path, collection, id, hint, status, unwritten })

/** The codec of an error without fields of its own. */
const plain = <Tag extends string, E extends Errors.StoreError & { readonly _tag: Tag }>(
  _tag: Tag,
  Class: new (fields: Errors.StoreErrorFields) => E,
  status = 500
) =>
  Schema.transform(Schema.Struct({ _tag: Schema.Literal(_tag), ...shared }), Schema.instanceOf(Class), {
    strict: true,
    decode: (fields) => new Class(fields),
    encode: (error) => ({ ...sharedOf(error), _tag })
  }).annotations({ identifier: _tag, ...ofApi({ status }) })

/**
 * A `NotFoundError` as JSON, with status 404 in an `HttpApi`.
 *
 * @since 0.1.0
 * @category errors
 */
export const NotFoundError = plain("NotFoundError", Errors.NotFoundError, 404)

/**
 * An `AuthError` as JSON, with status 403 in an `HttpApi`.
 *
 * @since 0.1.0
 * @category errors
 */
export const AuthError = plain("AuthError", Errors.AuthError, 403)

/**
 * A `SourceError` as JSON: reading records failed.
 *
 * @since 0.1.0
 * @category errors
 */
export const SourceError = plain("SourceError", Source.SourceError)

/**
 * A `DestinationError` as JSON: writing to a destination failed.
 *
 * @since 0.1.0
 * @category errors
 */
export const DestinationError = plain("DestinationError", Destination.DestinationError)

const versionFields = Schema.Struct({
  rev: Schema.optional(Schema.Int),
  sha: Schema.optional(Schema.String),
  document: Schema.optional(Schema.Unknown)
})

const conflict = Schema.Struct({
  collection: Schema.String,
  id: Schema.String,
  expected: Schema.optional(Schema.NullOr(versionFields)),
  actual: Schema.optional(Schema.NullOr(versionFields))
})

const violation = Schema.Struct({
  collection: Schema.String,
  index: Schema.String,
  value: Schema.Unknown,
  id: Schema.String,
  other: Schema.String
})

const json = Schema.Unknown as unknown as Schema.Schema<Json>
const document = Schema.Record({ key: Schema.String, value: json })
const side = Schema.optionalWith(json, { exact: true })

const conflicts: Schema.Schema<ReadonlyArray<MergeConflict>> = Schema.Array(
  Schema.Struct({
    path: Schema.Array(Schema.Union(Schema.String, Schema.JsonNumber)),
    base: side,
    ours: side,
    theirs: side
  })
)

const merge: Schema.Schema<DocumentMerge> = Schema.Struct({
  base: document,
  ours: document,
  theirs: Schema.optionalWith(document, { exact: true }),
  document,
  conflicts
})

const object = Schema.optional(document)
const blob = Schema.optional(Schema.String)
const setting = Schema.optional(json)
const unmergedFields = { path: Schema.String, conflicts, problem: Schema.String }

const unmerged: Schema.Schema<Errors.Unmerged> = Schema.Union(
  Schema.Struct({
    ...unmergedFields,
    kind: Schema.Literal("changed", "deleted", "unreadable", "invalid"),
    collection: Schema.String,
    id: Schema.String,
    base: object,
    ours: object,
    theirs: object,
    document: object,
    blobs: Schema.Struct({ ours: blob, theirs: blob })
  }),
  Schema.Struct({ ...unmergedFields, kind: Schema.Literal("file"), base: blob, ours: blob, theirs: blob }),
  Schema.Struct({
    ...unmergedFields,
    kind: Schema.Literal("setting"),
    base: setting,
    ours: setting,
    theirs: setting
  })
)

const versionOf = (version: Errors.DocumentVersion | null | undefined) => version && present(version)

/**
 * A `ConflictError` as JSON with every conflict, and status 409 in an `HttpApi`.
 *
 * @since 0.1.0
 * @category errors
 */
export const ConflictError = Schema.transform(
  Schema.Struct({
    _tag: Schema.Literal("ConflictError"),
    ...shared,
    conflicts: Schema.Array(conflict),
    branch: Schema.optional(Schema.String),
    reason: Schema.optional(Schema.Literal("UniqueViolation")),
    merge: Schema.optional(merge),
    unmerged: Schema.optional(Schema.Array(unmerged)),
    violations: Schema.optional(Schema.Array(violation))
  }),
  Schema.instanceOf(Errors.ConflictError),
  {
    strict: true,
    decode: (fields) => new Errors.ConflictError(fields),
    encode: (error) =>
      present({
        ...sharedOf(error),
        _tag: "ConflictError" as const,
        conflicts: error.conflicts.map((one) =>
          present({ ...one, expected: versionOf(one.expected), actual: versionOf(one.actual) })
        ),
        branch: error.branch,
        reason: error.reason,
        merge: error.merge,
        unmerged: error.unmerged?.map((one) => present(one)),
        violations: error.violations
      })
  }
).annotations({ identifier: "ConflictError", ...ofApi({ status: 409 }) })

/**
 * A `RateLimitError` as JSON with the remaining requests and the time of the reset, and status 429 in an `HttpApi`.
 *
 * @since 0.1.0
 * @category errors
 */
export const RateLimitError = Schema.transform(
  Schema.Struct({
    _tag: Schema.Literal("RateLimitError"),
    ...shared,
    remaining: Schema.optional(Schema.JsonNumber),
    reset: Schema.optional(Schema.JsonNumber),
    resetAt: Schema.optional(Schema.Date)
  }),
  Schema.instanceOf(Errors.RateLimitError),
  {
    strict: true,
    decode: (fields) => new Errors.RateLimitError(fields),
    encode: (error) => {
      const { remaining, reset, resetAt } = error
      return present({ ...sharedOf(error), _tag: "RateLimitError" as const, remaining, reset, resetAt })
    }
  }
).annotations({ identifier: "RateLimitError", ...ofApi({ status: 429 }) })

/**
 * A `ValidationError` as JSON with its issues, and status 422 in an `HttpApi`.
 *
 * @since 0.1.0
 * @category errors
 */
export const ValidationError = Schema.transform(
  Schema.Struct({
    _tag: Schema.Literal("ValidationError"),
    ...shared,
    issues: Schema.optional(Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })))
  }),
  Schema.instanceOf(Errors.ValidationError),
  {
    strict: true,
    decode: (fields) => new Errors.ValidationError(fields),
    encode: (error) => present({ ...sharedOf(error), _tag: "ValidationError" as const, issues: error.issues })
  }
).annotations({ identifier: "ValidationError", ...ofApi({ status: 422 }) })

/**
 * An `AmbiguousWriteError` as JSON: a write with an unknown outcome.
 *
 * @since 0.1.0
 * @category errors
 */
export const AmbiguousWriteError = Schema.transform(
  Schema.Struct({
    _tag: Schema.Literal("AmbiguousWriteError"),
    ...shared,
    unsettled: Schema.optional(Schema.Boolean)
  }),
  Schema.instanceOf(Errors.AmbiguousWriteError),
  {
    strict: true,
    decode: (fields) => new Errors.AmbiguousWriteError(fields),
    encode: (error) =>
      present({ ...sharedOf(error), _tag: "AmbiguousWriteError" as const, unsettled: error.unsettled })
  }
).annotations({ identifier: "AmbiguousWriteError", ...ofApi({ status: 502 }) })

/**
 * A `RemoteError` as JSON with its reason.
 *
 * @since 0.1.0
 * @category errors
 */
export const RemoteError = Schema.transform(
  Schema.Struct({
    _tag: Schema.Literal("RemoteError"),
    ...shared,
    reason: Schema.Literal("Unreachable", "Timeout", "Locked", "Denied", "Corrupt", "Unsupported", "Server")
  }),
  Schema.instanceOf(Errors.RemoteError),
  {
    strict: true,
    decode: (fields) => new Errors.RemoteError(fields),
    encode: (error) => ({ ...sharedOf(error), _tag: "RemoteError" as const, reason: error.reason })
  }
).annotations({ identifier: "RemoteError", ...ofApi({ status: 502 }) })

/**
 * A `RefMoved` as JSON with the expected and the actual commit.
 *
 * @since 0.1.0
 * @category errors
 */
export const RefMoved = Schema.transform(
  Schema.Struct({
    _tag: Schema.Literal("RefMoved"),
    ref: Schema.String,
    expected: Schema.Option(Oid),
    actual: Schema.Option(Oid)
  }),
  Schema.instanceOf(Ref.RefMoved),
  {
    strict: true,
    decode: (fields) => new Ref.RefMoved(fields),
    encode: ({ actual, expected, ref }) => ({ _tag: "RefMoved" as const, ref, expected, actual })
  }
).annotations({ identifier: "RefMoved", ...ofApi({ status: 409 }) })

/**
 * The errors of reads (`ReadError`), each with its own status in an `HttpApi`.
 *
 * @since 0.1.0
 * @category errors
 */
export const ReadError = Schema.Union(AuthError, NotFoundError, RateLimitError, RemoteError, ValidationError)

/**
 * The errors of writes (`WriteError`), each with its own status in an `HttpApi`.
 *
 * @since 0.1.0
 * @category errors
 */
export const WriteError = Schema.Union(...ReadError.members, ConflictError, AmbiguousWriteError)
