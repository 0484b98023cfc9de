import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { inDaemonFiber } from "../../../domain/concurrency/DaemonFiber.js"
import { ConflictError, ValidationError } from "../../../domain/errors/StoreError.js"
import { timeOf } from "../../../domain/identifiers/Ulid.js"
import { branchError } from "../../../git/Names.js"
import type { WriteError } from "../../Collection.js"
import { under } from "../../DocumentPath.js"
import type { Head } from "../../remote/GitRemote.js"
import type { StoreService } from "../../StoreService.js"
import type { TransactionOptions } from "../../Transaction.js"
import { runBody } from "../calls/Guard.js"
import { guardTransaction } from "../calls/Signatures.js"
import { readOnlyError } from "../commit/Commit.js"
import { createBranchAt } from "../commit/CreateBranchAt.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { ReadSet } from "../snapshot/Snapshot.js"
import { joinTransaction } from "./CurrentTransaction.js"
import { publish, transactionConflict, type WorkBranches, workPrefix } from "./Publish.js"
import { makeTransactionCalls } from "./TransactionCalls.js"

const operation = "Store.transaction"

/** The time limit for deleting the work branches. */
const cleanupTimeout = Duration.seconds(5)

const isRefMoved = (error: { readonly _tag: string }) => error._tag === "RefMoved"

const refuseReadOnly = (core: StoreCore, operation: string) =>
  core.options.readOnly || core.isPinned ? readOnlyError(operation) : Effect.void

/** The work branches of this process's running transactions, by remote. */
const runningBranches = new Set<string>()

/** Prefetches only the head; some remotes then also learn what an atomic move of branches needs. */
const headOnly = () => ({ files: [], directories: [], beforeWrite: true })

/** The head at which a transaction starts. An empty repository gets a first commit, so that its branch exists. */
const startHead = (core: StoreCore): Effect.Effect<Head, WriteError> =>
  Effect.gen(function* () {
    const snapshot = core.snapshot()
    yield* snapshot.prefetch(headOnly)
    const head = yield* snapshot.head
    if (Option.isSome(head)) return head.value
    yield* core.remote
      .commitNext(core.branch, (now) =>
        Effect.map(now.head, (head) => ({
          commit: Option.isSome(head)
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
        }))
      )
      .pipe(Effect.catchTag("RefMoved", () => Effect.void))
    return yield* startHead(core)
  })

/** Transactions over a core; `open` makes a store of a core on another branch. */
export const makeTransactions = (
  core: StoreCore,
  open: (core: StoreCore) => Pick<StoreService, "collection" | "batch">,
  /** Fails if the commits must not be based on this head of the branch. */
  checkHead: (head: Head) => Effect.Effect<void, WriteError> = () => Effect.void
): Pick<StoreService, "transaction" | "withTransaction" | "staleTransactions" | "removeTransaction"> => {
  const nameOf = (branch: string) => `${core.remote.name}\0${branch}`
  const isRunning = (branch: string) => runningBranches.has(nameOf(branch))

  /** Runs a body with the core of a work branch, and publishes the commits of that branch. */
  const run = <A, E, R>(
    options: TransactionOptions,
    body: (inside: StoreCore) => Effect.Effect<A, E, R>
  ): Effect.Effect<{ readonly result: A; readonly commitSha: Option.Option<string> }, E | WriteError, R> =>
    Effect.gen(function* () {
      yield* refuseReadOnly(core, operation)
      const work = options.branch ?? `${workPrefix}${yield* core.nextId}`
      const wrong = branchError(operation, work)
      if (wrong !== undefined) return yield* wrong
      const mine = new Set<string>()
      const kept = new Set<string>()
      const branches: WorkBranches = {
        create: (branch, at) =>
          Effect.gen(function* () {
            const elsewhere = isRunning(branch)
            runningBranches.add(nameOf(branch))
            const created = yield* inDaemonFiber(
              createBranchAt(core, operation, branch, at.commit, {
                unique: branch !== options.branch,
                temporary: branch !== options.branch
              })
            )
            const isRefused =
              Exit.isFailure(created) && Option.exists(Cause.failureOption(created.cause), isRefMoved)
            // If no reply arrived, a branch with a generated name is this transaction's; a branch with a given name may
            // belong to another one.
            if (Exit.isSuccess(created) || (!isRefused && branch !== options.branch)) mine.add(branch)
            else if (!elsewhere) runningBranches.delete(nameOf(branch))
            return yield* created
          }).pipe(Effect.uninterruptible),
        keep: (branch) => kept.add(branch),
        gone: (branch) => {
          mine.delete(branch)
          runningBranches.delete(nameOf(branch))
        }
      }
      const readSet = new ReadSet()
      const calls = makeTransactionCalls()

      const published = Effect.gen(function* () {
        const base = yield* startHead(core)
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
        const result = yield* body(
          calls.of(core.onFork(work, readSet), { readSet, message: options.message })
        )
        const commitSha = yield* Effect.catchTag(
          publish(core, work, base, yield* calls.end, readSet, branches, checkHead),
          "RefMoved",
          (error) => {
            branches.keep(work)
            return transactionConflict(work, error.message, [])
          }
        )
        yield* Effect.annotateCurrentSpan({
          documents: calls.written.size,
          ...(Option.isSome(commitSha) && { commit: commitSha.value })
        })
        core.transaction?.recordWrites(calls.written)
        return { result, commitSha }
      })

      const removed = (branch: string) =>
        core.remote.deleteBranch(branch).pipe(
          Effect.retry({ times: 2 }),
          Effect.timeout(cleanupTimeout),
          Effect.catchAllCause((cause) =>
            Effect.logWarning(
              `the work branch ${branch} could not be removed: removeTransaction does it`,
              cause
            )
          )
        )
      const clean = Effect.gen(function* () {
        yield* calls.abandon(cleanupTimeout)
        for (const branch of mine) runningBranches.delete(nameOf(branch))
        const given = Array.from(mine).filter((branch) => !kept.has(branch))
        if (given.length > 0) yield* inDaemonFiber(Effect.forEach(given, removed, { discard: true }))
      })
      const whole = Effect.ensuring(published, clean)
      const outer = core.transaction
      if (outer === undefined) return yield* whole
      // The outer body may depend on what was read here, even if this transaction fails.
      const noted = Effect.sync(() => outer.readSet.add(readSet))
      return yield* outer.nested(Effect.ensuring(whole, noted))
    })

  return {
    transaction: (options, body) =>
      run(options, (inside) => {
        const { batch, collection } = open(inside)
        return runBody(operation, body, guardTransaction({ branch: inside.branch, collection, batch }))
      }),
    withTransaction: (effect, options = {}) =>
      Effect.map(
        run(options, (inside) => joinTransaction(core, inside)(effect)),
        ({ result }) => result
      ),
    staleTransactions: Effect.map(core.remote.listBranches(workPrefix), (found) =>
      found
        .filter(
          ({ name }) => !isRunning(name) && /^[0-9A-HJKMNP-TV-Z]{26}$/i.test(name.slice(workPrefix.length))
        )
        .map(({ commit, name }) => ({
          branch: name,
          commitSha: commit,
          startedAt: new Date(timeOf(name.slice(workPrefix.length)))
        }))
    ),
    removeTransaction: (branch) =>
      Effect.gen(function* () {
        yield* refuseReadOnly(core, "Store.removeTransaction")
        if (!branch.startsWith(workPrefix)) {
          return yield* new ValidationError({
            operation: "Store.removeTransaction",
            message: `${JSON.stringify(branch)} is not the work branch of a transaction`,
            hint: `work branches begin with ${workPrefix}: staleTransactions lists them`
          })
        }
        if (isRunning(branch)) {
          return yield* new ValidationError({
            operation: "Store.removeTransaction",
            message: `the transaction of ${branch} is still running`
          })
        }
        yield* core.remote.deleteBranch(branch)
      })
  }
}
