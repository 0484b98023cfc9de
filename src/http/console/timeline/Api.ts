import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "../../../domain/json/Json.js"
import { post, text } from "../endpoint/Endpoint.js"

// The store validates these values.
const Document = Schema.declare(
  (value): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
).annotations({ identifier: "AnyDocument", jsonSchema: { type: "object" } })
const JsonValue = Schema.declare((value): value is Json => value !== undefined).annotations({
  identifier: "AnyJson",
  jsonSchema: {}
})
const value = Schema.optional(JsonValue)
const Offset = Schema.optionalWith(Schema.NonNegativeInt, { exact: true, default: () => 0 })

const Kind = Schema.Literal("added", "changed", "removed")
const Named = { collection: Schema.String, id: Schema.String, kind: Kind }
const DocumentChange = Schema.Struct({
  ...Named,
  before: Schema.NullOr(Document),
  after: Schema.NullOr(Document),
  unreadable: Schema.Boolean
})
const DocumentChanges = Schema.Struct({ total: Schema.Number, documents: Schema.Array(DocumentChange) })

const HistoryEntry = Schema.Struct({
  sha: Schema.String,
  message: Schema.String,
  author: Schema.String,
  date: Schema.String,
  url: Schema.optional(Schema.String)
})

const State = Schema.Literal("open", "accepted", "closed")

/** A proposal of the store. */
export const Proposal = Schema.Struct({
  id: Schema.String,
  branch: Schema.String,
  into: Schema.String,
  title: Schema.String,
  body: Schema.String,
  author: Schema.String,
  labels: Schema.Array(Schema.String),
  state: State,
  commitSha: Schema.String,
  number: Schema.optional(Schema.Number),
  url: Schema.optional(Schema.String)
}).annotations({ identifier: "Proposal" })

const Decision = Schema.Struct({
  path: text,
  digest: text,
  take: Schema.Array(Schema.Union(Schema.Literal("ours", "theirs"), Schema.Struct({ value: JsonValue })))
})

const Conflict = Schema.Struct({
  path: Schema.String,
  problem: Schema.String,
  digest: Schema.String,
  choices: Schema.Array(
    Schema.Struct({
      path: Schema.Array(Schema.Union(Schema.String, Schema.Number)),
      base: value,
      ours: value,
      theirs: value,
      both: value
    })
  )
})

const CommitRequest = Schema.Struct({ commit: text, offset: Offset })
const BranchRequest = Schema.Struct({ branch: text, offset: Offset })
const MergeRequest = Schema.Struct({ branch: text, decisions: Schema.Array(Decision) })
const MergePreview = Schema.Struct({
  kind: Schema.Literal("merge", "fastForward", "upToDate"),
  documents: Schema.Array(Schema.Struct(Named)),
  total: Schema.Number,
  conflicts: Schema.Array(Conflict)
})
const ProposalRequest = Schema.Struct({ id: text })
const Decided = { id: text, decisions: Schema.Array(Decision) }
const Committed = Schema.Struct({ commit: Schema.NullOr(Schema.String) })

/** Returns the newest commits of the branch. */
export const commits = post(
  "/api/commits",
  Schema.Struct({ limit: Schema.Int.pipe(Schema.between(1, 500)) }),
  Schema.Struct({ entries: Schema.Array(HistoryEntry) })
)
/** Returns a page of the documents that a commit changed. */
export const changes = post("/api/changes", CommitRequest, DocumentChanges)
/** Previews a revert. Writes nothing. */
export const previewRevert = post(
  "/api/revert-preview",
  Schema.Struct({ commit: text }),
  Schema.Struct({
    ...DocumentChanges.fields,
    derived: Schema.Number,
    problem: Schema.NullOr(Schema.String)
  })
)
/** Reverts a commit with a new commit. 409 if its documents have changed since. */
export const revert = post("/api/revert", Schema.Struct({ commit: text }), Committed)
export const branches = {
  method: "GET",
  path: "/api/branches",
  body: undefined,
  reply: Schema.Struct({
    branches: Schema.Array(Schema.Struct({ name: Schema.String, commitSha: Schema.String }))
  })
} as const
/** Creates a branch at a commit, a tag or a branch. 409 if it exists. */
export const createBranch = post("/api/branch", Schema.Struct({ name: text, from: text }), Committed)
/** Returns a page of the documents that differ between a branch and the session's branch. */
export const compare = post("/api/compare", BranchRequest, DocumentChanges)
/** Previews a merge of a branch into the session's branch. Writes nothing. */
export const previewMerge = post("/api/merge-preview", MergeRequest, MergePreview)
/**
 * Merges a branch into the session's branch. 409 if a conflict has no decision, or differs from the previewed one.
 */
export const merge = post("/api/merge", MergeRequest, Committed)
/** Returns the proposals in a state, oldest first. */
export const proposals = post(
  "/api/proposals",
  Schema.Struct({ state: State }),
  Schema.Struct({ proposals: Schema.Array(Proposal) })
)
/** Returns a page of the documents that a proposal changes. */
export const compareProposal = post(
  "/api/proposal-compare",
  Schema.Struct({ id: text, offset: Offset }),
  DocumentChanges
)
/** Previews the acceptance of a proposal. Writes nothing. */
export const previewProposal = post(
  "/api/proposal-preview",
  Schema.Struct(Decided),
  Schema.Struct({ ...MergePreview.fields, commit: Schema.String })
)
/** Accepts a proposal that is at `commit`. 409 if it is not, or if a conflict has no decision. */
export const acceptProposal = post(
  "/api/proposal-accept",
  Schema.Struct({ ...Decided, commit: text }),
  Committed
)
/** Closes a proposal. 409 if it is not open. */
export const closeProposal = post("/api/proposal-close", ProposalRequest, Proposal)
