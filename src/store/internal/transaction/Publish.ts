import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  type AmbiguousWriteError,
  ConflictError,
  isUniqueViolation,
  type WriteError
} from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Head, WriteFailure } from "../../remote/GitRemote.js"
import { backOff } from "../commit/Backoff.js"
import type { StoreCore } from "../commit/StoreCore.js"
import type { ReadSet } from "../snapshot/Snapshot.js"
import { conflictsSince, rebase } from "./Rebase.js"

const operation = "Store.transaction"

/** The prefix of the names of work branches. */
export const workPrefix = "chainstore-tx-"

/** After a lost reply, succeeds if the branch contains the commits; otherwise the result is unknown. */
const resolveLostReply = (core: StoreCore, to: Oid, error: AmbiguousWriteError) =>
  Effect.gen(function* () {
    if (error.unsettled === true) return yield* error
    const now = yield* core.remote.head(core.branch)
    if (Option.isSome(now) && (yield* core.remote.isAncestor(to, now.value.commit))) return
    return yield* error
  }).pipe(Effect.mapError(() => error))

const requireHead = (core: StoreCore, branch: string): Effect.Effect<Head, WriteError> =>
  Effect.flatMap(core.remote.head(branch), (head) =>
    Option.isSome(head)
      ? Effect.succeed(head.value)
      : new ConflictError({
          operation,
          message: `the branch ${branch} is gone`,
          hint: "another client deleted it during the transaction",
          conflicts: []
        })
  )

type ConflictDetails = readonly [
  message: string,
  conflicts: ConflictError["conflicts"],
  violations?: ConflictError["violations"]
]

/** The error of a transaction that was not published; its work branch is kept, and the error names it. */
export const transactionConflict = (work: string, ...[message, conflicts, violations]: ConflictDetails) =>
  new ConflictError({
    operation,
    message: `${message}; the commits are kept on the branch ${work}`,
    hint: `read them with onBranch("${work}"), then ${work.startsWith(workPrefix) ? "removeTransaction" : "deleteBranch"}("${work}")`,
    conflicts,
    branch: work,
    ...(violations === undefined ? {} : { reason: "UniqueViolation", violations })
  })

/** Manages the work branches of one transaction. */
export interface WorkBranches {
  readonly create: (branch: string, at: Head) => Effect.Effect<void, WriteError | WriteFailure>
  readonly keep: (branch: string) => void
  /** The branch was deleted together with the move of the target. */
  readonly gone: (branch: string) => void
}

/**
 * Moves the target to the last commit of the transaction and deletes the work branch in one atomic request, if the
 * remote supports it. The request checks both refs, so no reads are needed. Returns false if nothing moved.
 */
const publishAtOnce = (
  core: StoreCore,
  work: string,
  base: Head,
  last: Oid | undefined,
  branches: WorkBranches
): Effect.Effect<boolean, WriteError | WriteFailure> => {
  const { moveBranches } = core.remote
  if (moveBranches === undefined || last === undefined) return Effect.succeed(false)
  return moveBranches([
    { branch: core.branch, from: Option.some(base.commit), to: Option.some(last) },
    { branch: work, from: Option.some(last), to: Option.none() }
  ]).pipe(
    Effect.map(() => {
      branches.gone(work)
      return true
    }),
    Effect.catchTags({
      AmbiguousWriteError: (error) => Effect.as(resolveLostReply(core, last, error), true),
      RefMoved: () => Effect.succeed(false),
      RemoteError: (error) => (error.reason === "Unsupported" ? Effect.succeed(false) : Effect.fail(error))
    })
  )
}

/** Fast-forwards the target. Returns false if the target is not at `from`. */
export const fastForward = (
  core: StoreCore,
  from: Head,
  to: Head
): Effect.Effect<boolean, WriteError | WriteFailure> =>
  core.remote.advance(core.branch, from.commit, to.commit).pipe(
    Effect.as(true),
    Effect.catchTag("AmbiguousWriteError", (error) =>
      Effect.as(resolveLostReply(core, to.commit, error), true)
    ),
    Effect.catchTag("RefMoved", () => Effect.succeed(false))
  )

/**
 * Fast-forwards the target to the head of the work branch. If the target moved, the commits are rebased onto its head,
 * with an exclusive lock: other writes of this process would move it again.
 */
export const publish = (
  core: StoreCore,
  work: string,
  base: Head,
  last: Oid | undefined,
  readSet: ReadSet,
  branches: WorkBranches,
  checkHead: (head: Head) => Effect.Effect<void, WriteError>
): Effect.Effect<Option.Option<string>, WriteError | WriteFailure> =>
  Effect.gen(function* () {
    yield* checkHead(base)
    if (yield* core.branchLocks.shared(core.branch, publishAtOnce(core, work, base, last, branches))) {
      return Option.fromNullable(last)
    }
    const written = yield* requireHead(core, work)
    if (written.commit === base.commit) return Option.none()
    if (yield* core.branchLocks.shared(core.branch, fastForward(core, base, written))) {
      return Option.some(written.commit)
    }
    const kept = (...why: ConflictDetails) => {
      branches.keep(work)
      return transactionConflict(work, ...why)
    }
    let tried = written
    /** The head that was published; none if the target moved again. */
    const again = (attempt: number) =>
      Effect.gen(function* () {
        const now = yield* requireHead(core, core.branch)
        if (yield* core.remote.isAncestor(tried.commit, now.commit)) return Option.some(tried.commit)
        yield* checkHead(now)
        const conflicts = yield* conflictsSince(core, base, now, written, readSet)
        if (conflicts.length > 0 || attempt >= core.options.batchRetries) {
          const names = conflicts.map(({ collection, id }) => `${collection}/${id}`).join(", ")
          return yield* kept(
            conflicts.length > 0
              ? `${names} changed during the transaction`
              : `the branch ${core.branch} moved ${attempt + 1} times during the transaction`,
            conflicts
          )
        }
        const branch = `${workPrefix}${yield* core.nextId}`
        yield* branches.create(branch, now)
        const isMade = yield* rebase(core, base, written, core.onFork(branch)).pipe(
          Effect.as(true),
          // The target has not moved, so nothing is in doubt: the commits are made again on another branch.
          Effect.catchTag("AmbiguousWriteError", () => Effect.succeed(false)),
          Effect.catchIf(isUniqueViolation, ({ conflicts, message, violations }) =>
            kept(message, conflicts, violations)
          )
        )
        if (!isMade) return Option.none()
        tried = yield* requireHead(core, branch)
        return (yield* fastForward(core, now, tried)) ? Option.some(tried.commit) : Option.none()
      })
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) {
        yield* backOff(attempt)
      }
      const published = yield* core.branchLocks.exclusive(core.branch, again(attempt))
      if (Option.isSome(published)) return published
    }
  })
