import { Effect } from "effect"
import { nodeId, numericId } from "../Names.js"
import * as Connection from "./Connection.js"
import { after, type Context } from "./Context.js"

/** An account; every name has one. */
export const account = (context: Context, login: string) => {
  const { call, objects, repositories } = context
  const owned = (name?: string) =>
    context.run(
      Effect.flatMap(repositories.visible(call.principal), (all) =>
        Effect.forEach(
          all.filter((named) => named.owner === login && (name === undefined || named.name === name)),
          (named) => repositories.reading(call.principal, named.owner, named.name)
        )
      )
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
    repositories: (args: Connection.ConnectionArguments & { readonly visibility?: string | null }) =>
      after(owned(), (all) => {
        const wanted = all.filter(
          ({ settings }) => !args.visibility || settings.private === (args.visibility === "PRIVATE")
        )
        return Connection.slice(
          "repositories",
          args,
          wanted.map((hosted) => objects.repository(context, hosted))
        )
      }),
    repository: ({ name }: { readonly name: string }) =>
      after(owned(name), (all) => all.map((hosted) => objects.repository(context, hosted))[0] ?? null)
  }
}
