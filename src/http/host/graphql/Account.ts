import { Array, Effect } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import * as Listing from "../repository/Listing.js"
import { nodeId, numericId } from "../repository/Names.js"
import type { Hosted } from "../repository/Repositories.js"
import * as Connection from "./Connection.js"
import { after, type Context, type Eventual } from "./Context.js"
import { type RepositoryArguments, select } from "./RepositoryList.js"

/** An account; every name has one. */
export const account = (context: Context, login: string) => {
  const { call, objects } = context
  const { repositories } = call.host
  const owned = <A>(
    next: (all: ReadonlyArray<Hosted>) => Effect.Effect<A, RemoteError>,
    name?: string
  ): Eventual<A> =>
    context.run(
      Effect.flatMap(repositories.visible(call.principal), (all) =>
        Effect.forEach(
          all.filter((named) => named.owner === login && (name === undefined || named.name === name)),
          (named) => Listing.shown(named, repositories.reading(call.principal, named.owner, named.name))
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
      after(
        owned((all) => select(call.principal, args, all)),
        (wanted) =>
          Connection.slice(
            "repositories",
            args,
            wanted.map((hosted) => objects.repository(context, hosted))
          )
      ),
    repository: ({ name }: { readonly name: string }) =>
      owned(([hosted]) => Effect.succeed(hosted ? objects.repository(context, hosted) : null), name)
  }
}
