import { Effect, Option } from "effect"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { pullRefs } from "./HostNames.js"
import * as Record from "./PullRequestRecord.js"
import * as RefLock from "./RefLock.js"

export { now, PullRequest, tipsOf } from "./PullRequestRecord.js"

type PullRequest = Record.PullRequest
type Failure = Record.Failure

/** Changes a pull request while its lock is held. None if there is none. */
export const change = <A, E, R>(
  git: GitRepository,
  number: number,
  edit: (request: PullRequest) => Effect.Effect<readonly [PullRequest, A], E, R>
): Effect.Effect<Option.Option<readonly [PullRequest, A]>, E | Failure, R> =>
  RefLock.withLock(git, Record.metaOf(number), (move) =>
    Effect.gen(function* () {
      const found = yield* Record.read(git, number)
      if (Option.isNone(found)) return Option.none()
      const { request } = found.value
      const [edited, result] = yield* edit(yield* Record.reconciledNow(git, request))
      const next = yield* Record.reconciledNow(git, edited)
      if (Record.encode(next) !== Record.encode(request)) yield* Record.write(git, move, found, next)
      return Option.some([next, result] as const)
    })
  )

/** The current state of a pull request without writing it, for callers that hold a lock on a ref. */
export const peek = (
  git: GitRepository,
  number: number
): Effect.Effect<Option.Option<PullRequest>, Failure> =>
  Effect.flatMap(Record.read(git, number), (found) =>
    Option.isNone(found) ? Effect.succeedNone : Effect.asSome(Record.reconciledNow(git, found.value.request))
  )

/** The current state of a pull request. */
export const find = (
  git: GitRepository,
  number: number
): Effect.Effect<Option.Option<PullRequest>, Failure> =>
  Effect.gen(function* () {
    const found = yield* Record.read(git, number)
    if (Option.isNone(found)) return Option.none()
    const { request } = found.value
    const next = yield* Record.reconciledNow(git, request)
    if (Record.encode(next) === Record.encode(request)) return Option.some(next)
    const changed = yield* change(git, number, (request) => Effect.succeed([request, undefined] as const))
    return Option.map(changed, ([request]) => request)
  })

const numberOf = (name: string) => Number(/^refs\/pull\/(\d{1,9})\//.exec(name)?.[1] ?? 0)

/** The current state of all pull requests, newest first. */
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

/** Whether two branches have an open pull request with another number. */
export const isTaken = (
  known: ReadonlyArray<PullRequest>,
  { base, head, number }: { readonly base: string; readonly head: string; readonly number?: number }
): boolean =>
  known.some((one) => one.state === "open" && one.head === head && one.base === base && one.number !== number)

/** The properties of a new pull request. */
export type NewPullRequest = Pick<
  PullRequest,
  "title" | "body" | "author" | "head" | "base" | "headCommit" | "baseCommit" | "draft"
>

/** Creates a pull request with the next free number. None if the branches already have an open one. */
export const create = (
  git: GitRepository,
  given: NewPullRequest
): Effect.Effect<Option.Option<PullRequest>, Failure> =>
  // Creations are serialized, because the number and the uniqueness check depend on the existing ones.
  RefLock.withLock(git, Record.metaOf(0), (move) =>
    Effect.gen(function* () {
      if (isTaken(yield* list(git, peek), given)) return Option.none()
      const number =
        (yield* git.refs(pullRefs)).reduce((most, { name }) => Math.max(most, numberOf(name)), 0) + 1
      const at = yield* Record.now
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
      yield* Record.write(git, move, Option.none(), request)
      return Option.some(request)
    })
  )
