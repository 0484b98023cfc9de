import { Effect, Exit, Fiber, Runtime, type Scope } from "effect"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import {
  buildASTSchema,
  type DocumentNode,
  execute,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  validate
} from "../../../vendor/Graphql.js"
import type { Charge } from "../access/Limits.js"
import { badRequest, Problem } from "../reply/Problem.js"
import * as Reply from "../reply/Reply.js"
import { writing } from "../repository/Faults.js"
import type { Call } from "../request/Call.js"
import * as FairScheduler from "../request/FairScheduler.js"
import { isObject } from "../request/Fields.js"
import * as JsonBody from "../request/JsonBody.js"
import type { Answer, Failure } from "../request/Route.js"
import { documentProblem, explainAborted, variablesProblem } from "./Bounds.js"
import type { Context } from "./Context.js"
import { estimate, mostNodes } from "./Cost.js"
import { exhausted, failure, format, fromCause, unavailable } from "./GraphQlFailure.js"
import * as Mutations from "./Mutations.js"
import { objects } from "./Objects.js"
import * as Queries from "./Queries.js"
import { schema as source } from "./schema.generated.js"

/** A document larger than this is refused before it is parsed further. */
const mostTokens = 30_000

/** How long a query may take; GitHub gives it the same time. */
const timeout = "10 seconds"

const unauthenticated = new Problem({
  status: 401,
  message: "This endpoint requires you to be authenticated.",
  documentation: "graphql/guides/forming-calls-with-graphql#authenticating-with-graphql"
})

const errors = (...all: ReadonlyArray<GraphQLError>) => Reply.plain(200, { errors: all.map(format) })

/** A document, or why it is none or does not fit the schema. */
type Checked = DocumentNode | ReadonlyArray<GraphQLError>

/** GitHub may know what is unknown here. */
const explained = (error: GraphQLError): GraphQLError =>
  /^(Cannot query field|Unknown (type|argument))/.test(error.message)
    ? new GraphQLError(`${error.message.replace(/\.$/, "")}: this host serves a part of GitHub's schema.`, {
        nodes: error.nodes ?? null
      })
    : error

const checkedAnew = (query: string): Checked => {
  try {
    const document = parse(query, { maxTokens: mostTokens })
    const problem = documentProblem(document)
    if (problem !== undefined) return [problem]
    const invalid = validate(schema(), document, undefined, { maxErrors: 10 })
    return invalid.length > 0 ? invalid.map((error) => explainAborted(explained(error))) : document
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    return [new GraphQLError("The document could not be parsed: its parts are nested too deep.")]
  }
}

// Clients send the same few documents again and again, and checking one takes longer than answering it.
const remembered = new LruCache<Checked>(256)
const longestRemembered = 16_384

const checked = (query: string): Checked => {
  const known = remembered.get(query)
  if (known !== undefined) return known
  const found = checkedAnew(query)
  return query.length <= longestRemembered ? remembered.set(query, found) : found
}

let built: GraphQLSchema | undefined
const schema = (): GraphQLSchema => {
  built ??= buildASTSchema(parse(source, { noLocation: true }), { assumeValidSDL: true })
  return built
}

const operationOf = (
  document: DocumentNode,
  name: string | undefined
): OperationDefinitionNode | undefined => {
  const all = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION)
  return name === undefined
    ? all.length === 1
      ? all[0]
      : undefined
    : all.find((one) => one.name?.value === name)
}

/**
 * Runs effects for resolvers: one that is done at once is answered at once, as long as that is not for too long; what
 * still runs ends with the scope, and nothing begins after it.
 */
const runner = Effect.gen(function* () {
  const fork = Runtime.runFork(yield* Effect.runtime<Scope.Scope>())
  const running = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  const turn = FairScheduler.make()
  const began = performance.now()
  let open = true
  yield* Effect.addFinalizer(() => {
    open = false
    return Fiber.interruptAll(running)
  })
  const settled = <A>(exit: Exit.Exit<A, Failure | GraphQLError>): A => {
    if (Exit.isSuccess(exit)) return exit.value
    fork(Effect.logDebug("A field failed", exit.cause))
    throw fromCause(exit.cause)
  }
  const run: Context["run"] = (effect) => {
    if (!open) throw unavailable()
    // Whoever asks for much leaves the event loop to others in between.
    const paced = performance.now() - began > FairScheduler.budget ? Effect.zipRight(turn, effect) : effect
    const fiber = fork(paced, { immediate: true })
    const exit = fiber.unsafePoll()
    if (exit !== null) return settled(exit)
    running.add(fiber)
    return new Promise((resolve, reject) =>
      fiber.addObserver((later) => {
        running.delete(fiber)
        try {
          resolve(settled(later))
        } catch (error) {
          reject(error)
        }
      })
    )
  }
  return run
})

const run = (
  call: Call,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
  cost: Context["cost"]
) =>
  Effect.gen(function* () {
    const run = yield* runner
    const context: Context = {
      call,
      cost,
      objects,
      held: { texts: 0, listed: 0 },
      window: call.host.limits.window(call.principal, "graphql"),
      run
    }
    const mutation = operation.operation === OperationTypeNode.MUTATION
    const executing = Effect.promise(async () =>
      execute({
        schema: schema(),
        document,
        rootValue: mutation ? Mutations.root : Queries.root,
        contextValue: context,
        variableValues: variables,
        operationName: operation.name?.value
      })
    )
    return yield* mutation ? executing : Effect.timeout(executing, timeout)
  }).pipe(Effect.scoped)

/** Answers a GraphQL request, which counts against the limits once it is known what it does. */
export const handle = (call: Call): Answer =>
  Effect.gen(function* () {
    if (call.principal.login === undefined) return yield* unauthenticated
    if (call.request.method !== "POST")
      return yield* new Problem({ status: 404, message: "Not Found", documentation: "graphql" })
    const body = yield* JsonBody.read(call, "contents")
    yield* call.host.turn
    const { query, variables } = body
    const name = body["operationName"]
    if (typeof query !== "string" || query.trim() === "")
      return errors(new GraphQLError("A query attribute must be specified and must be a string."))
    if (variables !== undefined && variables !== null && !isObject(variables))
      return yield* badRequest("Variables must be an object.")
    const values = isObject(variables) ? variables : {}
    const unfit = variablesProblem(values)
    if (unfit !== undefined) return errors(unfit)
    const document = checked(query)
    if (!("kind" in document)) return errors(...document)
    const operation = operationOf(document, typeof name === "string" && name !== "" ? name : undefined)
    if (operation === undefined)
      return errors(new GraphQLError(`No operation named ${JSON.stringify(name ?? "").slice(0, 80)}`))
    const fragments = new Map<string, FragmentDefinitionNode>()
    for (const one of document.definitions)
      if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one)
    const cost = estimate(operation, fragments, values)
    if (cost.nodes > mostNodes) {
      return errors(
        failure(
          "MAX_NODE_LIMIT_EXCEEDED",
          `This query requests up to ${cost.nodes} possible nodes which exceeds the maximum limit of ${mostNodes}.`
        )
      )
    }
    if (cost.tooMuch) return errors(exhausted())
    const writes = operation.operation === OperationTypeNode.MUTATION
    const charge: Charge = {
      principal: call.principal,
      resource: "graphql",
      writes,
      endpoint: "graphql",
      cost: cost.points
    }
    const answer: Answer = (
      writes
        ? writing(run(call, document, operation, values, cost))
        : run(call, document, operation, values, cost)
    ).pipe(
      Effect.map((result) =>
        Reply.plain(200, {
          ...(result.data === undefined ? {} : { data: result.data }),
          ...(result.errors === undefined ? {} : { errors: result.errors.map(format) })
        })
      ),
      Effect.catchTag("TimeoutException", () =>
        Effect.succeed(
          Reply.plain(502, {
            data: null,
            errors: [
              {
                message:
                  "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug."
              }
            ]
          })
        )
      )
    )
    return yield* call.host.limits
      .around(charge, answer)
      .pipe(
        Effect.catchTag("Problem", (problem) =>
          problem.documentation?.endsWith("#about-primary-rate-limits") === true
            ? Effect.succeed(errors(failure("RATE_LIMITED", problem.message)))
            : Effect.fail(problem)
        )
      )
  })
