import { Effect, Option, Stream } from "effect"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import { RemoteError } from "../../../domain/errors/StoreError.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import * as GitCommand from "./GitCommand.js"
import * as GitProcessSlots from "./GitProcessSlots.js"
import * as OpenPullRequests from "./OpenPullRequests.js"
import * as Record from "./PullRequestRecord.js"

type Move = GitRepository["updateRef"]
type Entry = OpenPullRequests.Entry

const branches = "refs/heads/"

const isMoved = (error: unknown): error is RefMoved => error instanceof RefMoved

/** The number of retries when another process changes the pull request. */
const maxRetries = 5

/** Updates a pull request to the current state of its branches. `before` is their state before the move. */
const update = (git: GitRepository, move: Move, number: number, before?: Record.Tips) =>
  Effect.gen(function* () {
    const found = yield* Record.read(git, number)
    if (Option.isNone(found) || found.value.request.state === "closed") {
      return yield* OpenPullRequests.remove(git, move, number)
    }
    const { request } = found.value
    const isInStep = before !== undefined && Option.contains(before.head, request.headCommit)
    const was = isInStep ? yield* Record.reconciled(git, request, before) : request
    const next = yield* Record.reconciledNow(git, was)
    if (Record.encode(next) !== Record.encode(request)) yield* Record.write(git, move, found, next)
  }).pipe(Effect.retry({ times: maxRetries, while: isMoved }))

/**
 * Logs a failure to update a pull request. The branches have already moved, and the next read of the pull request
 * updates it.
 */
const logFailure = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchAllCause(effect, (cause) =>
    Effect.logWarning("A pull request could not be updated after its branches moved", cause)
  )

/** The error if a pull request cannot be updated before its branches move. Nothing was moved. */
const updateFailed = (cause: Error): RemoteError =>
  cause instanceof RemoteError
    ? cause
    : new RemoteError({
        operation: "GitRepository.updateRef",
        reason: cause instanceof RefMoved ? "Locked" : "Server",
        message: `The pull request of a branch could not be written: ${cause.message}`,
        hint: "Nothing was moved. Try again in a moment.",
        cause
      })

/** Whether the head ref of a pull request is at its branch's commit. */
const isHeadCurrent = (git: GitRepository, { number }: Entry, { head }: Record.Tips) =>
  Effect.map(
    git.ref(Record.headOf(number)),
    (kept) => Option.isSome(head) && Option.contains(kept, head.value)
  )

const isForward = (git: GitRepository, before: Record.Tips, after: Record.Tips) =>
  Option.isSome(before.base) && Option.isSome(after.base)
    ? GitProcessSlots.withHistorySlot(git.isAncestor(before.base.value, after.base.value))
    : Effect.succeed(Option.isNone(before.base))

const same = Option.getEquivalence<string>((a, b) => a === b)

/**
 * Runs an effect that moves branches and updates their open pull requests. Before it, each head ref is set to its
 * branch's commit, so that deleting the branch loses no commit. After it, each pull request is updated. Must run
 * while the lock on the refs is held.
 */
const updatingPullRequests = <A, E, R>(
  git: GitRepository,
  move: Move,
  isConcerned: (entry: Entry) => boolean,
  moving: Effect.Effect<A, E, R>
) =>
  Effect.flatMap(OpenPullRequests.list(git), (all) => {
    const entries = all.filter(isConcerned)
    if (entries.length === 0) return moving
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const before: Array<readonly [Entry, Record.Tips]> = []
        for (const entry of entries) {
          const tips = yield* Record.tipsOf(git, entry)
          before.push([entry, tips])
          if (!(yield* isHeadCurrent(git, entry, tips))) {
            yield* Effect.mapError(update(git, move, entry.number), updateFailed)
          }
        }
        const after = Effect.forEach(before, ([entry, was]) =>
          logFailure(
            Effect.gen(function* () {
              const is = yield* Record.tipsOf(git, entry)
              const stays = same(was.head, is.head)
              // A fast-forward of the base needs no update: a merge is still detected at the next read.
              if (stays && (same(was.base, is.base) || (yield* isForward(git, was, is)))) return
              yield* update(git, move, entry.number, was)
            })
          )
        )
        return yield* Effect.ensuring(restore(moving), after)
      })
    )
  })

/** Wraps `updateRef` so that moving a branch updates its pull requests. */
const updatingMove =
  (git: GitRepository, move: Move): Move =>
  (name, expected, next, options) => {
    const moving = move(name, expected, next, options)
    if (!name.startsWith(branches)) return moving
    const branch = name.slice(branches.length)
    return updatingPullRequests(git, move, ({ base, head }) => head === branch || base === branch, moving)
  }

const zeros = "0".repeat(40)
const oidOf = Option.getOrElse(() => zeros)

/** Moves a ref with `git update-ref`, while the repository is locked exclusively. */
const moveByGit =
  (git: GitRepository): Move =>
  (name, expected, next) =>
    Effect.gen(function* () {
      const line = `update ${name} ${oidOf(next)} ${oidOf(expected)}\n`
      const { code } = yield* GitCommand.output({
        directory: git.directory,
        args: ["update-ref", "--stdin"],
        input: Stream.make(Buffer.from(line))
      })
      if (code !== 0) return yield* new RefMoved({ ref: name, expected, actual: yield* git.ref(name) })
    }).pipe(Effect.catchTag("HostError", (problem) => Effect.fail(updateFailed(problem))))

const updatingRepository = (git: GitRepository): GitRepository => ({
  ...git,
  updateRef: (name, expected, next, options) =>
    git.withRefMutex(name, (move) => updatingMove(git, move)(name, expected, next, options)),
  withRefMutex: (name, effect) => git.withRefMutex(name, (move) => effect(updatingMove(git, move))),
  commitNext: (branch, build) =>
    Effect.flatMap(OpenPullRequests.list(git), (all) => {
      const committed = git.commitNext(branch, build)
      const entries = all.filter(({ head }) => head === branch)
      if (entries.length === 0) return committed
      // The commit is flushed with others in a group and holds no lock until then.
      const inTurn = Effect.forEach(
        entries,
        ({ number }) => git.withRefMutex(`${branches}${branch}`, (move) => update(git, move, number)),
        { discard: true }
      )
      return Effect.zipRight(
        Effect.mapError(inTurn, updateFailed),
        Effect.ensuring(committed, logFailure(inTurn))
      )
    }),
  // Git processes move refs here and do not report which.
  withExclusiveAccess: (effect) =>
    git.withExclusiveAccess(updatingPullRequests(git, moveByGit(git), () => true, effect))
})

// One wrapper per open repository, because every request needs it.
const views = new WeakMap<GitRepository, GitRepository>()

/** Wraps a repository so that `refs/pull/N/head` follows its branch, however the branch is moved. */
export const wrap = (git: GitRepository): GitRepository => {
  const view = views.get(git) ?? updatingRepository(git)
  views.set(git, view)
  return view
}
