import * as Schema from "effect/Schema"
import { post, text } from "../endpoint/Endpoint.js"

/** The most collections that one request counts. */
export const maxCounted = 100

/** Returns the number of documents of each collection, in the order of the request. */
export const counts = post(
  "/api/counts",
  Schema.Struct({ collections: Schema.Array(text).pipe(Schema.maxItems(maxCounted)) }),
  Schema.Struct({ counts: Schema.Array(Schema.Number) })
)

/** Returns the documents that differ between a commit and the head of the session's branch. 404 if there is none. */
export const changesSince = post(
  "/api/changes-since",
  Schema.Struct({ commit: text }),
  Schema.Struct({
    total: Schema.Number,
    documents: Schema.Array(
      Schema.Struct({
        collection: Schema.String,
        id: Schema.String,
        kind: Schema.Literal("added", "changed", "removed")
      })
    )
  })
)

/** Returns the findings of `doctor`. `deep` reads every document. */
export const health = post(
  "/api/health",
  Schema.Struct({ deep: Schema.Boolean }),
  Schema.Struct({
    findings: Schema.Array(
      Schema.Struct({
        severity: Schema.Literal("ok", "warning", "error"),
        code: Schema.String,
        message: Schema.String,
        hint: Schema.optional(Schema.String),
        collection: Schema.optional(Schema.String),
        ids: Schema.optional(Schema.Array(Schema.String))
      })
    )
  })
)
