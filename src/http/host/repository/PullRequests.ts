import { Clock, Effect, Option, Schema } from "effect"
import { Oid } from "../../../domain/Oid.js"
import type { RefMoved } from "../../../domain/Ref.js"
import type { AmbiguousWriteError, RemoteError } from "../../../domain/StoreError.js"
import type { GitRepository } from "../../../git/disk/GitRepository.js"
import type { Problem } from "../reply/Problem.js"
import * as Git from "./Git.js"
import { pullRefs } from "./Names.js"
import * as Programs from "./Programs.js"
import * as RefTurn from "./RefTurn.js"

/**
 * Pull requests of a repository. What is said of one is a blob, to which `refs/pull/N/meta` points; `refs/pull/N/head` is
 * its last commit, as on GitHub. So they are as durable as branches, and a mirror of the repository has them.
 */
export const PullRequest = Schema.Struct({
  number: Schema.Number,
  title: Schema.String,
  body: Schema.NullOr(Schema.String),
  author: Schema.String,
  /** The branches, by their short names. */
  head: Schema.String,
  base: Schema.String,
  /** Where the branches were last seen. */
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
const encode = Schema.encodeSync(Json)

const metaOf = (number: number) => `${pullRefs}${number}/meta`
const headOf = (number: number) => `${pullRefs}${number}/head`

type Failure = RemoteError | AmbiguousWriteError | RefMoved | Problem

export const now = Effect.map(Clock.currentTimeMillis, (millis) =>
  new Date(millis).toISOString().replace(/\.\d+Z$/, "Z")
)

const read = (git: GitRepository, oid: Oid): Effect.Effect<Option.Option<PullRequest>, RemoteError> =>
  Effect.map(
    git.object(oid),
    Option.flatMap(({ content, type }) =>
      type === "blob"
        ? Schema.decodeOption(Json)(Buffer.from(content).toString())
        : Option.none<PullRequest>()
    )
  )

const write = (git: GitRepository, request: PullRequest) =>
  git.writeObject("blob", Buffer.from(`${encode(request)}\n`))

/** The oldest commit of the base, by first parents, that holds the head: what merged it. */
const mergeOf = (git: GitRepository, { headCommit }: PullRequest, base: Oid) =>
  Effect.map(
    Git.text(git, [
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
    // Where the base was moved onto the head, nothing else merged it.
    Effect.map((first) =>
      Option.isNone(first) || first.value.parents[0] === headCommit ? headCommit : first.value.commit
    )
  )

/** A pull request as its branches make it now: moved on, merged by a push, or closed by the deletion of its branch. */
const seenNow = (git: GitRepository, request: PullRequest): Effect.Effect<PullRequest, Failure> =>
  Effect.gen(function* () {
    if (request.state === "closed") return request
    const head = yield* git.ref(`refs/heads/${request.head}`)
    const base = yield* git.ref(`refs/heads/${request.base}`)
    const here = { ...request, headCommit: Option.getOrElse(head, () => request.headCommit) }
    const contains = (commit: Oid) => (ancestor: Oid) => Programs.history(git.isAncestor(ancestor, commit))
    if (Option.isSome(base) && (yield* contains(base.value)(here.headCommit))) {
      const at = yield* now
      // A branch that was set back to where its base was proposes nothing, and nothing of it was merged.
      if (here.headCommit !== request.headCommit && (yield* contains(request.baseCommit)(here.headCommit))) {
        return { ...request, state: "closed", closedAt: at, updatedAt: at }
      }
      const commit = yield* mergeOf(git, here, base.value)
      const merged = { at, by: null, commit }
      return { ...here, state: "closed", closedAt: at, updatedAt: at, merged }
    }
    if (Option.isNone(head)) {
      const at = yield* now
      return { ...here, state: "closed", closedAt: at, updatedAt: at }
    }
    return { ...here, baseCommit: Option.getOrElse(base, () => here.baseCommit) }
  })

/** Both refs of a pull request are moved in the turn of the one that says what it is: no turn is taken within another. */
const keepHead = (
  git: GitRepository,
  move: GitRepository["updateRef"],
  { headCommit, number }: PullRequest
) =>
  Effect.gen(function* () {
    const at = yield* git.ref(headOf(number))
    if (Option.contains(at, headCommit)) return
    yield* move(headOf(number), at, Option.some(headCommit))
  })

/** Changes a pull request as it is now, in its turn. None where there is none. */
export const change = <A, E, R>(
  git: GitRepository,
  number: number,
  edit: (request: PullRequest) => Effect.Effect<readonly [PullRequest, A], E, R>
): Effect.Effect<Option.Option<readonly [PullRequest, A]>, E | Failure, R> =>
  RefTurn.alone(git, metaOf(number), (move) =>
    Effect.gen(function* () {
      const stored = yield* git.ref(metaOf(number))
      const found = Option.isSome(stored) ? yield* read(git, stored.value) : Option.none()
      if (Option.isNone(found)) return Option.none()
      const [edited, result] = yield* edit(yield* seenNow(git, found.value))
      const next = yield* seenNow(git, edited)
      if (encode(next) !== encode(found.value)) {
        yield* keepHead(git, move, next)
        yield* move(metaOf(number), stored, Option.some(yield* write(git, next)))
      }
      return Option.some([next, result] as const)
    })
  )

const stored = (git: GitRepository, number: number) =>
  Effect.flatMap(git.ref(metaOf(number)), (at) =>
    Option.isSome(at) ? read(git, at.value) : Effect.succeedNone
  )

/** A pull request as it is now, which is not written down: for who has the turn of a ref. */
export const look = (
  git: GitRepository,
  number: number
): Effect.Effect<Option.Option<PullRequest>, Failure> =>
  Effect.flatMap(stored(git, number), (found) =>
    Option.isNone(found) ? Effect.succeedNone : Effect.asSome(seenNow(git, found.value))
  )

/** A pull request as it is now. */
export const find = (
  git: GitRepository,
  number: number
): Effect.Effect<Option.Option<PullRequest>, Failure> =>
  Effect.gen(function* () {
    const found = yield* stored(git, number)
    if (Option.isNone(found)) return found
    const next = yield* seenNow(git, found.value)
    if (encode(next) === encode(found.value)) return Option.some(next)
    const changed = yield* change(git, number, (request) => Effect.succeed([request, undefined] as const))
    return Option.map(changed, ([request]) => request)
  })

const numberOf = (name: string) => Number(/^refs\/pull\/(\d{1,9})\//.exec(name)?.[1] ?? 0)

/** All pull requests as they are now, newest first. */
export const list = (
  git: GitRepository,
  one: typeof find = find
): Effect.Effect<ReadonlyArray<PullRequest>, Failure> =>
  Effect.gen(function* () {
    const refs = yield* git.refs(pullRefs)
    const numbers = refs.filter(({ name }) => name.endsWith("/meta")).map(({ name }) => numberOf(name))
    const all = yield* Effect.forEach(
      numbers.sort((a, b) => b - a),
      (number) => one(git, number),
      { concurrency: 4 }
    )
    return all.flatMap(Option.toArray)
  })

/** Whether two branches have an open pull request, but for one. */
export const isTaken = (
  known: ReadonlyArray<PullRequest>,
  { base, head, number }: { readonly base: string; readonly head: string; readonly number?: number }
): boolean =>
  known.some((one) => one.state === "open" && one.head === head && one.base === base && one.number !== number)

/** What a pull request is made with. */
export type NewPullRequest = Pick<
  PullRequest,
  "title" | "body" | "author" | "head" | "base" | "headCommit" | "baseCommit" | "draft"
>

/** Makes a pull request under the next free number. None where the two branches have an open one. */
export const create = (
  git: GitRepository,
  given: NewPullRequest
): Effect.Effect<Option.Option<PullRequest>, Failure> =>
  // One after another: the number and the branches are judged by what is there.
  RefTurn.alone(git, metaOf(0), (move) =>
    Effect.gen(function* () {
      if (isTaken(yield* list(git, look), given)) return Option.none()
      const number =
        (yield* git.refs(pullRefs)).reduce((most, { name }) => Math.max(most, numberOf(name)), 0) + 1
      const at = yield* now
      const request: PullRequest = {
        ...given,
        number,
        labels: [],
        state: "open",
        createdAt: at,
        updatedAt: at,
        closedAt: null,
        merged: null
      }
      yield* move(metaOf(number), Option.none(), Option.some(yield* write(git, request)))
      yield* move(headOf(number), Option.none(), Option.some(request.headCommit))
      return Option.some(request)
    })
  )
