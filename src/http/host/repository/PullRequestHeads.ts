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

/** How often others may write a pull request in between. */
const maxRetries = 5

/** Writes what a pull request is now; `before` is where its branches were before they were moved. */
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

/** What was done is done, whatever becomes of the note of it: whoever looks at the pull request next sees it. */
const logFailure = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchAllCause(effect, (cause) =>
    Effect.logWarning("A pull request does not show yet where its branches are", cause)
  )

/** Why nothing was moved: a pull request could not be brought up to where its branches are. */
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

/** Whether the commit that a pull request is known by is that of its branch. */
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
 * Runs what moves branches, with the open pull requests of them: each has its last commit before anything is moved, so that
 * the deletion of its branch loses none, and shows what became of it when all was moved. To be run in the writers' turn.
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
              // A base that only goes on still shows later what it has merged.
              if (stays && (same(was.base, is.base) || (yield* isForward(git, was, is)))) return
              yield* update(git, move, entry.number, was)
            })
          )
        )
        return yield* Effect.ensuring(restore(moving), after)
      })
    )
  })

/** The move of a ref, and what follows from it where it is a branch. */
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

/** Moves a ref by a Git program, for who has the repository alone. */
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
      const made = git.commitNext(branch, build)
      const entries = all.filter(({ head }) => head === branch)
      if (entries.length === 0) return made
      // The commit shares its flush with those of others, and so has no turn that lasts until it is there.
      const inTurn = Effect.forEach(
        entries,
        ({ number }) => git.withRefMutex(`${branches}${branch}`, (move) => update(git, move, number)),
        { discard: true }
      )
      return Effect.zipRight(Effect.mapError(inTurn, updateFailed), Effect.ensuring(made, logFailure(inTurn)))
    }),
  // Git's own programs move refs in here: which, they do not say.
  withExclusiveAccess: (effect) =>
    git.withExclusiveAccess(updatingPullRequests(git, moveByGit(git), () => true, effect))
})

// Asked for by every request: a repository that is open has one view.
const views = new WeakMap<GitRepository, GitRepository>()

/** A repository in which `refs/pull/N/head` moves with its branch, whatever moves that. */
export const wrap = (git: GitRepository): GitRepository => {
  const view = views.get(git) ?? updatingRepository(git)
  views.set(git, view)
  return view
}
