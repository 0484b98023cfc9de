import * as Schema from "effect/Schema"

/** Every error that crosses HTTP: a stable name for programs and a sentence for people. */
export const ErrorBody = Schema.Struct({
  error: Schema.String,
  message: Schema.String
}).annotations({ identifier: "Error", description: "What went wrong" })

/** Every error that crosses HTTP: a stable name for programs and a sentence for people. */
export type ErrorBody = typeof ErrorBody.Type
