import * as Schema from "effect/Schema"

/** The body of every HTTP error: a stable name for programs and a sentence for people. */
export const ErrorBody = Schema.Struct({
  error: Schema.String,
  message: Schema.String
}).annotations({ identifier: "Error", description: "What went wrong" })

/** The body of every HTTP error: a stable name for programs and a sentence for people. */
export type ErrorBody = typeof ErrorBody.Type
