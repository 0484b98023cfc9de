import * as Schema from "effect/Schema"
import { Condition } from "./Condition.js"
import { NullableText, Numeric, Text } from "./Wire.js"

export { Condition, matches } from "./Condition.js"

/** A handler of an ad-hoc chain: when it accepts and what it answers. */
export const HandlerDescription = Schema.Struct({
  name: Text,
  when: Condition,
  respond: Text
}).annotations({ identifier: "HandlerDescription", message: () => "must be an object" })

/** A handler of an ad-hoc chain: when it accepts and what it answers. */
export type HandlerDescription = typeof HandlerDescription.Type

/** A chain and the request to run through it. */
export const ChainExecutionRequest = Schema.Struct({
  request: Numeric,
  handlers: Schema.Array(HandlerDescription)
    .annotations({ message: () => "must be an array of at least 1 handler" })
    .pipe(
      Schema.filter((handlers) => handlers.length > 0, {
        message: () => ({ message: "must hold at least 1 handler", override: false }),
        jsonSchema: { minItems: 1 }
      })
    ),
  fallback: Schema.optionalWith(NullableText, { exact: true })
}).annotations({
  identifier: "ChainExecutionRequest",
  message: () => "must be an object",
  parseOptions: { errors: "all" }
})

/** A chain and the request to run through it. */
export type ChainExecutionRequest = typeof ChainExecutionRequest.Type

/** What a chain answered, who answered, how long it took, and what its logging middleware wrote. */
export const ExecutionResult = Schema.Struct({
  response: Schema.String.annotations({ description: "Response produced by the chain" }),
  handledBy: Schema.String.annotations({
    description: "Name of the handler that produced the response, or `fallback`"
  }),
  elapsedMilliseconds: Schema.Number.annotations({
    description: "Execution time in milliseconds",
    jsonSchema: { type: "number", format: "double" }
  }),
  log: Schema.Array(Schema.String).annotations({
    description: "Entries written by the logging middleware"
  })
}).annotations({ identifier: "ExecutionResult" })

/** What a chain answered, who answered, how long it took, and what its logging middleware wrote. */
export type ExecutionResult = typeof ExecutionResult.Type

/** `template` with every `{request}` replaced, literally and in one pass, by the number as JavaScript writes it. */
export const render = (template: string, request: number): string =>
  template.includes("{request}") ? template.split("{request}").join(String(request)) : template
