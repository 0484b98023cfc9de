import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "../../../domain/json/Json.js"

// Everything here comes from the store, or goes to it, which judges it.
const Document = Schema.declare(
  (value): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
).annotations({ identifier: "AnyDocument", jsonSchema: { type: "object" } })
const JsonValue = Schema.declare((value): value is Json => value !== undefined).annotations({
  identifier: "AnyJson",
  jsonSchema: {}
})
const value = Schema.optional(JsonValue)
const text = Schema.String.annotations({ message: () => ({ message: "must be a string", override: true }) })
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

/** A proposal, as the store tells it. */
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
  take: Schema.Array(Schema.Literal("ours", "theirs"))
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
      theirs: value
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

const post = <P, PI, A, I>(
  path: `/api/${string}`,
  body: Schema.Schema<P, PI>,
  reply: Schema.Schema<A, I>
) => ({
  method: "POST" as const,
  path,
  body: body.annotations({ message: () => "must be an object" }),
  reply
})

/** The newest commits of the branch. */
export const commits = post(
  "/api/commits",
  Schema.Struct({ limit: Schema.Int.pipe(Schema.between(1, 500)) }),
  Schema.Struct({ entries: Schema.Array(HistoryEntry) })
)
/** A page of the documents that a commit changed. */
export const changes = post("/api/changes", CommitRequest, DocumentChanges)
/** What a revert would write; writes nothing. */
export const previewRevert = post(
  "/api/revert-preview",
  Schema.Struct({ commit: text }),
  Schema.Struct({
    ...DocumentChanges.fields,
    derived: Schema.Number,
    problem: Schema.NullOr(Schema.String)
  })
)
/** Undoes a commit by a new one. 409 where its documents have changed since. */
export const revert = post("/api/revert", Schema.Struct({ commit: text }), Committed)
export const branches = {
  method: "GET",
  path: "/api/branches",
  body: undefined,
  reply: Schema.Struct({
    branches: Schema.Array(Schema.Struct({ name: Schema.String, commitSha: Schema.String }))
  })
} as const
/** Makes a branch at a commit, a tag or a branch. 409 where it exists. */
export const createBranch = post("/api/branch", Schema.Struct({ name: text, from: text }), Committed)
/** A page of the documents in which a branch differs from the session's. */
export const compare = post("/api/compare", BranchRequest, DocumentChanges)
/** What a merge of a branch into the session's would do; writes nothing. */
export const previewMerge = post("/api/merge-preview", MergeRequest, MergePreview)
/** Merges a branch into the session's. 409 where a conflict is not decided, or no longer the one that was shown. */
export const merge = post("/api/merge", MergeRequest, Committed)
/** The proposals that are in a state, oldest first. */
export const proposals = post(
  "/api/proposals",
  Schema.Struct({ state: State }),
  Schema.Struct({ proposals: Schema.Array(Proposal) })
)
/** A page of the documents that a proposal changes. */
export const compareProposal = post(
  "/api/proposal-compare",
  Schema.Struct({ id: text, offset: Offset }),
  DocumentChanges
)
/** What accepting a proposal would do; writes nothing. */
export const previewProposal = post(
  "/api/proposal-preview",
  Schema.Struct(Decided),
  Schema.Struct({ ...MergePreview.fields, commit: Schema.String })
)
/** Accepts a proposal that is at `commit`. 409 where it is not, or where a conflict is not decided. */
export const acceptProposal = post(
  "/api/proposal-accept",
  Schema.Struct({ ...Decided, commit: text }),
  Committed
)
/** Turns a proposal down. 409 where it is not open. */
export const closeProposal = post("/api/proposal-close", ProposalRequest, Proposal)
