import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { RemoteError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { compareNames } from "../../../../git/GitObject.js"
import { withoutMark } from "../../CommitMark.js"
import type { CommitInfo, Head, PathChange } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isMissing } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"
import { listingDifferences } from "../objects/ListingDifferences.js"
import type { TreeReader } from "../objects/TreeReader.js"

const perPage = 100

const person = (given: Api.Commit["commit"]["author"]) => ({
  name: given?.name ?? "",
  email: given?.email ?? "",
  date: given?.date ?? ""
})

/** A commit object as the port's `CommitInfo`. */
export const toCommitInfo = (found: typeof Api.getGitCommit.reply.Type): CommitInfo => ({
  commit: found.sha,
  tree: found.tree.sha,
  parents: found.parents.map((parent) => parent.sha),
  message: withoutMark(found.message),
  author: found.author,
  committer: found.committer,
  url: found.html_url
})

/**
 * The log of a path, page by page. `exists`: whether `at` is known to exist. The host's `Link` header is never followed: it
 * may point to another origin.
 */
export const log = (
  client: Client,
  at: Oid,
  path: string,
  limit: number,
  exists: boolean
): Stream.Stream<CommitInfo, CallFailure> =>
  Stream.paginateChunkEffect(1, (page) =>
    retryStaleReply(
      client.call(Api.listCommits, {
        path: {},
        query: {
          sha: at,
          path: path === "" ? undefined : path,
          per_page: Math.min(perPage, limit),
          page: page === 1 ? undefined : page
        }
      }),
      (error) => exists && isMissing(error)
    ).pipe(
      Effect.map((reply) => {
        const commits = Option.getOrElse(reply.value, () => [])
        const link = reply.headers["link"]
        const more =
          page * perPage < limit &&
          (link === undefined ? commits.length === perPage : /rel="next"/.test(link))
        const infos = commits.map(
          ({ commit, html_url, parents, sha }): CommitInfo => ({
            commit: sha,
            tree: commit.tree.sha,
            parents: parents.map((parent) => parent.sha),
            message: withoutMark(commit.message),
            author: person(commit.author),
            committer: person(commit.committer),
            url: html_url
          })
        )
        return [Chunk.fromIterable(infos), more ? Option.some(page + 1) : Option.none()] as const
      })
    )
  ).pipe((all) => (limit === Number.POSITIVE_INFINITY ? all : Stream.take(all, limit)))

/**
 * The changed paths, from two recursive listings: GitHub's own list of changed files ends at 3,000. With `under`, only that
 * directory is listed.
 */
export const diff = (
  trees: TreeReader,
  before: Option.Option<Head | Oid>,
  after: Head | Oid,
  under: string
): Effect.Effect<ReadonlyArray<PathChange>, CallFailure | RemoteError> => {
  const listed = (at: Option.Option<Head | Oid>) =>
    Option.isNone(at)
      ? Effect.succeed(undefined)
      : Effect.map(trees.list(at.value, under, true), Option.getOrUndefined)
  // The listing of one commit caches the trees that the other one shares with it.
  return Effect.map(Effect.all([listed(Option.some(after)), listed(before)]), ([right, left]) =>
    listingDifferences(left, right)
      .map((change) => (under === "" ? change : { ...change, path: `${under}/${change.path}` }))
      .sort((a, b) => compareNames(a.path, b.path))
  )
}
