import { Effect } from "effect"
import { HostError } from "../reply/HostError.js"
import { fromNodeId } from "../repository/NodeId.js"
import * as RepositoryCreation from "../rest/RepositoryCreation.js"
import { failure } from "./GraphQlFailure.js"
import { fail, type MutationInput } from "./MutationTarget.js"
import type { ResolverContext } from "./ResolverContext.js"

/** Creates an empty repository of the caller, or of the account with the id `ownerId`. */
export const createRepository = (
  context: ResolverContext,
  input: MutationInput & {
    readonly name: string
    readonly visibility: "PRIVATE" | "PUBLIC" | "INTERNAL"
    readonly description?: string | null
    readonly ownerId?: string | null
  }
) =>
  Effect.gen(function* () {
    const { principal } = context.call
    const { ownerId } = input
    const owner = ownerId ? fromNodeId("User", ownerId)?.[0] : principal.login
    if (owner === undefined) {
      const id = (ownerId ?? "").slice(0, 200)
      return yield* fail("NOT_FOUND", `Could not resolve to a node with the global id of '${id}'.`)
    }
    const settings = { private: input.visibility !== "PUBLIC", description: input.description ?? null }
    const named = { owner, name: RepositoryCreation.nameFrom(input.name) }
    const created = yield* RepositoryCreation.make(
      context.call.host.repositories,
      principal,
      named,
      settings
    ).pipe(
      Effect.mapError((error) => {
        const message = error instanceof HostError ? error.errors?.[0]?.message : undefined
        return message === undefined
          ? error
          : failure("UNPROCESSABLE", `${message.charAt(0).toUpperCase()}${message.slice(1)}`)
      })
    )
    return {
      clientMutationId: input.clientMutationId,
      repository: context.objects.repository(context, created)
    }
  })
