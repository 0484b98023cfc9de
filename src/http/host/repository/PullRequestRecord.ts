import { Clock, Effect, Option, Schema } from "effect"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, RemoteError } from "../../../domain/errors/StoreError.js"
import { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { HostError } from "../reply/HostError.js"
import * as GitCommand from "./GitCommand.js"
import * as GitProcessSlots from "./GitProcessSlots.js"
import { pullRefs } from "./HostNames.js"
import * as OpenPullRequests from "./OpenPullRequests.js"

/**
 * A pull request, stored as a blob to which `refs/pull/N/meta` points. `refs/pull/N/head` points to its last commit,
 * as on GitHub. Pull requests are therefore as durable as branches and part of every mirror.
 */
export const PullRequest = Schema.Struct({
  number: Schema.Number,
  title: Schema.String,
  body: Schema.NullOr(Schema.String),
  author: Schema.String,
  /** The short names of the branches. */
  head: Schema.String,
  base: Schema.String,
  /** The commits of the branches when the pull request was last updated. */
  headCommit: Oid,
  baseCommit: Oid,
  draft: Schema.Boolean,
  labels: Schema.Array(Schema.String),
  state: Schema.Literal("open", "closed"),
  createdAt: Schema.String,
  updatedAt: Schema.String,
  closedAt: Schema.NullOr(Schema.String),
  merged: Schema.NullOr(Schema.Struct({ at: Schema.String, by: Schema.NullOr(Schema.String), commit: Oid }))
})
export type PullRequest = typeof PullRequest.Type

const Json = Schema.parseJson(PullRequest)
/** Encodes a pull request as JSON. */
export const encode = Schema.encodeSync(Json)

export const metaOf = (number: number) => `${pullRefs}${number}/meta`
export const headOf = (number: number) => `${pullRefs}${number}/head`

export type Failure = RemoteError | AmbiguousWriteError | RefMoved | HostError

export const now = Effect.map(Clock.currentTimeMillis, (millis) =>
  new Date(millis).toISOString().replace(/\.\d+Z$/, "Z")
)

/** A pull request with the values of its refs. */
export interface Stored {
  readonly request: PullRequest
  readonly meta: Oid
  readonly head: Option.Option<Oid>
}

/** Reads a pull request, which may be older than its branches. */
export const read = (git: GitRepository, number: number): Effect.Effect<Option.Option<Stored>, RemoteError> =>
  Effect.gen(function* () {
    const meta = yield* git.ref(metaOf(number))
    if (Option.isNone(meta)) return Option.none()
    const head = yield* git.ref(headOf(number))
    const found = yield* git.object(meta.value)
    return Option.flatMap(found, ({ content, type }) =>
      type === "blob"
        ? Option.map(Schema.decodeOption(Json)(Buffer.from(content).toString()), (request) => ({
            request,
            meta: meta.value,
            head
          }))
        : Option.none<Stored>()
    )
  })

/**
 * Writes a pull request, unless another writer changed it since it was read. Moves its refs with the caller's `move`,
 * because locks on refs are not nested.
 */
export const write = (
  git: GitRepository,
  move: GitRepository["updateRef"],
  stored: Option.Option<Stored>,
  next: PullRequest
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { number } = next
    if (next.state === "open") yield* OpenPullRequests.add(git, move, next)
    const head = Option.flatMap(stored, (one) => one.head)
    if (!Option.contains(head, next.headCommit))
      yield* move(headOf(number), head, Option.some(next.headCommit))
    const meta = yield* git.writeObject("blob", Buffer.from(`${encode(next)}\n`))
    const before = Option.map(stored, (one) => one.meta)
    if (!Option.contains(before, meta)) yield* move(metaOf(number), before, Option.some(meta))
    if (next.state === "closed") yield* OpenPullRequests.remove(git, move, number)
  })

/** The commits of a pull request's branches. */
export interface Tips {
  readonly head: Option.Option<Oid>
  readonly base: Option.Option<Oid>
}

export const tipsOf = (
  git: GitRepository,
  { base, head }: Pick<PullRequest, "base" | "head">
): Effect.Effect<Tips, RemoteError> =>
  Effect.all({ head: git.ref(`refs/heads/${head}`), base: git.ref(`refs/heads/${base}`) })

/** The commit that merged the head: the oldest commit on the base's first-parent line that contains it. */
const mergeCommitOf = (git: GitRepository, { headCommit }: PullRequest, base: Oid) =>
  Effect.map(
    GitCommand.text(git, [
      "rev-list",
      "--first-parent",
      "--ancestry-path",
      "--reverse",
      `${headCommit}..${base}`,
      "--"
    ]),
    (text) => text.split("\n")[0] ?? ""
  ).pipe(
    Effect.flatMap((first) => (first === "" ? Effect.succeedNone : git.commit(Oid.make(first)))),
    // After a fast-forward of the base there is no merge commit.
    Effect.map((first) =>
      Option.isNone(first) || first.value.parents[0] === headCommit ? headCommit : first.value.commit
    )
  )

/**
 * Updates a pull request from the state of its branches: it moves on, is merged by a push, or is closed by the
 * deletion of a branch.
 */
export const reconciled = (
  git: GitRepository,
  request: PullRequest,
  { base, head }: Tips
): Effect.Effect<PullRequest, Failure> =>
  Effect.gen(function* () {
    if (request.state === "closed") return request
    const here = { ...request, headCommit: Option.getOrElse(head, () => request.headCommit) }
    const contains = (commit: Oid) => (ancestor: Oid) =>
      GitProcessSlots.withHistorySlot(git.isAncestor(ancestor, commit))
    if (Option.isSome(base) && (yield* contains(base.value)(here.headCommit))) {
      const at = yield* now
      // A branch that was reset to its base has nothing to merge, so the pull request is closed and not merged.
      if (here.headCommit !== request.headCommit && (yield* contains(request.baseCommit)(here.headCommit))) {
        return { ...request, state: "closed", closedAt: at, updatedAt: at }
      }
      const commit = yield* mergeCommitOf(git, here, base.value)
      const merged = { at, by: null, commit }
      return { ...here, state: "closed", closedAt: at, updatedAt: at, merged }
    }
    if (Option.isNone(head) || Option.isNone(base)) {
      const at = yield* now
      return { ...here, state: "closed", closedAt: at, updatedAt: at }
    }
    return { ...here, baseCommit: base.value }
  })

/** Updates a pull request from the current state of its branches. */
export const reconciledNow = (
  git: GitRepository,
  request: PullRequest
): Effect.Effect<PullRequest, Failure> =>
  request.state === "closed"
    ? Effect.succeed(request)
    : Effect.flatMap(tipsOf(git, request), (tips) => reconciled(git, request, tips))
