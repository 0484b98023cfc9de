import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError } from "../../../../domain/errors/StoreError.js"
import { Oid } from "../../../../domain/identifiers/Oid.js"
import { sameMark, withMark } from "../../CommitMark.js"
import type { Head, NewCommit } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isMissing, isUnrelatedHistory } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { ErrorContext } from "../client/ErrorTranslation.js"
import { Proof, writeOnce } from "../client/LostReply.js"
import type { RepositoryId } from "../client/RepositoryId.js"
import { retryStaleReply } from "../client/Retry.js"
import type { CommitObjects } from "../heads/CommitObjects.js"
import { encodeBase64 } from "../objects/Base64.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import type { RefWrites } from "../refs/RefWrites.js"

type Failure = CallFailure | RefMoved | AmbiguousWriteError

/** https://docs.github.com/graphql/reference/mutations#createcommitonbranch */
export const commitDocument = `mutation Commit($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) {
    commit { oid tree { oid } repository { id } }
  }
}`

const Answer = Schema.Struct({
  createCommitOnBranch: Schema.Struct({
    commit: Schema.Struct({
      oid: Oid,
      tree: Schema.Struct({ oid: Oid }),
      repository: Schema.optional(Schema.NullOr(Schema.Struct({ id: Schema.String })))
    })
  })
})

const messageOf = (message: string) => {
  const [, headline = message, body] = /^\s*(\S.*?)\r?\n(?:\r?\n)*([\s\S]*)$/.exec(message) ?? []
  return body === undefined ? { headline } : { headline, body }
}

/** Commits in one mutation, which succeeds only on the expected head. */
export const makeGraphqlCommit = (
  client: Client,
  refs: RefWrites,
  repositoryId: RepositoryId,
  cachedTrees: CachedTrees,
  commits: Pick<CommitObjects, "isPruned">
) => {
  const { address } = client.settings

  const moved = (branch: string, expected: Oid, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: `refs/heads/${branch}`, expected: Option.some(expected), actual })

  /**
   * Searches the commits after the expected head for its child with the mark of this write. No branch contains a child of a
   * commit that the host has pruned.
   */
  const check = (
    branch: string,
    expected: Oid,
    message: string
  ): Effect.Effect<Proof<Head, RefMoved>, CallFailure> =>
    Effect.gen(function* () {
      const at = yield* refs.read(branch)
      const refusal = moved(branch, expected, at)
      if (Option.isNone(at)) return Proof.stale(refusal)
      if (at.value === expected) return Proof.unchanged
      const reply = yield* client.call(Api.compare, {
        path: { basehead: `${expected}...${at.value}` },
        query: { per_page: 100 }
      })
      const { commits, status, total_commits } = Option.getOrThrow(reply.value)
      if (status === "behind") return Proof.stale(refusal)
      if (status === "diverged") return Proof.elsewhere(refusal)
      const child = commits.find(
        ({ commit, parents }) => parents[0]?.sha === expected && sameMark(commit.message, message)
      )
      if (child !== undefined) {
        const committed = { commit: child.sha, tree: child.commit.tree.sha }
        cachedTrees.putCommit(committed)
        return Proof.done(committed)
      }
      return (total_commits ?? commits.length) > commits.length
        ? Proof.elsewhere(refusal)
        : Proof.notDone(refusal)
    }).pipe(
      Effect.catchIf(isUnrelatedHistory, () =>
        Effect.succeed(Proof.elsewhere(moved(branch, expected, Option.none())))
      ),
      Effect.catchIf(isMissing, () =>
        Effect.map(commits.isPruned(expected), (pruned) =>
          pruned ? Proof.notDone(moved(branch, expected, Option.none())) : Proof.stale()
        )
      )
    )

  const send = (branch: string, expected: Head, commit: NewCommit): Effect.Effect<Head, CallFailure> =>
    client
      .graphql(
        commitDocument,
        {
          input: {
            branch: {
              repositoryNameWithOwner: `${address.owner}/${address.repo}`,
              branchName: branch
            },
            expectedHeadOid: expected.commit,
            message: messageOf(commit.message),
            fileChanges: {
              additions: commit.changes.flatMap((change) =>
                change._tag === "Put" ? [{ path: change.path, contents: encodeBase64(change.content) }] : []
              ),
              deletions: commit.changes.flatMap((change) =>
                change._tag === "Remove" ? [{ path: change.path }] : []
              )
            }
          }
        },
        Answer,
        { mutation: true }
      )
      .pipe(
        Effect.map(({ data }) => {
          const { oid, repository, tree } = data.createCommitOnBranch.commit
          repositoryId.learn(repository?.id)
          return { commit: oid, tree: tree.oid }
        })
      )

  return (
    place: ErrorContext,
    branch: string,
    expected: Head,
    commit: NewCommit
  ): Effect.Effect<Head, Failure> =>
    Effect.flatMap(withMark(commit.message), (message) => {
      const write = writeOnce(client.settings, {
        context: place,
        send: send(branch, expected, { ...commit, message }),
        check: () => check(branch, expected.commit, message),
        onRefusal: (failure) =>
          failure.kind === "StaleHead"
            ? { check: "whileReplicasLag" }
            : failure.kind === "Missing"
              ? { check: "once", otherwise: failure }
              : { check: "never" }
      })
      // A replica may not know a branch that this process has just created.
      return retryStaleReply(write, isMissing)
    })
}
