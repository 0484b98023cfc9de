import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { Head } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isKind, isMissing } from "../client/ApiFailure.js"
import type { CallFailure, Client, Reply } from "../client/Client.js"
import { makeValidatorCache } from "../client/ValidatorCache.js"
import type { CommitObjects } from "./CommitObjects.js"

/** A head with the parents of its commit. */
export interface HeadWithParents extends Head {
  readonly parents: ReadonlyArray<Oid>
}

/** Requests for the head of a branch, conditional on the entity tag of the last reply. */
export interface HeadRequests {
  readonly get: (branch: string) => Effect.Effect<Option.Option<HeadWithParents>, CallFailure>
  /** The next request for this branch is unconditional. */
  readonly forget: (branch: string) => void
  readonly clear: () => void
}

type BranchReply = Option.Option<{
  readonly reply: Reply<unknown>
  readonly commit: Api.Commit | Oid | undefined
}>

export const makeHeadRequests = (client: Client, commits: CommitObjects): HeadRequests => {
  const validators = makeValidatorCache<HeadWithParents>(client, 256)
  /** Set if the host does not describe the commit of a branch together with the branch. */
  let usesRef = false

  const getBranch = (branch: string, etag?: string): Effect.Effect<BranchReply, CallFailure> =>
    client.call(Api.getBranch, { path: { branch }, etag }).pipe(
      Effect.map((reply) => {
        const commit = Option.getOrUndefined(reply.value)?.commit
        return Option.some({ reply, commit: Schema.is(Api.Commit)(commit) ? commit : undefined })
      }),
      Effect.catchIf(isMissing, () => Effect.succeedNone)
    )

  const getRef = (branch: string, etag?: string): Effect.Effect<BranchReply, CallFailure> =>
    client.call(Api.getRef, { path: { ref: `heads/${branch}` }, etag }).pipe(
      Effect.map((reply) => Option.some({ reply, commit: Option.getOrUndefined(reply.value)?.object.sha })),
      Effect.catchIf(isKind("Missing", "RefMissing", "EmptyRepository"), () => Effect.succeedNone)
    )

  const get: HeadRequests["get"] = (branch) =>
    Effect.gen(function* () {
      const cached = yield* validators.get(branch)
      const found = yield* (usesRef ? getRef : getBranch)(branch, cached?.etag)
      if (Option.isNone(found)) return Option.none()
      const { commit, reply } = found.value
      if (Option.isNone(reply.value)) return Option.fromNullable(cached?.value)
      if (commit === undefined) {
        usesRef = true
        return yield* get(branch)
      }
      if (typeof commit !== "string") commits.put(commit)
      const { parents, sha, tree } =
        typeof commit === "string"
          ? yield* commits.getExisting(commit)
          : { ...commit, tree: commit.commit.tree }
      const head = { commit: sha, tree: tree.sha, parents: parents.map((parent) => parent.sha) }
      validators.put(branch, reply.etag, reply.generation, head)
      return Option.some(head)
    })

  return { get, forget: validators.delete, clear: validators.clear }
}
