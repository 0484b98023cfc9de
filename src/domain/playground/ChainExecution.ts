import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { Declaration, ParseOptions } from "effect/SchemaAST"
import { Condition } from "./Condition.js"
import { EquivalentSchema, maxProblems, NullableText, Numeric, Text } from "./WireSchema.js"

export { Condition, matches } from "./Condition.js"
export { render } from "./ResponseTemplate.js"

/** A handler of an ad-hoc chain: its condition and its response. */
export const HandlerDescription = Schema.Struct({
  name: Text,
  when: Condition,
  respond: Text
}).annotations({ identifier: "HandlerDescription", message: () => "must be an object" })

/** A handler of an ad-hoc chain: its condition and its response. */
export type HandlerDescription = typeof HandlerDescription.Type

/** Decodes handlers one by one, and stops when there are more problems than are reported. */
const handlersOf =
  (handler: Schema.Schema<HandlerDescription>) =>
  (input: unknown, options: ParseOptions, ast: Declaration) => {
    if (!Array.isArray(input)) {
      return ParseResult.fail(new ParseResult.Type(ast, input, "must be an array of at least 1 handler"))
    }
    if (input.length === 0) {
      return ParseResult.fail(new ParseResult.Type(ast, input, "must hold at least 1 handler"))
    }
    const decode = ParseResult.decodeUnknownEither(handler)
    const handlers: Array<HandlerDescription> = []
    const issues: Array<ParseResult.ParseIssue> = []
    for (let at = 0; at < input.length && issues.length <= maxProblems; at++) {
      const decoded = decode(input[at], options)
      if (Either.isRight(decoded)) handlers.push(decoded.right)
      else issues.push(new ParseResult.Pointer(at, input, decoded.left))
    }
    const [first, ...rest] = issues
    return first === undefined
      ? ParseResult.succeed<ReadonlyArray<HandlerDescription>>(handlers)
      : ParseResult.fail(new ParseResult.Composite(ast, input, [first, ...rest]))
  }

const Handlers: Schema.Schema<ReadonlyArray<HandlerDescription>> = Schema.declare(
  [HandlerDescription],
  { decode: handlersOf, encode: handlersOf },
  {
    [EquivalentSchema]: Schema.NonEmptyArray(HandlerDescription).ast,
    jsonSchema: { type: "array", minItems: 1, items: { $ref: "#/components/schemas/HandlerDescription" } },
    arbitrary: (handler) => (fc) => fc.array(handler(fc), { minLength: 1 })
  }
)

/** A chain and a request to execute. */
export const ChainExecutionRequest = Schema.Struct({
  request: Numeric,
  handlers: Handlers,
  fallback: Schema.optionalWith(NullableText, { exact: true })
}).annotations({
  identifier: "ChainExecutionRequest",
  message: () => "must be an object",
  parseOptions: { errors: "all" }
})

/** A chain and a request to execute. */
export type ChainExecutionRequest = typeof ChainExecutionRequest.Type

/** The response of an execution, the name of the handler, the duration, and the log. */
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

/** The response of an execution, the name of the handler, the duration, and the log. */
export type ExecutionResult = typeof ExecutionResult.Type
