import * as Schema from "effect/Schema"
import type { JsonObject } from "../../../domain/json/Json.js"
import type { MergeConflict } from "../../../domain/merge/MergeRules.js"
import { type EditSettlement, maxEdits } from "../../../store/browse/StagedEdits.js"
import { Proposal } from "../timeline/Api.js"

// Apart from the other endpoints: the console fetches this with its editor.

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const JsonDocument = Schema.declare(isObject).annotations({
  identifier: "JsonDocument",
  jsonSchema: { type: "object" }
})
const text = Schema.String.annotations({ message: () => ({ message: "must be a string", override: true }) })
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

export const EditableRequest = Schema.Struct({ collection: text, id: text }).annotations({
  identifier: "EditableRequest",
  message: () => "must be an object"
})

const EditBase = Schema.Struct({ sha: text, commit: text })

/** `document` is null where there is none: an edit of it has no base. `text` is JSON, without the store's fields. */
export const EditableAnswer = Schema.Struct({
  document: Schema.NullOr(Schema.Struct({ ...EditBase.fields, text: Schema.String }))
}).annotations({ identifier: "EditableAnswer" })

export const SchemaRequest = Schema.Struct({ collection: text }).annotations({
  identifier: "SchemaRequest",
  message: () => "must be an object"
})

/** `schema` is null where none is stored. */
export const SchemaAnswer = Schema.Struct({ schema: Schema.NullOr(JsonDocument) }).annotations({
  identifier: "SchemaAnswer"
})

const isPath = (value: unknown): value is ReadonlyArray<string | number> =>
  Array.isArray(value) && value.every((step) => typeof step === "string" || typeof step === "number")

const pathSchema = { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } }

// An edit of a document with many members has as many places: a schema of each would hold the event loop.
const isPaths = (value: unknown): value is ReadonlyArray<ReadonlyArray<string | number>> =>
  Array.isArray(value) && value.every(isPath)

const Settled = Schema.declare(
  (value): value is EditSettlement | undefined =>
    value === undefined ||
    (isObject(value) && typeof value["against"] === "string" && isPaths(value["theirs"]))
).annotations({
  identifier: "EditSettlement",
  message: () => "must have against, a blob, and theirs, a list of paths",
  jsonSchema: {
    type: "object",
    required: ["against", "theirs"],
    properties: { against: { type: "string" }, theirs: { type: "array", items: pathSchema } }
  }
})

const MergeConflicts = Schema.declare(
  (value): value is ReadonlyArray<MergeConflict> =>
    Array.isArray(value) && value.every((conflict) => isObject(conflict) && isPath(conflict["path"]))
).annotations({
  identifier: "MergeConflicts",
  message: () => "must be a list of conflicts",
  jsonSchema: {
    type: "array",
    items: {
      type: "object",
      required: ["path"],
      properties: { path: pathSchema, base: {}, ours: {}, theirs: {} }
    }
  }
})

const StagedEdit = Schema.Struct({
  collection: text,
  id: text,
  base: Schema.NullOr(EditBase),
  text: Schema.NullOr(text),
  settled: optional(Settled),
  stamp: Schema.optional(text)
})

// Of a list that is too long no item is looked at.
const FewEdits = Schema.declare(
  (value): value is ReadonlyArray<unknown> => Array.isArray(value) && value.length <= maxEdits
).annotations({
  identifier: "FewEdits",
  message: () => `must be a list of at most ${maxEdits} edits`,
  jsonSchema: { type: "array", maxItems: maxEdits }
})

/** Edits of documents: `text` is the whole document as it is to be, null to delete it. */
export const ReviewRequest = Schema.Struct({
  edits: Schema.compose(FewEdits, Schema.Array(StagedEdit))
}).annotations({
  identifier: "ReviewRequest",
  message: () => "must be an object"
})

/** What each edit comes to, in their order. */
export const ReviewedEdits = Schema.Array(
  Schema.Struct({
    collection: Schema.String,
    id: Schema.String,
    state: Schema.Literal("create", "change", "merge", "delete", "none", "conflict", "invalid"),
    before: Schema.NullOr(JsonDocument),
    after: Schema.NullOr(JsonDocument),
    conflict: Schema.optional(
      Schema.Struct({
        base: Schema.NullOr(JsonDocument),
        ours: Schema.NullOr(JsonDocument),
        theirs: Schema.NullOr(JsonDocument),
        version: Schema.NullOr(EditBase),
        merged: Schema.NullOr(JsonDocument),
        fields: MergeConflicts
      })
    ),
    problem: Schema.optional(Schema.String)
  })
)

/** What publishing would do: to each document, to the files, and why it would be refused. */
export const ReviewAnswer = Schema.Struct({
  edits: ReviewedEdits,
  files: Schema.Array(Schema.Struct({ path: Schema.String, removed: Schema.Boolean })),
  problem: Schema.optional(Schema.String)
}).annotations({ identifier: "Review" })

export const PublishRequest = Schema.Struct({ ...ReviewRequest.fields, message: text }).annotations({
  identifier: "PublishRequest",
  message: () => "must be an object"
})

/** `commit` is null where nothing was written: a conflict is in the way, or the documents already are as the edits say. */
export const PublishAnswer = Schema.Struct({
  commit: Schema.NullOr(Schema.String),
  edits: ReviewedEdits
}).annotations({ identifier: "Publication" })

/** Edits that somebody is to accept. */
export const ProposeRequest = Schema.Struct({
  ...ReviewRequest.fields,
  title: text,
  body: optional(text)
}).annotations({ identifier: "ProposeRequest", message: () => "must be an object" })

/** `proposal` is null where there was nothing to propose: a conflict is in the way, or the documents already are so. */
export const ProposeAnswer = Schema.Struct({
  proposal: Schema.NullOr(Proposal),
  edits: ReviewedEdits
}).annotations({ identifier: "ProposedEdits" })

/**
 * The most bytes of a request with edits: more would hold the event loop for too long, as the text of a document is read
 * in one go.
 */
export const maxBytes = 256 * 1024

const post = <P, PI, A, I>(
  path: `/api/${string}`,
  body: Schema.Schema<P, PI>,
  reply: Schema.Schema<A, I>
) => ({ method: "POST" as const, path, body, reply })

/** A document to be edited, with the version that edits of it name as their base. */
export const editable = post("/api/editable", EditableRequest, EditableAnswer)
/** The JSON Schema that is stored of a collection, for a form. */
export const schema = post("/api/schema", SchemaRequest, SchemaAnswer)
/** Compares edits with what is stored; writes nothing. */
export const review = post("/api/review", ReviewRequest, ReviewAnswer)
/** Writes edits in one commit, merged with what others have changed since; none of them where one is a conflict. */
export const publish = post("/api/publish", PublishRequest, PublishAnswer)
/** Proposes edits, on a branch of their own. Asked twice, it makes two proposals. */
export const propose = post("/api/propose", ProposeRequest, ProposeAnswer)
