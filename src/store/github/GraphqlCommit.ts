import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Oid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import type { AmbiguousWriteError, RemoteError } from "../../domain/StoreError.js"
import * as GitObject from "../GitObject.js"
import type { Blob, Head, NewCommit } from "../GitRemote.js"
import * as Api from "./Api.js"
import { type ApiFailure, isAmbiguous, isMissing, isUnrelated } from "./ApiFailure.js"
import { encodeBase64 } from "./Base64.js"
import type { CallFailure, Client } from "./Client.js"
import { marked, maybeSame, surelySame } from "./CommitMark.js"
import type { KnownTrees } from "./KnownTrees.js"
import type { RefWrites } from "./RefWrites.js"
import type { RepositoryId } from "./RepositoryId.js"
import { patiently, waitFor } from "./Retry.js"
import { ambiguous, type Place } from "./Translate.js"

type Failure = CallFailure | RefMoved | AmbiguousWriteError | RemoteError

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

/** What the mutation is seen to bear: about 40 MB of base64. */
const maxBytes = 25_000_000

/** Whether the mutation can carry a commit: it knows neither links, nor authors, nor very large contents. */
export const fitsGraphql = (commit: NewCommit) =>
  commit.author === undefined &&
  commit.committer === undefined &&
  commit.changes.length > 0 &&
  commit.changes.every((change) => change._tag !== "Link") &&
  commit.changes.reduce((sum, change) => sum + (change._tag === "Put" ? change.content.length : 0), 0) <=
    maxBytes

/** What a search that failed tells. */
const nothing = { made: Option.none<Head>(), at: Option.none<Oid>() }

const messageOf = (message: string) => {
  const [, headline = message, body] = /^(.*?)\r?\n(?:\r?\n)*([\s\S]*)$/.exec(message) ?? []
  return body === undefined ? { headline } : { headline, body }
}

/** One commit in one request, on exactly the expected head. */
export const makeGraphqlCommit = (
  client: Client,
  refs: RefWrites,
  repositoryId: RepositoryId,
  known: KnownTrees,
  file: (at: Head, path: string) => Effect.Effect<Option.Option<Blob>, CallFailure | RemoteError>
) => {
  const { address, maxRetries } = client.settings

  const moved = (branch: string, expected: Oid, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: `refs/heads/${branch}`, expected: Option.some(expected), actual })

  /** Our commit among those that followed the expected head: its child, with our message and our content. */
  const search = (
    branch: string,
    expected: Oid,
    commit: NewCommit,
    isOurs: typeof maybeSame
  ): Effect.Effect<
    { readonly made: Option.Option<Head>; readonly at: Option.Option<Oid> },
    CallFailure | RemoteError
  > =>
    Effect.gen(function* () {
      const at = yield* refs.read(branch)
      if (Option.isNone(at) || at.value === expected) return { made: Option.none(), at }
      const compared = client.call(Api.compare, {
        path: { basehead: `${expected}...${at.value}` },
        query: { per_page: 100 }
      })
      const commits = yield* patiently(compared, (error) => isMissing(error) && !isUnrelated(error)).pipe(
        Effect.map((reply) => Option.getOrThrow(reply.value).commits),
        Effect.catchIf(isUnrelated, () => Effect.succeed([]))
      )
      const child = commits.find(
        (candidate) =>
          candidate.parents[0]?.sha === expected && isOurs(candidate.commit.message, commit.message)
      )
      const change = commit.changes[0]
      if (child === undefined || change === undefined) return { made: Option.none(), at }
      const made = { commit: child.sha, tree: child.commit.tree.sha }
      known.learnCommit(made)
      const there = yield* file(made, change.path)
      const same =
        change._tag === "Put"
          ? Option.isSome(there) && there.value.oid === GitObject.hash("blob", change.content)
          : Option.isNone(there)
      return {
        made: same ? Option.some(made) : Option.none(),
        at
      }
    })

  const attempt = (
    place: Place,
    branch: string,
    expected: Head,
    commit: NewCommit,
    count: number,
    lost: ApiFailure | undefined
  ): Effect.Effect<Head, Failure> =>
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
        }),
        Effect.catchAll((error): Effect.Effect<Head, Failure> => {
          if (error._tag !== "ApiFailure" && lost === undefined) return Effect.fail(error)
          const settled = (otherwise: (at: Option.Option<Oid>) => Effect.Effect<Head, Failure>) =>
            search(branch, expected.commit, commit, maybeSame).pipe(
              Effect.mapError((failed): Failure => {
                const last = lost ?? error
                return last._tag === "ApiFailure" ? ambiguous(place, last) : failed
              }),
              Effect.flatMap(({ at, made }) =>
                Option.isSome(made) ? Effect.succeed(made.value) : otherwise(at)
              )
            )
          if (error._tag !== "ApiFailure") return settled(() => Effect.fail(error))
          const refused = (at: Option.Option<Oid>) => Effect.fail(moved(branch, expected.commit, at))
          if (error.kind === "StaleHead" || error.kind === "Missing") {
            if (lost !== undefined) return settled(refused)
            // Refused at once: somebody was first, or a proxy delivered the request twice and this is the second answer.
            return Effect.flatMap(
              Effect.orElseSucceed(search(branch, expected.commit, commit, surelySame), () => nothing),
              ({ at, made }): Effect.Effect<Head, Failure> => {
                if (Option.isSome(made)) return Effect.succeed(made.value)
                const isThere = Option.isSome(at) && at.value === expected.commit
                return error.kind === "Missing" && isThere ? Effect.fail(error) : refused(at)
              }
            )
          }
          if (!isAmbiguous(error))
            return lost === undefined ? Effect.fail(error) : settled(() => Effect.fail(error))
          return settled((at) => {
            if (Option.isNone(at) || at.value !== expected.commit) return refused(at)
            if (count >= maxRetries) return Effect.fail(error)
            return Effect.flatMap(waitFor(client.settings, count, error), (inTime) =>
              inTime ? attempt(place, branch, expected, commit, count + 1, error) : Effect.fail(error)
            )
          })
        })
      )

  return (place: Place, branch: string, expected: Head, commit: NewCommit) =>
    Effect.flatMap(marked(commit.message), (message) =>
      // A branch that we have just made may not be known to the machine that answers.
      patiently(attempt(place, branch, expected, { ...commit, message }, 0, undefined), isMissing)
    )
}
