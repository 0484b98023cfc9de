import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { inDaemonFiber } from "../../../domain/concurrency/DaemonFiber.js"
import { ConflictError, ValidationError, type WriteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Draft } from "../../Proposals.js"
import type { Head } from "../../remote/GitRemote.js"
import type { StoreService } from "../../StoreService.js"
import { runBody } from "../calls/Guard.js"
import { guardTransaction } from "../calls/Signatures.js"
import { createBranchAt } from "../commit/CreateBranchAt.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { ReadSet } from "../snapshot/Snapshot.js"
import { makeTransactionCalls } from "../transaction/TransactionCalls.js"

const isTaken = (error: { readonly _tag: string }) => error._tag === "ConflictError"

/** The time limit for deleting the branch. */
const cleanupTimeout = Duration.seconds(5)

/**
 * Runs edits on a new branch at a commit, and opens the proposal with `finish`. If either fails or is interrupted, the
 * branch is deleted, unless `finish` has called `keep`.
 */
export const runDraft = <A, B, E, R>(
  operation: string,
  core: StoreCore,
  open: (core: StoreCore) => StoreService,
  at: { readonly branch: string; readonly base: Head },
  edits: (draft: Draft) => Effect.Effect<A, E, R>,
  finish: (last: Oid, keep: () => void) => Effect.Effect<B, WriteError>
): Effect.Effect<{ readonly result: A; readonly finished: B }, E | WriteError, R> => {
  const { branch, base } = at
  const { remote } = core
  const calls = makeTransactionCalls()
  const readSet = new ReadSet()
  let isKept = false
  const keep = () => {
    isKept = true
  }
  const begin = createBranchAt(core, operation, branch, base.commit, { unique: true }).pipe(
    Effect.catchTag(
      "RefMoved",
      () => new ConflictError({ operation, message: `the branch ${branch} exists already`, conflicts: [] })
    )
  )
  const work = Effect.gen(function* () {
    const inside = calls.of(core.onFork(branch, readSet), { readSet, message: undefined })
    const { batch, collection } = open(inside)
    const result = yield* runBody(operation, edits, guardTransaction({ branch, collection, batch }))
    const last = yield* calls.end
    if (last === undefined) {
      return yield* new ValidationError({
        operation,
        message: "the edits write nothing, so there is nothing to propose",
        hint: "write to the collections of the draft, and await the writes"
      })
    }
    return { result, finished: yield* finish(last, keep) }
  })
  const removed = inDaemonFiber(
    remote.deleteBranch(branch).pipe(
      Effect.retry({ times: 2 }),
      Effect.timeout(cleanupTimeout),
      Effect.catchAllCause((cause) => Effect.logWarning(`the branch ${branch} could not be removed`, cause))
    )
  )
  return Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const begun = yield* inDaemonFiber(begin)
      // If no reply arrived, the branch may have been created.
      if (Exit.isFailure(begun) && !Cause.failures(begun.cause).pipe(Chunk.some(isTaken))) yield* removed
      yield* begun
      return yield* Effect.onExit(restore(work), (exit) =>
        Exit.isSuccess(exit) || isKept ? Effect.void : Effect.zipRight(calls.abandon(cleanupTimeout), removed)
      )
    })
  )
}
