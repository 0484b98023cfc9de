import * as Schema from "effect/Schema"
import type { JsonObject } from "../../../domain/json/Json.js"
import type { MergeConflict } from "../../../domain/merge/MergeRules.js"
import { type EditSettlement, maxDocuments, maxEdits } from "../../../store/browse/StagedEdits.js"
import { post, text } from "../endpoint/Endpoint.js"
import { Proposal } from "../timeline/Api.js"

// These endpoints are a separate module, because the console loads it together with its editor.

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const JsonDocument = Schema.declare(isObject).annotations({
  identifier: "JsonDocument",
  jsonSchema: { type: "object" }
})
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const EditableRequest = Schema.Struct({
  collection: text,
  ids: Schema.Array(text).pipe(Schema.maxItems(maxDocuments))
}).annotations({ identifier: "EditableRequest" })

const EditBase = Schema.Struct({ sha: text, commit: text })

/**
 * The documents in the order of the ids: null if one does not exist; an edit of it then has no base. `text` is JSON
 * without the store's fields.
 */
export const EditableAnswer = Schema.Struct({
  documents: Schema.Array(Schema.NullOr(Schema.Struct({ ...EditBase.fields, text: Schema.String })))
}).annotations({ identifier: "EditableAnswer" })

const SchemaRequest = Schema.Struct({ collection: text }).annotations({ identifier: "SchemaRequest" })

/** `schema` is null if the collection has none. */
export const SchemaAnswer = Schema.Struct({ schema: Schema.NullOr(JsonDocument) }).annotations({
  identifier: "SchemaAnswer"
})

const isPath = (value: unknown): value is ReadonlyArray<string | number> =>
  Array.isArray(value) && value.every((step) => typeof step === "string" || typeof step === "number")

const pathSchema = { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } }

// A list of paths can be as long as the document. Validating each path by its own schema would block the event loop.
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

// The items of a list that is too long are not validated.
const FewEdits = Schema.declare(
  (value): value is ReadonlyArray<unknown> => Array.isArray(value) && value.length <= maxEdits
).annotations({
  identifier: "FewEdits",
  message: () => `must be a list of at most ${maxEdits} edits`,
  jsonSchema: { type: "array", maxItems: maxEdits }
})

/** Edits of documents. `text` is the complete new document, or null to delete it. */
const ReviewRequest = Schema.Struct({
  edits: Schema.compose(FewEdits, Schema.Array(StagedEdit))
}).annotations({ identifier: "ReviewRequest" })

/** The outcome of each edit, in their order. */
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

/** The outcome of publishing: for each document, for the files, and the problem that would prevent it. */
export const ReviewAnswer = Schema.Struct({
  edits: ReviewedEdits,
  files: Schema.Array(Schema.Struct({ path: Schema.String, removed: Schema.Boolean })),
  problem: Schema.optional(Schema.String)
}).annotations({ identifier: "Review" })

const PublishRequest = Schema.Struct({ ...ReviewRequest.fields, message: text }).annotations({
  identifier: "PublishRequest"
})

/** `commit` is null if nothing was written because of a conflict, or because the documents are already as edited. */
export const PublishAnswer = Schema.Struct({
  commit: Schema.NullOr(Schema.String),
  edits: ReviewedEdits
}).annotations({ identifier: "Publication" })

/** Edits to propose for review. */
const ProposeRequest = Schema.Struct({
  ...ReviewRequest.fields,
  title: text,
  body: optional(text)
}).annotations({ identifier: "ProposeRequest" })

/**
 * `proposal` is null if nothing was proposed because of a conflict, or because the documents are already as edited.
 */
export const ProposeAnswer = Schema.Struct({
  proposal: Schema.NullOr(Proposal),
  edits: ReviewedEdits
}).annotations({ identifier: "ProposedEdits" })

/**
 * The maximum size of a request with edits. The text of a document is parsed synchronously, and a larger one would
 * block the event loop for too long.
 */
export const maxBytes = 256 * 1024

const CreateIndexRequest = Schema.Struct({
  collection: text,
  field: text,
  unique: Schema.Boolean
}).annotations({ identifier: "CreateIndexRequest" })

/** `commit` is null if the index is there already. */
export const CreateIndexAnswer = Schema.Struct({ commit: Schema.NullOr(Schema.String) }).annotations({
  identifier: "CreateIndexAnswer"
})

/** Returns documents for editing, with the versions that edits name as their base. */
export const editable = post("/api/editable", EditableRequest, EditableAnswer)
/** Returns the stored JSON Schema of a collection. */
export const schema = post("/api/schema", SchemaRequest, SchemaAnswer)
/** Compares edits with the stored documents. Writes nothing. */
export const review = post("/api/review", ReviewRequest, ReviewAnswer)
/** Commits edits, merged with changes by others since their base. Writes nothing if there is a conflict. */
export const publish = post("/api/publish", PublishRequest, PublishAnswer)
/** Proposes edits on a new branch. A repeated request creates another proposal. */
export const propose = post("/api/propose", ProposeRequest, ProposeAnswer)
/** Creates an index of a field in one commit. Reads every document of the collection. */
export const createIndex = post("/api/create-index", CreateIndexRequest, CreateIndexAnswer)
