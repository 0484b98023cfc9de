import { Effect, Option } from "effect"
import { trimEnd } from "../../../domain/text/TrimText.js"
import { isRefName } from "../../../git/Names.js"
import { isGranted } from "../access/Principal.js"
import * as Links from "../reply/Links.js"
import { isPath } from "../repository/HostNames.js"
import { nodeId, numericId } from "../repository/NodeId.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import { pushedAt } from "../rest/RepositoryView.js"
import * as PullRequestResolver from "./PullRequestResolver.js"
import * as RelayConnection from "./RelayConnection.js"
import { andThen, type ResolverContext } from "./ResolverContext.js"

/** Fields of GitHub's `Repository` that the host does not support. */
const unsupported = {
  deleteBranchOnMerge: false,
  forkCount: 0,
  forkingAllowed: false,
  hasDiscussionsEnabled: false,
  hasIssuesEnabled: false,
  hasProjectsEnabled: false,
  hasWikiEnabled: false,
  homepageUrl: null,
  isArchived: false,
  isDisabled: false,
  isFork: false,
  isInOrganization: false,
  isLocked: false,
  isMirror: false,
  isTemplate: false,
  latestRelease: null,
  mergeCommitAllowed: true,
  mirrorUrl: null,
  parent: null,
  rebaseMergeAllowed: false,
  releases: (args: RelayConnection.ConnectionArguments) => RelayConnection.slice("releases", args, []),
  squashMergeAllowed: false,
  stargazerCount: 0,
  templateRepository: null,
  viewerHasStarred: false,
  webCommitSignoffRequired: false
}

export const repository = (context: ResolverContext, hosted: HostedRepository) => {
  const { call, objects, run } = context
  const { fullName, git, name, owner, metadata } = hosted
  const write = isGranted(call.principal, "write", fullName)
  const pushed = () => run(Effect.map(pushedAt(hosted), Option.getOrNull))
  return {
    ...unsupported,
    ...PullRequestResolver.ofRepository(context, hosted),
    __typename: "Repository",
    id: () => nodeId("Repository", owner, name),
    databaseId: () => numericId(fullName),
    name,
    nameWithOwner: fullName,
    description: metadata.description,
    isPrivate: metadata.private,
    visibility: metadata.private ? "PRIVATE" : "PUBLIC",
    viewerCanAdminister: write,
    viewerPermission: write ? "ADMIN" : "READ",
    url: Links.html(call.links, fullName),
    resourcePath: `/${fullName}`,
    sshUrl: () => `git@${new URL(call.links.origin).hostname}:${fullName}.git`,
    diskUsage: null,
    createdAt: metadata.createdAt,
    updatedAt: () => andThen(pushed(), (at) => at ?? metadata.createdAt),
    pushedAt: pushed,
    owner: () => objects.account(context, owner),
    isEmpty: () => run(RevisionLookup.isEmpty(git)),
    defaultBranchRef: () =>
      run(Effect.flatMap(git.defaultBranch, (branch) => refNamed(context, hosted, `refs/heads/${branch}`))),
    ref: ({ qualifiedName }: { readonly qualifiedName: string }) =>
      run(refCalled(context, hosted, qualifiedName)),
    refs: (
      args: RelayConnection.ConnectionArguments & {
        readonly refPrefix: string
        readonly query?: string | null
        readonly direction?: "ASC" | "DESC" | null
      }
    ) => {
      const prefix = args.refPrefix.endsWith("/") ? args.refPrefix : `${args.refPrefix}/`
      const plain = prefix === "refs/" || (prefix.startsWith("refs/") && isRefName(prefix.slice(0, -1)))
      return andThen(run(plain ? git.refs(prefix) : Effect.succeed([])), (all) => {
        const wanted = all.filter(({ name }) => !args.query || name.slice(prefix.length).includes(args.query))
        const ordered = args.direction === "DESC" ? wanted.toReversed() : wanted
        return RelayConnection.slice(
          "refs",
          args,
          ordered.map((one) => objects.ref(context, hosted, one.name, one.oid))
        )
      })
    },
    object: ({ expression, oid }: { readonly expression?: string | null; readonly oid?: string | null }) =>
      run(objectAt(context, hosted, expression ?? oid ?? ""))
  }
}

const refNamed = (context: ResolverContext, hosted: HostedRepository, name: string) =>
  Effect.map(
    isRefName(name) ? hosted.git.ref(name) : Effect.succeedNone,
    Option.match({ onNone: () => null, onSome: (oid) => context.objects.ref(context, hosted, name, oid) })
  )

/** Resolves a ref by its full or short name; null if there is none. */
export const refCalled = (context: ResolverContext, hosted: HostedRepository, name: string) =>
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

/** Resolves the object of `revision` or `revision:path`; null if there is none. */
const objectAt = (context: ResolverContext, hosted: HostedRepository, expression: string) =>
  Effect.gen(function* () {
    const { git } = hosted
    const { entryObject, object, tree } = context.objects
    const colon = expression.indexOf(":")
    if (colon < 0) {
      const oid = yield* RevisionLookup.objectOf(git, expression)
      return Option.isSome(oid) ? yield* object(context, hosted, oid.value) : null
    }
    const path = trimEnd(expression.slice(colon + 1), /\//)
    const root = yield* RevisionLookup.treeOf(git, expression.slice(0, colon))
    if (Option.isNone(root)) return null
    if (path === "") return tree(context, hosted, root.value, "")
    const entry = isPath(path) ? yield* git.lookup(root.value, path) : Option.none()
    return Option.isSome(entry) ? entryObject(context, hosted, entry.value, path) : null
  })
