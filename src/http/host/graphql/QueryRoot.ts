import { Effect } from "effect"
import { HostError } from "../reply/HostError.js"
import { isOwnerName } from "../repository/HostNames.js"
import { fromNodeId } from "../repository/NodeId.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import { failure } from "./GraphQlFailure.js"
import { refCalled } from "./RepositoryResolver.js"
import type { ResolverContext } from "./ResolverContext.js"

const hosted = (context: ResolverContext, owner: string, name: string) =>
  context.call.host.repositories
    .openForRead(context.call.principal, owner, name)
    .pipe(
      Effect.mapError((error) =>
        error instanceof HostError && error.status === 404
          ? failure(
              "NOT_FOUND",
              `Could not resolve to a Repository with the name '${`${owner}/${name}`.slice(0, 200)}'.`
            )
          : error
      )
    )

const maxIds = 100

const node = ({ id }: { readonly id: string }, context: ResolverContext) =>
  context.run(
    Effect.gen(function* () {
      const missing = failure(
        "NOT_FOUND",
        `Could not resolve to a node with the global id of '${id.slice(0, 200)}'.`
      )
      const [kind = ""] = Buffer.from(id, "base64url").toString().split(":")
      const parts = fromNodeId(kind, id) ?? []
      if (kind === "User" && isOwnerName(parts[0] ?? "")) return context.objects.account(context, parts[0]!)
      const [owner = "", name = ""] = kind === "Repository" ? parts : (parts[0] ?? "").split("/")
      const found = yield* Effect.mapError(hosted(context, owner, name), () => missing)
      if (kind === "Repository") return context.objects.repository(context, found)
      if (kind === "Ref") {
        const ref = yield* refCalled(context, found, parts[1] ?? "")
        return ref ?? (yield* Effect.fail(missing))
      }
      const oid = RevisionLookup.oidFrom(parts[1])
      const object = oid === undefined ? null : yield* context.objects.object(context, found, oid)
      return object ?? (yield* Effect.fail(missing))
    })
  )

const rateLimit = (_: unknown, context: ResolverContext) =>
  context.run(
    Effect.map(context.window, ({ limit, remaining, reset, used }) => ({
      cost: context.cost.points,
      nodeCount: context.cost.nodes,
      limit,
      remaining,
      used,
      resetAt: `${new Date(reset * 1000).toISOString().slice(0, 19)}Z`
    }))
  )

const account = ({ login }: { readonly login: string }, context: ResolverContext) => {
  if (!isOwnerName(login))
    throw failure("NOT_FOUND", `Could not resolve to a User with the login of '${login.slice(0, 200)}'.`)
  return context.objects.account(context, login)
}

/** The root value of queries. */
export const root = {
  id: "query",
  node,
  nodes: ({ ids }: { readonly ids: ReadonlyArray<string> }, context: ResolverContext) => {
    if (ids.length > maxIds) {
      const given = `you provided ${ids.length}`
      throw failure("ARGUMENT_LIMIT", `You may not provide more than ${maxIds} node ids; ${given}.`)
    }
    // An error in the list is reported for its item only.
    return ids.map((id) => {
      try {
        return node({ id }, context)
      } catch (error) {
        return error
      }
    })
  },
  rateLimit,
  repository: (
    { name, owner }: { readonly name: string; readonly owner: string },
    context: ResolverContext
  ) =>
    context.run(
      Effect.map(hosted(context, owner, name), (found) => context.objects.repository(context, found))
    ),
  repositoryOwner: account,
  user: account,
  viewer: (_: unknown, context: ResolverContext) =>
    context.objects.account(context, context.call.principal.login ?? "anonymous")
}
