import * as Schema from "effect/Schema"

/** One step of a described chain, in registration order. */
export const HandlerEntry = Schema.Struct({
  name: Schema.String,
  kind: Schema.Literal("handler", "branch", "middleware", "fallback"),
  description: Schema.String
}).annotations({ identifier: "HandlerEntry" })

/** One step of a described chain, in registration order. */
export type HandlerEntry = typeof HandlerEntry.Type

/** A chain as data: its steps, and the result of `Chain.count`. */
export const ChainDescription = Schema.Struct({
  name: Schema.String.annotations({ description: "Chain name" }),
  count: Schema.Int.annotations({
    description: "Value reported by Chain.count; a branch counts as one handler",
    jsonSchema: { type: "integer" }
  }),
  handlers: Schema.Array(HandlerEntry)
}).annotations({ identifier: "ChainDescription" })

/** A chain as data: its steps, and the result of `Chain.count`. */
export type ChainDescription = typeof ChainDescription.Type
