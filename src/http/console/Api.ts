import * as Schema from "effect/Schema"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { AnyWhere, Query } from "../../domain/query/Query.js"
import { operators } from "../../store/browse/Filter.js"
import { post, text } from "./endpoint/Endpoint.js"
import { loginPath, sessionPath } from "./session/Api.js"

// Bodies were parsed by JSON.parse, so every value is valid JSON.
const JsonValue = Schema.declare((value): value is Json => value !== undefined).annotations({
  identifier: "Json",
  message: () => "must be a JSON value",
  jsonSchema: {}
})

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const JsonDocument = Schema.declare(isObject).annotations({
  identifier: "JsonObject",
  message: () => "must be an object",
  jsonSchema: { type: "object" }
})

const Stored = Schema.declare(
  (value): value is StoredDocument => isObject(value) && typeof value["_id"] === "string"
).annotations({ identifier: "StoredDocument", jsonSchema: { type: "object" } })

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: A) =>
  Schema.optionalWith(schema, { exact: true, default: () => value })

/** The body of a sign-in. `api` is the name of a configured API. The embedded demo needs no token. */
export const LoginRequest = Schema.Struct({
  repo: text,
  token: optional(text),
  branch: withDefault(text, "main"),
  root: withDefault(text, "data"),
  api: optional(text)
}).annotations({ identifier: "LoginRequest" })
export type LoginRequest = typeof LoginRequest.Type

/** The repository, branch and root of a session. */
export const SessionView = Schema.Struct({
  api: Schema.String,
  repo: Schema.String,
  branch: Schema.String,
  root: Schema.String,
  collections: Schema.Array(Schema.String),
  readOnly: Schema.Boolean,
  /** The head of the branch, if it is known. Absent before the first commit. */
  head: Schema.optional(Schema.String)
}).annotations({ identifier: "Session" })
export type SessionView = typeof SessionView.Type

/** The choices of the sign-in form, and the current session. */
export const Setup = Schema.Struct({
  apis: Schema.Array(Schema.String),
  /** Whether signing in to the embedded demo needs no token. */
  demo: Schema.Boolean,
  session: Schema.NullOr(SessionView)
}).annotations({ identifier: "Setup" })
export type Setup = typeof Setup.Type

export const CollectionsAnswer = Schema.Struct({
  repo: Schema.String,
  branch: Schema.String,
  root: Schema.String,
  collections: Schema.Array(Schema.String)
}).annotations({ identifier: "Collections" })

const FilterBody = Schema.Struct({
  path: text,
  operator: Schema.Literal(...operators),
  value: optional(JsonValue)
}).annotations({ identifier: "Filter" })

// The query engine validates the conditions.
const Conditions = Schema.declare((value): value is AnyWhere => isObject(value)).annotations({
  identifier: "Where",
  message: () => "must be an object of conditions",
  jsonSchema: { type: "object" }
})

const OrderFields = Schema.declare(
  (value): value is NonNullable<Query["orderBy"]> => value !== undefined
).annotations({ identifier: "OrderBy", message: () => "must be fields to sort by", jsonSchema: {} })

const SortBody = Schema.Struct({ path: text, descending: Schema.Boolean })

/**
 * A query by `field` and `value`, or by up to 100 `filters`, which must all match. A `value` that is a string is
 * parsed as JSON if it is valid JSON. A query that needs more than `maxRequests` requests to the remote does not run;
 * `cost` in the reply has their number. `where` and `orderBy` are those of `collection.query` and replace the filters
 * and `sort`.
 */
export const QueryRequest = Schema.Struct({
  collection: text,
  field: optional(text),
  value: optional(JsonValue),
  filters: optional(Schema.Array(FilterBody)),
  limit: withDefault(
    Schema.Number.annotations({ message: () => ({ message: "must be a number", override: true }) }),
    50
  ),
  cursor: optional(Schema.NullOr(text)),
  at: optional(text),
  projected: optional(Schema.Boolean),
  sort: optional(Schema.Union(SortBody, Schema.Array(SortBody))),
  where: optional(Conditions),
  orderBy: optional(OrderFields),
  maxRequests: optional(Schema.Number),
  costOfAll: optional(Schema.Boolean)
}).annotations({ identifier: "QueryRequest" })
export type QueryRequest = typeof QueryRequest.Type

export const QueryAnswer = Schema.Struct({
  collection: Schema.String,
  documents: Schema.Array(JsonDocument),
  columns: Schema.Array(Schema.String),
  cursor: Schema.NullOr(Schema.String),
  source: Schema.Literal("index", "scan", "manifest"),
  reason: Schema.optional(Schema.String),
  read: Schema.optional(Schema.Struct({ entries: Schema.Number, documents: Schema.Number })),
  sorted: Schema.optional(Schema.Boolean),
  total: Schema.optional(Schema.Number),
  manifest: Schema.optional(
    Schema.Struct({
      current: Schema.Boolean,
      fields: Schema.Array(Schema.String),
      missing: Schema.Array(Schema.String),
      extra: Schema.Array(Schema.String)
    })
  ),
  unreadable: Schema.optional(Schema.Array(Schema.String)),
  cost: Schema.optional(Schema.Struct({ requests: Schema.Number }))
}).annotations({ identifier: "QueryAnswer" })

export const DocumentRequest = Schema.Struct({
  collection: text,
  id: text,
  at: optional(text)
}).annotations({ identifier: "DocumentRequest" })

/** `document` is null if it does not exist at that commit. */
export const DocumentAnswer = Schema.Struct({ document: Schema.NullOr(Stored) }).annotations({
  identifier: "DocumentAnswer"
})

/** Requests the commits of a document, or of the collection if `id` is absent. */
export const HistoryRequest = Schema.Struct({
  collection: text,
  id: optional(text),
  limit: withDefault(Schema.Number, 30)
}).annotations({ identifier: "HistoryRequest" })

export const HistoryAnswer = Schema.Struct({
  entries: Schema.Array(
    Schema.Struct({
      sha: Schema.String,
      message: Schema.String,
      author: Schema.String,
      date: Schema.String,
      url: Schema.optional(Schema.String)
    })
  )
}).annotations({ identifier: "HistoryAnswer" })

/** `expectedRev` is the revision that the user saw. Absent if the document did not exist. */
export const RestoreRequest = Schema.Struct({
  collection: text,
  id: text,
  commit: text,
  expectedRev: optional(Schema.Number)
}).annotations({ identifier: "RestoreRequest" })

export const RestoreAnswer = Schema.Struct({ document: Stored }).annotations({ identifier: "RestoreAnswer" })

/** `since` is the commit that the page shows. */
export const NewerRequest = Schema.Struct({ since: optional(text) }).annotations({
  identifier: "NewerRequest"
})

export const NewerAnswer = Schema.Struct({
  head: Schema.NullOr(Schema.String),
  count: Schema.optional(Schema.Number)
}).annotations({ identifier: "NewerCommits" })

/** What is not given stays as it is. */
export const SwitchRequest = Schema.Struct({
  branch: Schema.optionalWith(text, { exact: true }),
  root: Schema.optionalWith(text, { exact: true })
}).annotations({ identifier: "SwitchRequest" })

export const RootsAnswer = Schema.Struct({ roots: Schema.Array(Schema.String) }).annotations({
  identifier: "RootsAnswer"
})

/** The last known rate limits; empty if there are none. The request costs nothing. */
export const RateAnswer = Schema.Struct({
  budgets: Schema.Array(
    Schema.Struct({
      resource: Schema.String,
      limit: Schema.Number,
      remaining: Schema.Number,
      used: Schema.Number,
      /** Seconds since the epoch. */
      reset: Schema.Number
    })
  )
}).annotations({ identifier: "RateAnswer" })

const get = <A, I>(path: `/api/${string}`, reply: Schema.Schema<A, I>) => ({
  method: "GET" as const,
  path,
  body: undefined,
  reply
})

/** Signs in and sets a session cookie. Errors: 401, 404, 422, 429. */
export const login = post(loginPath, LoginRequest, SessionView)
/** Returns the sign-in choices and the current session. */
export const session = get(sessionPath, Setup)
export const collections = get("/api/collections", CollectionsAnswer)
export const query = post("/api/query", QueryRequest, QueryAnswer)
export const document = post("/api/document", DocumentRequest, DocumentAnswer)
export const history = post("/api/history", HistoryRequest, HistoryAnswer)
/** Restores an earlier version with a new commit. 409 if the document has changed since it was shown. */
export const restore = post("/api/restore", RestoreRequest, RestoreAnswer)
/** Returns the head of the branch and the number of commits since the shown one. */
export const newer = post("/api/newer", NewerRequest, NewerAnswer)
/** Returns the directories of the branch that can be data roots. */
export const roots = get("/api/roots", RootsAnswer)
/** Switches the session to another branch of its repository, or to another data root. 404 if there is no such branch. */
export const switchPlace = post("/api/switch", SwitchRequest, SessionView)
export const rate = get("/api/rate", RateAnswer)
/** Ends the session. Always 204, even if there is none. */
export const logout = {
  method: "POST",
  path: "/api/logout",
  body: undefined,
  reply: Schema.Void
} as const
