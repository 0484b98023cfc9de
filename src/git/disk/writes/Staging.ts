import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Committed, Head } from "../../Commit.js"
import { branchRef } from "../../Names.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import type { PackableObject } from "../packs/PackBuilder.js"
import type { BranchFlush } from "./Flush.js"

type Failure = RefMoved | RemoteError | AmbiguousWriteError

/** A commit that was to share a flush was taken out of it before it began: the others are built again. */
export class Withdrawn extends Data.TaggedError("Withdrawn") {}

export type FlushResult = Deferred.Deferred<void, Failure | Withdrawn>

/** A commit as objects, ready to be staged. */
export interface Draft {
  readonly committed: Committed
  readonly objects: ReadonlyArray<PackableObject>
}

/** Commits that became objects but are not yet written: all of one branch that one flush will make durable. */
export interface Batch extends BranchFlush {
  tip: Oid
  /** The tree of the tip. */
  tree: Oid
  commits: number
  bytes: number
  readonly objects: Array<PackableObject>
  readonly done: FlushResult
}

/** What is staged of one branch. */
export interface Branch {
  readonly name: string
  /** What the next commit stands on while there are commits that are not yet durable. */
  staged: Head | undefined
  open: Batch | undefined
  /** What the flush that is under way holds of it. */
  flushing: Batch | undefined
  /** The outcome of the newest batch. */
  last: FlushResult | undefined
  /** Rises when a flush fails: whatever was built on its commits is void. */
  failures: number
  /** Rises when a commit is taken out: what was built on it is built again. */
  withdrawals: number
}

export const commitOf = (head: Option.Option<Head>): Oid | undefined =>
  Option.isSome(head) ? head.value.commit : undefined

export const movedFrom = (branch: string, expected: Oid | undefined, actual: Oid | undefined) =>
  new RefMoved({
    ref: branchRef(branch),
    expected: Option.fromNullable(expected),
    actual: Option.fromNullable(actual)
  })

/** The commits of every branch between their build and their flush; their objects can be read meanwhile. */
export const make = (objects: ObjectDatabase) => {
  const branches = new Map<string, Branch>()
  let open = { commits: 0, bytes: 0 }

  const branchOf = (name: string): Branch => {
    let branch = branches.get(name)
    if (branch === undefined) {
      branch = {
        name,
        staged: undefined,
        open: undefined,
        flushing: undefined,
        last: undefined,
        failures: 0,
        withdrawals: 0
      }
      branches.set(name, branch)
    }
    return branch
  }

  const release = (batch: Batch) => {
    for (const { oid } of batch.objects) {
      const entry = objects.staged.get(oid)
      if (entry !== undefined && --entry.users === 0) objects.staged.delete(oid)
    }
  }

  /** A batch no longer waits for a flush. */
  const close = ({ bytes, commits }: Batch) => {
    open = { commits: open.commits - commits, bytes: open.bytes - bytes }
  }

  return {
    branchOf,

    /** Commits, and bytes of their objects, that no flush has begun with. */
    commits: () => open.commits,
    bytes: () => open.bytes,
    isEmpty: () => [...branches.values()].every((branch) => branch.open === undefined),

    append: (branch: Branch, head: Option.Option<Head>, draft: Draft): FlushResult => {
      const { commit, tree } = draft.committed
      const batch: Batch = branch.open ?? {
        branch: branch.name,
        base: commitOf(head),
        tip: commit,
        tree,
        commits: 0,
        bytes: 0,
        objects: [],
        done: Deferred.unsafeMake(FiberId.none)
      }
      for (const object of draft.objects) {
        const entry = objects.staged.get(object.oid)
        if (entry === undefined) objects.staged.set(object.oid, { object, users: 1 })
        else entry.users++
        batch.objects.push(object)
        batch.bytes += object.content.length
        open.bytes += object.content.length
      }
      batch.commits++
      open.commits++
      batch.tip = commit
      batch.tree = tree
      branch.open = batch
      branch.staged = { commit, tree }
      branch.last = batch.done
      return batch.done
    },

    /** Everything that is staged, for one flush, but of branches that have to wait. */
    take: (hasToWait: (branch: string) => boolean): ReadonlyArray<Batch> => {
      const batches: Array<Batch> = []
      for (const branch of branches.values()) {
        if (branch.open === undefined || hasToWait(branch.name)) continue
        batches.push(branch.open)
        branch.flushing = branch.open
        close(branch.open)
        branch.open = undefined
      }
      return batches
    },

    /** Takes out what is staged of a branch, unless its flush has begun: whether it was taken out. */
    withdraw: (name: string, done: FlushResult): boolean => {
      const branch = branches.get(name)
      const batch = branch?.open
      if (branch === undefined || batch?.done !== done) return false
      const { flushing } = branch
      branch.withdrawals++
      branch.staged = flushing && { commit: flushing.tip, tree: flushing.tree }
      branch.open = undefined
      branch.last = flushing?.done
      close(batch)
      release(batch)
      Deferred.unsafeDone(done, Exit.fail(new Withdrawn()))
      return true
    },

    succeed: (batch: Batch): void => {
      const branch = branchOf(batch.branch)
      branch.flushing = undefined
      if (branch.last === batch.done) {
        branch.staged = undefined
        branch.last = undefined
      }
      release(batch)
      Deferred.unsafeDone(batch.done, Exit.void)
    },

    /** A flush failed, and with it whatever was staged on its commits meanwhile. */
    fail: (batch: Batch, error: Failure): void => {
      const branch = branchOf(batch.branch)
      const follower = branch.open
      branch.failures++
      branch.staged = undefined
      branch.flushing = undefined
      branch.open = undefined
      branch.last = undefined
      release(batch)
      Deferred.unsafeDone(batch.done, Exit.fail(error))
      if (follower === undefined) return
      release(follower)
      close(follower)
      // Nothing of the follower was written, whatever became of the commits that it stands on.
      const cause =
        error._tag === "RemoteError"
          ? error
          : movedFrom(
              branch.name,
              follower.base,
              error._tag === "RefMoved" ? Option.getOrUndefined(error.actual) : batch.tip
            )
      Deferred.unsafeDone(follower.done, Exit.fail(cause))
    },

    /** Keeps nothing of a branch on which nothing is staged. */
    forget: (name: string): void => {
      const branch = branches.get(name)
      if (branch?.open === undefined && branch?.last === undefined) branches.delete(name)
    },

    /** What is staged now is never flushed. */
    abandon: (because: () => RemoteError): void => {
      for (const branch of branches.values()) {
        if (branch.open === undefined) continue
        release(branch.open)
        Deferred.unsafeDone(branch.open.done, Exit.fail(because()))
        branch.open = undefined
      }
    }
  } as const
}
