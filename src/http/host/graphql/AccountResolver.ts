import { Array, Effect } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { nodeId, numericId } from "../repository/NodeId.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RepositoryListing from "../repository/RepositoryListing.js"
import * as RelayConnection from "./RelayConnection.js"
import { type RepositoryArguments, select } from "./RepositorySelection.js"
import { andThen, type MaybePromise, type ResolverContext } from "./ResolverContext.js"

/** Resolves an account. Every name has one. */
export const account = (context: ResolverContext, login: string) => {
  const { call, objects } = context
  const { repositories } = call.host
  const owned = <A>(
    next: (all: ReadonlyArray<HostedRepository>) => Effect.Effect<A, RemoteError>,
    name?: string
  ): MaybePromise<A> =>
    context.run(
      Effect.flatMap(repositories.listVisible(call.principal), (all) =>
        Effect.forEach(
          all.filter((named) => named.owner === login && (name === undefined || named.name === name)),
          (named) =>
            RepositoryListing.shownOrOmitted(
              named,
              repositories.openForRead(call.principal, named.owner, named.name)
            )
        )
      ).pipe(Effect.flatMap((found) => next(Array.getSomes(found))))
    )
  return {
    __typename: "User",
    id: nodeId("User", login),
    databaseId: numericId(login),
    login,
    name: login,
    email: "",
    url: `${call.links.origin}/${login}`,
    avatarUrl: `${call.links.origin}/avatars/${login}`,
    repositories: (args: RepositoryArguments) =>
      andThen(
        owned((all) => select(call.principal, args, all)),
        (wanted) =>
          RelayConnection.slice(
            "repositories",
            args,
            wanted.map((hosted) => objects.repository(context, hosted))
          )
      ),
    repository: ({ name }: { readonly name: string }) =>
      owned(([hosted]) => Effect.succeed(hosted ? objects.repository(context, hosted) : null), name)
  }
}
