import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import * as Api from "../api/Api.js"
import { ApiFailure, isMissing } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"

type GitCommit = typeof Api.getGitCommit.reply.Type

/** Commit objects by id. They never change, so each is requested once. */
export interface CommitObjects {
  readonly get: (oid: Oid) => Effect.Effect<Option.Option<GitCommit>, CallFailure>
  /** A commit that is known to exist. A reply that denies it comes from a stale replica: the request is retried. */
  readonly getExisting: (oid: Oid) => Effect.Effect<GitCommit, CallFailure>
  /** Whether the host denies a commit that it once had, for longer than replicas lag. The cache is not used. */
  readonly isPruned: (oid: Oid) => Effect.Effect<boolean, CallFailure>
  /** Caches a commit that was part of another reply. */
  readonly put: (commit: Api.Commit) => void
}

export const makeCommitObjects = (client: Client): CommitObjects => {
  const commits = new LruCache<GitCommit>(512)

  const get: CommitObjects["get"] = (oid) =>
    Effect.suspend(() => {
      const cached = commits.peek(oid)
      if (cached !== undefined) return Effect.succeedSome(cached)
      return client.call(Api.getGitCommit, { path: { commit_sha: oid } }).pipe(
        Effect.map(({ value }) => {
          if (Option.isSome(value)) commits.set(value.value.sha, value.value)
          return value
        }),
        Effect.catchIf(isMissing, () => Effect.succeedNone)
      )
    })

  return {
    get,
    isPruned: (oid) =>
      retryStaleReply(client.call(Api.getGitCommit, { path: { commit_sha: oid } }), isMissing).pipe(
        Effect.as(false),
        Effect.catchIf(isMissing, () => Effect.succeed(true))
      ),
    getExisting: (oid) =>
      retryStaleReply(
        Effect.flatMap(
          get(oid),
          Option.match({
            onNone: () =>
              Effect.fail(
                new ApiFailure({
                  kind: "Missing",
                  endpoint: Api.getGitCommit.id,
                  message: `No commit found: ${oid}`
                })
              ),
            onSome: Effect.succeed
          })
        ),
        isMissing
      ),
    put: ({ commit: { author, committer, message, tree }, html_url, parents, sha }) => {
      const commit = Schema.decodeUnknownOption(Api.getGitCommit.reply)({
        sha,
        tree,
        parents,
        message,
        author,
        committer,
        html_url
      })
      if (Option.isSome(commit)) commits.set(sha, commit.value)
    }
  }
}
