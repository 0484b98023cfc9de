import { Effect, type Scope } from "effect"
import type { GraphQLError } from "graphql"
import { HostError } from "../reply/HostError.js"
import { fromNodeId, isWritableRefName } from "../repository/HostNames.js"
import type { HostedRepository } from "../repository/Repositories.js"
import type { HandlerFailure } from "../request/Route.js"
import { failure } from "./GraphQlFailure.js"
import type { ResolverContext } from "./ResolverContext.js"

/** What every mutation may be given. */
export interface MutationInput {
  readonly clientMutationId?: string | null
}

/** A failure as an effect. */
export const fail = (...args: Parameters<typeof failure>): Effect.Effect<never, GraphQLError> =>
  Effect.fail(failure(...args))

/** The repository of a name, for whoever may write to it. */
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
    // No mutation can be the first write of a repository.
    Effect.filterOrFail(
      ({ exists }) => exists,
      () => missing
    )
  )
}

/** The same by its node id. */
export const repositoryById = (context: ResolverContext, id: string) => {
  const parts = fromNodeId("Repository", id)
  return parts === undefined
    ? fail("NOT_FOUND", `Could not resolve to a node with the global id of '${id.slice(0, 200)}'.`)
    : repositoryForWrite(context, parts.join("/"))
}

/** A ref, by its node id, of a repository that may be written to. */
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
