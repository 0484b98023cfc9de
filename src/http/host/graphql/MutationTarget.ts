import { Effect, type Scope } from "effect"
import type { GraphQLError } from "graphql"
import { HostError } from "../reply/HostError.js"
import { isWritableRefName } from "../repository/HostNames.js"
import { fromNodeId } from "../repository/NodeId.js"
import type { HostedRepository } from "../repository/Repositories.js"
import type { HandlerFailure } from "../request/Route.js"
import { failure } from "./GraphQlFailure.js"
import type { ResolverContext } from "./ResolverContext.js"

/** The input fields of every mutation. */
export interface MutationInput {
  readonly clientMutationId?: string | null
}

/** Fails with a GraphQL error. */
export const fail = (...args: Parameters<typeof failure>): Effect.Effect<never, GraphQLError> =>
  Effect.fail(failure(...args))

/** Opens a repository for writing by its full name. */
export const repositoryForWrite = (
  context: ResolverContext,
  fullName: string
): Effect.Effect<HostedRepository, HandlerFailure | GraphQLError, Scope.Scope> => {
  const [owner = "", name = "", ...more] = fullName.split("/")
  const missing = failure(
    "NOT_FOUND",
    `Could not resolve to a Repository with the name '${fullName.slice(0, 200)}'.`
  )
  if (more.length > 0) return Effect.fail(missing)
  return context.call.host.repositories.openForWrite(context.call.principal, owner, name).pipe(
    Effect.mapError((error) => (error instanceof HostError && error.status === 404 ? missing : error)),
    // A mutation does not create a missing repository.
    Effect.filterOrFail(
      ({ exists }) => exists,
      () => missing
    )
  )
}

/** Opens a repository for writing by its node id. */
export const repositoryById = (context: ResolverContext, id: string) => {
  const parts = fromNodeId("Repository", id)
  return parts === undefined
    ? fail("NOT_FOUND", `Could not resolve to a node with the global id of '${id.slice(0, 200)}'.`)
    : repositoryForWrite(context, parts.join("/"))
}

/** Opens the repository of a ref for writing by the ref's node id. */
export const refById = (context: ResolverContext, id: string) =>
  Effect.gen(function* () {
    const [fullName, name, ...more] = fromNodeId("Ref", id) ?? []
    if (fullName === undefined || name === undefined || more.length > 0 || !isWritableRefName(name)) {
      return yield* fail(
        "NOT_FOUND",
        `Could not resolve to a node with the global id of '${id.slice(0, 200)}'.`
      )
    }
    return { hosted: yield* repositoryForWrite(context, fullName), name }
  })
