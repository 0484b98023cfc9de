import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { Oid } from "../domain/Oid.js"
import { type AmbiguousWriteError, AuthError, ConflictError, ValidationError } from "../domain/StoreError.js"
import { timeOf } from "../domain/Ulid.js"
import type { WriteError } from "./Collection.js"
import { under } from "./DocumentPath.js"
import type { Head, WriteFailure } from "./GitRemote.js"
import { branchError } from "./internal/Core.js"
import { detached } from "./internal/Detached.js"
import { makeFace, type OpenStore, type Reads } from "./internal/Remembering.js"
import { conflictsSince, replay } from "./internal/Replay.js"
import type { StoreCore } from "./internal/StoreCore.js"
import type { StoreService } from "./StoreService.js"

const prefix = "chainstore-tx-"
const operation = "Store.transaction"

/** How long giving back the work branches may take. */
const cleaning = Duration.seconds(5)

const isRefMoved = (error: { readonly _tag: string }) => error._tag === "RefMoved"

const refuseReadOnly = (core: StoreCore, name: string) =>
  core.options.readOnly || core.source.pinned
    ? new AuthError({
        operation: name,
        message: "this store was opened for reading",
        hint: "open it without readOnly and ref to write"
      })
    : Effect.void

/** No more than the head; a remote may learn by the way what moves branches in one step later. */
const onlyHead = { files: [], trees: [] }

/** The head that a transaction starts from. An empty repository gets a first commit, so that its branch is there. */
const start = (core: StoreCore): Effect.Effect<Head, WriteError> =>
  Effect.gen(function* () {
    const head = yield* core.remote.head(core.branch, onlyHead)
    if (Option.isSome(head)) return head.value
    yield* core.source.head
    yield* core.remote
      .commitNext(core.branch, (now) =>
        Effect.succeed({
          commit: Option.isSome(now)
            ? Option.none()
            : Option.some({
                message: "transaction: first commit of an empty repository",
                changes: [
                  {
                    _tag: "Put" as const,
                    path: under(core.options.root, ".gitkeep"),
                    content: new Uint8Array()
                  }
                ],
                author: core.options.author,
                committer: core.options.committer
              }),
          result: undefined
        })
      )
      .pipe(Effect.catchTag("RefMoved", () => Effect.void))
    return yield* start(core)
  })

/** A lost reply is looked up: the branch holds the commits, or nobody knows. */
const settle = (core: StoreCore, to: Oid, error: AmbiguousWriteError) =>
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
          hint: "somebody deleted it during the transaction",
          conflicts: []
        })
  )

const conflict = (work: string, message: string, conflicts: ConflictError["conflicts"]) =>
  new ConflictError({
    operation,
    message: `${message}; the commits are kept on the branch ${work}`,
    hint: `look at them with onBranch("${work}"), then removeTransaction("${work}")`,
    conflicts,
    branch: work
  })

interface WorkBranches {
  readonly create: (branch: string, at: Head) => Effect.Effect<void, WriteFailure>
  readonly keep: (branch: string) => void
  /** It went together with the move of the target. */
  readonly gone: (branch: string) => void
}

/**
 * Moves the target to the last commit that was made here and deletes the work branch in one step, where the remote
 * knows one. It checks both, so neither has to be looked at before. False: nothing moved, the branches say why.
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
      AmbiguousWriteError: (error) => Effect.as(settle(core, last, error), true),
      RefMoved: () => Effect.succeed(false),
      RemoteError: (error) => (error.reason === "Unsupported" ? Effect.succeed(false) : Effect.fail(error))
    })
  )
}

/** One fast-forward of the target. False: it is not at `from`. */
const advanced = (core: StoreCore, from: Head, to: Head): Effect.Effect<boolean, WriteError | WriteFailure> =>
  core.remote.advance(core.branch, from.commit, to.commit).pipe(
    Effect.as(true),
    Effect.catchTag("AmbiguousWriteError", (error) => Effect.as(settle(core, to.commit, error), true)),
    Effect.catchTag("RefMoved", () => Effect.succeed(false))
  )

/**
 * Moves the target to the work branch's head by one fast-forward. Where it moved meanwhile, the commits are made again
 * on its head, before other writes of this process: they would move it anew while that lasts.
 */
const publish = (
  core: StoreCore,
  work: string,
  base: Head,
  last: Oid | undefined,
  reads: Reads,
  branches: WorkBranches
): Effect.Effect<Option.Option<string>, WriteError | WriteFailure> =>
  Effect.gen(function* () {
    const atOnce =
      last === undefined ? Effect.succeed(false) : publishAtOnce(core, work, base, last, branches)
    if (last !== undefined && (yield* core.precedence.beside(core.branch, atOnce))) return Option.some(last)
    const written = yield* requireHead(core, work)
    if (written.commit === base.commit) return Option.none()
    if (yield* core.precedence.beside(core.branch, advanced(core, base, written))) {
      return Option.some(written.commit)
    }
    let tried = written
    /** The head that was published; none: the target moved again. */
    const again = (attempt: number) =>
      Effect.gen(function* () {
        const now = yield* requireHead(core, core.branch)
        if (yield* core.remote.isAncestor(tried.commit, now.commit)) return Option.some(tried.commit)
        const conflicts = yield* conflictsSince(core, base, now, written, reads)
        if (conflicts.length > 0 || attempt >= core.options.batchRetries) {
          branches.keep(work)
          const names = conflicts.map(({ collection, id }) => `${collection}/${id}`).join(", ")
          return yield* conflict(
            work,
            conflicts.length > 0
              ? `${names} changed during the transaction`
              : `the branch ${core.branch} moved ${attempt + 1} times during the transaction`,
            conflicts
          )
        }
        const branch = `${prefix}${yield* core.nextId}`
        yield* branches.create(branch, now)
        yield* replay(core, base, written, core.onFork(branch))
        tried = yield* requireHead(core, branch)
        return (yield* advanced(core, now, tried)) ? Option.some(tried.commit) : Option.none()
      })
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) {
        yield* Effect.flatMap(Random.nextIntBetween(0, 10 * 2 ** Math.min(attempt, 6)), Effect.sleep)
      }
      const published = yield* core.precedence.first(core.branch, again(attempt))
      if (Option.isSome(published)) return published
    }
  })

/** Transactions over a core; `open` makes a store of a core on another branch. */
export const makeTransactions = (
  core: StoreCore,
  open: (core: StoreCore) => OpenStore
): Pick<StoreService, "transaction" | "staleTransactions" | "removeTransaction"> => {
  const running = new Set<string>()

  const transaction: StoreService["transaction"] = (options, body) =>
    Effect.gen(function* () {
      yield* refuseReadOnly(core, operation)
      const work = options.branch ?? `${prefix}${yield* core.nextId}`
      const wrong = branchError(operation, work)
      if (wrong !== undefined) return yield* wrong
      const mine = new Set<string>()
      const kept = new Set<string>()
      const branches: WorkBranches = {
        create: (branch, at) =>
          Effect.gen(function* () {
            const elsewhere = running.has(branch)
            running.add(branch)
            const made = yield* detached(core.remote.createBranch(branch, at.commit))
            const isRefused =
              Exit.isFailure(made) && Option.exists(Cause.failureOption(made.cause), isRefMoved)
            // A name of our own may have become a branch where nobody answered; another name may be anybody's.
            if (Exit.isSuccess(made) || (!isRefused && branch !== options.branch)) mine.add(branch)
            else if (!elsewhere) running.delete(branch)
            return yield* made
          }).pipe(Effect.uninterruptible),
        keep: (branch) => kept.add(branch),
        gone: (branch) => {
          mine.delete(branch)
          running.delete(branch)
        }
      }
      const reads: Reads = { documents: new Set(), collections: new Set() }

      const run = Effect.gen(function* () {
        const base = yield* start(core)
        yield* Effect.catchTag(
          branches.create(work, base),
          "RefMoved",
          () =>
            new ConflictError({
              operation,
              message: `the branch ${work} exists already`,
              hint: "give the transaction another branch, or none",
              conflicts: [],
              branch: work
            })
        )
        const fork = core.onFork(work)
        let last: Oid | undefined
        const store = open({
          ...fork,
          write: (unit) =>
            Effect.tap(fork.write(unit), ({ committed }) =>
              Effect.sync(() => {
                if (Option.isSome(committed)) last = committed.value.commit
              })
            )
        })
        const result = yield* body({ branch: work, ...makeFace(store, reads, options.message) })
        const commitSha = yield* Effect.catchTag(
          publish(core, work, base, last, reads, branches),
          "RefMoved",
          (error) => conflict(work, error.message, [])
        )
        return { result, commitSha }
      })

      const removed = (branch: string) =>
        core.remote.deleteBranch(branch).pipe(
          Effect.retry({ times: 2 }),
          Effect.timeout(cleaning),
          Effect.catchAllCause((cause) =>
            Effect.logWarning(
              `the work branch ${branch} could not be removed: removeTransaction does it`,
              cause
            )
          )
        )
      const clean = Effect.suspend(() => {
        for (const branch of mine) running.delete(branch)
        const given = Array.from(mine).filter((branch) => !kept.has(branch))
        return given.length === 0 ? Effect.void : detached(Effect.forEach(given, removed, { discard: true }))
      })
      return yield* Effect.ensuring(run, clean)
    })

  return {
    transaction,
    staleTransactions: Effect.map(core.remote.listBranches(prefix), (found) =>
      found
        .filter(
          ({ name }) => !running.has(name) && /^[0-9A-HJKMNP-TV-Z]{26}$/i.test(name.slice(prefix.length))
        )
        .map(({ commit, name }) => ({
          branch: name,
          commitSha: commit,
          startedAt: new Date(timeOf(name.slice(prefix.length)))
        }))
    ),
    removeTransaction: (branch) =>
      Effect.gen(function* () {
        yield* refuseReadOnly(core, "Store.removeTransaction")
        if (!branch.startsWith(prefix)) {
          return yield* new ValidationError({
            operation: "Store.removeTransaction",
            message: `${JSON.stringify(branch)} is not the work branch of a transaction`,
            hint: `work branches begin with ${prefix}: staleTransactions lists them`
          })
        }
        if (running.has(branch)) {
          return yield* new ValidationError({
            operation: "Store.removeTransaction",
            message: `the transaction of ${branch} is still running`
          })
        }
        yield* core.remote.deleteBranch(branch)
      })
  }
}
