import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../../git/Commit.js"
import { nodeId } from "../repository/NodeId.js"
import type { HostedRepository } from "../repository/Repositories.js"
import { seconds } from "../rest/RepositoryView.js"
import type { ResolverContext } from "./ResolverContext.js"

/** The fields that all Git objects have. */
export const gitObjectFields = (
  typename: string,
  context: ResolverContext,
  hosted: HostedRepository,
  oid: Oid
) => ({
  __typename: typename,
  id: () => nodeId(typename, hosted.fullName, oid),
  oid,
  abbreviatedOid: () => oid.slice(0, 7),
  commitResourcePath: () => `/${hosted.fullName}/commit/${oid}`,
  commitUrl: () => `${context.call.links.origin}/${hosted.fullName}/commit/${oid}`,
  repository: () => context.objects.repository(context, hosted)
})

/** Resolves an author, committer or tagger. */
export const gitActor = (context: ResolverContext, who: CommitInfo["author"]) => ({
  name: who.name,
  email: who.email,
  date: seconds(who.date),
  avatarUrl: `${context.call.links.origin}/avatars/${encodeURIComponent(who.email)}`,
  user: null
})
