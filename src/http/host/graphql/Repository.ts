import { Effect, Option } from "effect"
import { trimEnd } from "../../../domain/Trim.js"
import type { CommitInfo } from "../../../store/GitRemote.js"
import * as Links from "../Links.js"
import { isPath, isRefName, nodeId, numericId } from "../Names.js"
import { may } from "../Principal.js"
import type { Hosted } from "../Repositories.js"
import * as Revision from "../Revision.js"
import { seconds } from "../rest/RepositoryView.js"
import * as Connection from "./Connection.js"
import { after, type Context } from "./Context.js"

export const repository = (context: Context, hosted: Hosted) => {
  const { call, objects, run } = context
  const { fullName, git, name, owner, settings } = hosted
  const write = may(call.principal, "write", fullName)
  const head = Effect.gen(function* () {
    const tip = yield* git.ref(`refs/heads/${yield* git.defaultBranch}`)
    return Option.isSome(tip) ? yield* git.commit(tip.value) : Option.none<CommitInfo>()
  })
  const pushedAt = () =>
    run(
      Effect.map(
        head,
        Option.match({ onNone: () => null, onSome: ({ committer }) => seconds(committer.date) })
      )
    )
  return {
    __typename: "Repository",
    id: () => nodeId("Repository", owner, name),
    databaseId: () => numericId(fullName),
    name,
    nameWithOwner: fullName,
    description: settings.description,
    isPrivate: settings.private,
    isArchived: false,
    isFork: false,
    visibility: settings.private ? "PRIVATE" : "PUBLIC",
    viewerCanAdminister: write,
    viewerPermission: write ? "ADMIN" : "READ",
    url: Links.html(call.links, fullName),
    sshUrl: () => `git@${new URL(call.links.origin).hostname}:${fullName}.git`,
    diskUsage: null,
    createdAt: settings.createdAt,
    updatedAt: () => after(pushedAt(), (at) => at ?? settings.createdAt),
    pushedAt,
    owner: () => objects.account(context, owner),
    isEmpty: () => run(Revision.isEmpty(git)),
    defaultBranchRef: () =>
      run(Effect.flatMap(git.defaultBranch, (branch) => refNamed(context, hosted, `refs/heads/${branch}`))),
    ref: ({ qualifiedName }: { readonly qualifiedName: string }) =>
      run(refCalled(context, hosted, qualifiedName)),
    refs: (
      args: Connection.ConnectionArguments & { readonly refPrefix: string; readonly query?: string | null }
    ) => {
      const prefix = args.refPrefix.endsWith("/") ? args.refPrefix : `${args.refPrefix}/`
      const plain = prefix === "refs/" || (prefix.startsWith("refs/") && isRefName(prefix.slice(0, -1)))
      return after(run(plain ? git.refs(prefix) : Effect.succeed([])), (all) => {
        const wanted = all.filter((one) => !args.query || one.name.includes(args.query))
        return Connection.slice(
          "refs",
          args,
          wanted.map((one) => objects.ref(context, hosted, one.name, one.oid))
        )
      })
    },
    object: ({ expression, oid }: { readonly expression?: string | null; readonly oid?: string | null }) =>
      run(objectAt(context, hosted, expression ?? oid ?? ""))
  }
}

const refNamed = (context: Context, hosted: Hosted, name: string) =>
  Effect.map(
    isRefName(name) ? hosted.git.ref(name) : Effect.succeedNone,
    Option.match({ onNone: () => null, onSome: (oid) => context.objects.ref(context, hosted, name, oid) })
  )

/** The ref of a whole or short name; null when there is none. */
export const refCalled = (context: Context, hosted: Hosted, name: string) =>
  Effect.gen(function* () {
    const candidates = name.startsWith("refs/")
      ? [name]
      : [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`]
    for (const candidate of candidates) {
      const found = yield* refNamed(context, hosted, candidate)
      if (found !== null) return found
    }
    return null
  })

/** The object that `revision` or `revision:path` names; null when there is none. */
const objectAt = (context: Context, hosted: Hosted, expression: string) =>
  Effect.gen(function* () {
    const { git } = hosted
    const { entryObject, object, tree } = context.objects
    const colon = expression.indexOf(":")
    if (colon < 0) {
      const oid = yield* Revision.objectOf(git, expression)
      return Option.isSome(oid) ? yield* object(context, hosted, oid.value) : null
    }
    const path = trimEnd(expression.slice(colon + 1), /\//)
    const root = yield* Revision.treeOf(git, expression.slice(0, colon))
    if (Option.isNone(root)) return null
    if (path === "") return tree(context, hosted, root.value, "")
    const entry = isPath(path) ? yield* git.lookup(root.value, path) : Option.none()
    return Option.isSome(entry) ? entryObject(context, hosted, entry.value, path) : null
  })
