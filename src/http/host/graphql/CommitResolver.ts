import { Effect, Option } from "effect"
import { trimEnd } from "../../../domain/text/TrimText.js"
import type { CommitInfo } from "../../../git/Commit.js"
import * as Links from "../reply/Links.js"
import * as BlobSizes from "../repository/BlobSizes.js"
import { isPath } from "../repository/HostNames.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as FileChanges from "../rest/FileChanges.js"
import { seconds } from "../rest/RepositoryView.js"
import { gitActor, gitObjectFields } from "./GitObjectFields.js"
import { failure } from "./GraphQlFailure.js"
import { type HistoryArguments, history } from "./HistoryResolver.js"
import * as RelayConnection from "./RelayConnection.js"
import { andThen, type ResolverContext } from "./ResolverContext.js"

/** The size above which GitHub does not resolve a file of a commit. */
const resolvedBytes = 10_000_000

/** Resolves the file at a path of a commit; null if there is none. */
const file = (context: ResolverContext, hosted: HostedRepository, info: CommitInfo, path: string) => {
  if (!isPath(path)) return null
  const { entry } = context.objects
  return context.run(
    Effect.flatMap(hosted.git.lookup(info.tree, path), (found) => {
      if (Option.isNone(found)) return Effect.succeed(null)
      return Effect.flatMap(BlobSizes.of(hosted.git, found.value), (size) =>
        size !== undefined && size > resolvedBytes
          ? Effect.fail(failure("UNPROCESSABLE", "Could not resolve file over 10mb"))
          : Effect.succeed(entry(context, hosted, found.value, path))
      )
    })
  )
}

export const commit = (context: ResolverContext, hosted: HostedRepository, info: CommitInfo) => {
  const { call, objects, run } = context
  const { fullName, git } = hosted
  const { author, commit: oid, committer, parents } = info
  const message = trimEnd(info.message, /\n/)
  const [headline = "", ...rest] = message.split("\n")
  const count = () => run(FileChanges.list(git, Option.fromNullable(parents[0]), oid))
  let counted: ReturnType<typeof count> | undefined
  const changes = () => {
    counted ??= count()
    return counted
  }
  const sum = (key: "additions" | "deletions") => () =>
    andThen(changes(), (files) => files.reduce((total, one) => total + one[key], 0))
  return {
    ...gitObjectFields("Commit", context, hosted, oid),
    message,
    messageHeadline: headline,
    messageBody: () => rest.join("\n").trim(),
    author: () => gitActor(context, author),
    committer: () => gitActor(context, committer),
    authoredByCommitter: author.email === committer.email,
    authoredDate: () => seconds(author.date),
    statusCheckRollup: null,
    committedDate: () => seconds(committer.date),
    additions: sum("additions"),
    deletions: sum("deletions"),
    changedFilesIfAvailable: () => andThen(changes(), (files) => files.length),
    url: () => Links.html(call.links, fullName, "commit", oid),
    treeUrl: () => Links.html(call.links, fullName, "tree", oid),
    tarballUrl: () => `${call.links.origin}/api/codeload/${fullName}/legacy.tar.gz/${oid}`,
    zipballUrl: () => `${call.links.origin}/api/codeload/${fullName}/legacy.zip/${oid}`,
    tree: () => objects.tree(context, hosted, info.tree, ""),
    file: ({ path }: { readonly path: string }) => file(context, hosted, info, path),
    parents: (args: RelayConnection.ConnectionArguments) =>
      andThen(run(Effect.forEach(parents, (parent) => git.commit(parent))), (infos) =>
        RelayConnection.slice(
          "parents",
          args,
          infos.flatMap((one) => (Option.isSome(one) ? [commit(context, hosted, one.value)] : []))
        )
      ),
    history: (args: HistoryArguments) => history(context, hosted, oid, args)
  }
}
