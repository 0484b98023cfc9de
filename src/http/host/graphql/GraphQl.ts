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
import type { RequestCharge } from "../access/RateLimits.js"
import { badRequest, HostError } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import { asWriter } from "../repository/Faults.js"
import * as FairScheduler from "../request/FairScheduler.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonBody from "../request/JsonBody.js"
import { isObject } from "../request/JsonFields.js"
import type { HandlerEffect, HandlerFailure } from "../request/Route.js"
import { documentProblem, explainAborted, variablesProblem } from "./DocumentLimits.js"
import { failure, format, fromCause, resourceLimitsExceeded, unavailable } from "./GraphQlFailure.js"
import * as MutationRoot from "./MutationRoot.js"
import { objects } from "./ObjectResolvers.js"
import { estimate, maxNodes } from "./QueryCost.js"
import * as QueryRoot from "./QueryRoot.js"
import type { ResolverContext } from "./ResolverContext.js"
import { schema as source } from "./schema.generated.js"

/** The maximum number of tokens of a document. Parsing stops there. */
const maxTokens = 30_000

/** The time limit of a query, as on GitHub. */
const timeout = "10 seconds"

const unauthenticated = new HostError({
  status: 401,
  message: "This endpoint requires you to be authenticated.",
  documentation: "graphql/guides/forming-calls-with-graphql#authenticating-with-graphql"
})

const errors = (...all: ReadonlyArray<GraphQLError>) => Reply.json(200, { errors: all.map(format) })

/** A valid document, or the errors of an invalid one. */
type CheckedDocument = DocumentNode | ReadonlyArray<GraphQLError>

/** Adds to an error about an unknown name that the host serves only a part of GitHub's schema. */
const explainUnknown = (error: GraphQLError): GraphQLError =>
  /^(Cannot query field|Unknown (type|argument))/.test(error.message)
    ? new GraphQLError(`${error.message.replace(/\.$/, "")}: this host serves a part of GitHub's schema.`, {
        nodes: error.nodes ?? null
      })
    : error

const check = (query: string): CheckedDocument => {
  try {
    const document = parse(query, { maxTokens: maxTokens })
    const problem = documentProblem(document)
    if (problem !== undefined) return [problem]
    const invalid = validate(schema(), document, undefined, { maxErrors: 10 })
    return invalid.length > 0 ? invalid.map((error) => explainAborted(explainUnknown(error))) : document
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    return [new GraphQLError("The document could not be parsed: it is nested too deeply.")]
  }
}

// Clients repeat the same few documents, and validating a document takes longer than executing it.
const checkedDocuments = new LruCache<CheckedDocument>(256)
const maxCachedLength = 16_384

const checkCached = (query: string): CheckedDocument => {
  const checked = checkedDocuments.get(query)
  if (checked !== undefined) return checked
  const found = check(query)
  return query.length <= maxCachedLength ? checkedDocuments.set(query, found) : found
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
 * Creates a function that runs effects for resolvers. An effect that completes synchronously returns its value
 * without a promise. Running effects are interrupted when the scope closes, and no effect starts after that.
 */
const makeRunner = Effect.gen(function* () {
  const fork = Runtime.runFork(yield* Effect.runtime<Scope.Scope>())
  const running = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  const schedule = FairScheduler.make()
  const began = performance.now()
  let open = true
  yield* Effect.addFinalizer(() => {
    open = false
    return Fiber.interruptAll(running)
  })
  const settled = <A>(exit: Exit.Exit<A, HandlerFailure | GraphQLError>): A => {
    if (Exit.isSuccess(exit)) return exit.value
    fork(Effect.logDebug("A field failed", exit.cause))
    throw fromCause(exit.cause)
  }
  const run: ResolverContext["run"] = (effect) => {
    if (!open) throw unavailable()
    // After its first time slice, a long query waits for further time slices.
    const paced =
      performance.now() - began > FairScheduler.sliceMillis ? Effect.zipRight(schedule, effect) : effect
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

const executeOperation = (
  call: HostCall,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
  cost: ResolverContext["cost"]
) =>
  Effect.gen(function* () {
    const run = yield* makeRunner
    const context: ResolverContext = {
      call,
      cost,
      objects,
      usage: { texts: 0, listed: 0 },
      window: call.host.limits.window(call.principal, "graphql"),
      run
    }
    const mutation = operation.operation === OperationTypeNode.MUTATION
    const executing = Effect.promise(async () =>
      execute({
        schema: schema(),
        document,
        rootValue: mutation ? MutationRoot.root : QueryRoot.root,
        contextValue: context,
        variableValues: variables,
        operationName: operation.name?.value
      })
    )
    return yield* mutation ? executing : Effect.timeout(executing, timeout)
  }).pipe(Effect.scoped)

/** Handles a GraphQL request. Its rate limit cost depends on its operation. */
export const handle = (call: HostCall): HandlerEffect =>
  Effect.gen(function* () {
    if (call.principal.login === undefined) return yield* unauthenticated
    if (call.request.method !== "POST")
      return yield* new HostError({ status: 404, message: "Not Found", documentation: "graphql" })
    const body = yield* JsonBody.read(call, "contents")
    yield* call.host.schedule
    const { query, variables } = body
    const name = body["operationName"]
    if (typeof query !== "string" || query.trim() === "")
      return errors(new GraphQLError("A query attribute must be specified and must be a string."))
    if (variables !== undefined && variables !== null && !isObject(variables))
      return yield* badRequest("Variables must be an object.")
    const values = isObject(variables) ? variables : {}
    const unfit = variablesProblem(values)
    if (unfit !== undefined) return errors(unfit)
    const document = checkCached(query)
    if (!("kind" in document)) return errors(...document)
    const operation = operationOf(document, typeof name === "string" && name !== "" ? name : undefined)
    if (operation === undefined)
      return errors(new GraphQLError(`No operation named ${JSON.stringify(name ?? "").slice(0, 80)}`))
    const fragments = new Map<string, FragmentDefinitionNode>()
    for (const one of document.definitions)
      if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one)
    const cost = estimate(operation, fragments, values)
    if (cost.nodes > maxNodes) {
      return errors(
        failure(
          "MAX_NODE_LIMIT_EXCEEDED",
          `This query requests up to ${cost.nodes} possible nodes which exceeds the maximum limit of ${maxNodes}.`
        )
      )
    }
    if (cost.tooMuch) return errors(resourceLimitsExceeded())
    const writes = operation.operation === OperationTypeNode.MUTATION
    const charge: RequestCharge = {
      principal: call.principal,
      resource: "graphql",
      writes,
      endpoint: "graphql",
      cost: cost.points
    }
    const answer: HandlerEffect = (
      writes
        ? asWriter(executeOperation(call, document, operation, values, cost))
        : executeOperation(call, document, operation, values, cost)
    ).pipe(
      Effect.map((result) =>
        Reply.json(200, {
          ...(result.data === undefined ? {} : { data: result.data }),
          ...(result.errors === undefined ? {} : { errors: result.errors.map(format) })
        })
      ),
      Effect.catchTag("TimeoutException", () =>
        Effect.succeed(
          Reply.json(502, {
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
      .enforce(charge, answer)
      .pipe(
        Effect.catchTag("HostError", (problem) =>
          problem.documentation?.endsWith("#about-primary-rate-limits") === true
            ? Effect.succeed(errors(failure("RATE_LIMITED", problem.message)))
            : Effect.fail(problem)
        )
      )
  })
