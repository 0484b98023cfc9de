import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { ChainExecutionRequest } from "../../domain/playground/ChainExecution.js"
import { Ticket } from "../../domain/playground/Ticket.js"
import { type ChainDraft, maxDepth } from "./ChainDraft.js"
import { workProblems } from "./HandlerWork.js"
import type { RunResult } from "./RunResult.js"

const pathText = (path: ReadonlyArray<PropertyKey>): string =>
  path
    .map((key, i) => (typeof key === "number" ? `[${key}]` : i === 0 ? String(key) : `.${String(key)}`))
    .join("")

const decoded = (schema: Schema.Schema.AnyNoContext, body: unknown, placed: (path: string) => string) =>
  Either.match(Schema.decodeUnknownEither(schema, { errors: "all" })(body), {
    onRight: (): ReadonlyArray<string> => [],
    onLeft: (error) =>
      ParseResult.ArrayFormatter.formatErrorSync(error).map(
        ({ message, path }) => `${placed(pathText(path)) || "the body"} ${message}`
      )
  })

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isGroup = (value: unknown): value is Fields => isObject(value) && "steps" in value

/** The part of a group that is like a handler, which the service's schema can validate. */
const asHandler = (step: unknown): unknown => {
  if (!isGroup(step)) return step
  const { name, when = { equals: 0 } } = step
  return { ...(name === undefined ? {} : { name }), when, respond: "" }
}

/** The problems of a list of steps: by the service's schema, and of the groups and work inside it. */
const listProblems = (
  body: Fields,
  steps: unknown,
  depth: number,
  placed: (path: string) => string
): ReadonlyArray<string> => {
  const level = Array.isArray(steps)
    ? { ...body, handlers: steps.map(asHandler) }
    : { ...body, handlers: steps }
  const inside = (Array.isArray(steps) ? steps : []).flatMap((step, i): ReadonlyArray<string> => {
    const here = placed(`handlers[${i}]`)
    if (isGroup(step)) {
      if (depth >= maxDepth) return [`${here} is nested too deeply: ${maxDepth} levels is the most`]
      const { fallback, steps } = step
      const group = { request: 0, ...(fallback === undefined ? {} : { fallback }) }
      return listProblems(group, steps, depth + 1, (path) =>
        path === "" ? here : `${here}.${path.replace(/^handlers/, "steps")}`
      )
    }
    return isObject(step) && step["work"] !== undefined
      ? workProblems(step["work"]).map(([path, message]) => `${here}.work${path} ${message}`)
      : []
  })
  return [...decoded(ChainExecutionRequest, level, placed), ...inside]
}

/** The problems of a body, with the messages and paths of the service. */
export const validationProblems = (mode: ChainDraft["mode"], body: unknown): ReadonlyArray<string> =>
  mode === "triage" || !isObject(body)
    ? decoded(mode === "triage" ? Ticket : ChainExecutionRequest, body, (path) => path)
    : listProblems(body, body["handlers"], 1, (path) => path)

/** The reply to an invalid body, as the service returns it. */
export const validationResult = (mode: ChainDraft["mode"], body: unknown): RunResult => ({
  status: 400,
  body: {
    error: "ValidationError",
    message: `The request body is invalid: ${validationProblems(mode, body).join("; ")}.`
  },
  visits: [],
  micros: 0,
  runs: 0
})
