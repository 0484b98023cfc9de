import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../../git/Commit.js"
import { nodeId } from "../repository/Names.js"
import type { Hosted } from "../repository/Repositories.js"
import { seconds } from "../rest/RepositoryView.js"
import type { Context } from "./Context.js"

/** What every Git object tells of itself. */
export const named = (typename: string, context: Context, hosted: Hosted, oid: Oid) => ({
  __typename: typename,
  id: () => nodeId(typename, hosted.fullName, oid),
  oid,
  abbreviatedOid: () => oid.slice(0, 7),
  commitResourcePath: () => `/${hosted.fullName}/commit/${oid}`,
  commitUrl: () => `${context.call.links.origin}/${hosted.fullName}/commit/${oid}`,
  repository: () => context.objects.repository(context, hosted)
})

/** An author, committer or tagger. */
export const actor = (context: Context, who: CommitInfo["author"]) => ({
  name: who.name,
  email: who.email,
  date: seconds(who.date),
  avatarUrl: `${context.call.links.origin}/avatars/${encodeURIComponent(who.email)}`,
  user: null
})
