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
import type { BranchFlush, RefusedCommits } from "./Flush.js"

type Failure = RefMoved | RemoteError | AmbiguousWriteError

/** A commit was withdrawn before its flush began, or was refused. Commits that were built on it are built again. */
export class Withdrawn extends Data.TaggedError("Withdrawn") {}

export type FlushResult = Deferred.Deferred<void, Failure | RefusedCommits | Withdrawn>

/** The objects of a commit, ready to be staged. */
export interface Draft {
  readonly committed: Committed
  readonly objects: ReadonlyArray<PackableObject>
}

/** The staged commits of one branch that one flush will write. */
export interface Batch extends BranchFlush {
  tip: Oid
  /** The tree of the tip. */
  tree: Oid
  commits: number
  bytes: number
  readonly objects: Array<PackableObject>
  readonly done: FlushResult
}

/** The staged commits of one branch. */
export interface Branch {
  readonly name: string
  /** The head for the next commit while there are commits that are not yet durable. */
  staged: Head | undefined
  /** The batch that accepts further commits. */
  open: Batch | undefined
  /** The batch that is being flushed. */
  flushing: Batch | undefined
  /** The result of the newest batch. */
  last: FlushResult | undefined
  /** Increases when a flush fails. Commits that were built on its commits are invalid. */
  failures: number
  /** Increases when a commit is withdrawn or refused. Commits that were built on it are built again. */
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

/** The commits of all branches between their build and their flush. Their objects can be read meanwhile. */
export const make = (objects: ObjectDatabase) => {
  const branches = new Map<string, Branch>()
  /** The totals of all open batches. */
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

  /** Removes a batch from the totals of open batches. */
  const close = ({ bytes, commits }: Batch) => {
    open = { commits: open.commits - commits, bytes: open.bytes - bytes }
  }

  return {
    branchOf,

    /** The number of commits in open batches, and the size of their objects. */
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

    /** Closes all open batches for a flush, except for branches that have to wait. */
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

    /** Withdraws the open batch of a branch. Returns false if its flush has begun. */
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

    /** Fails a batch, and the open batch that was built on it. */
    fail: (batch: Batch, error: Failure | RefusedCommits): void => {
      const branch = branchOf(batch.branch)
      const follower = branch.open
      if (error._tag === "RefusedCommits") branch.withdrawals++
      else branch.failures++
      branch.staged = undefined
      branch.flushing = undefined
      branch.open = undefined
      branch.last = undefined
      release(batch)
      Deferred.unsafeDone(batch.done, Exit.fail(error))
      if (follower === undefined) return
      release(follower)
      close(follower)
      // The follower was not written, so its error is never ambiguous.
      const cause =
        error._tag === "RefusedCommits"
          ? new Withdrawn()
          : error._tag === "RemoteError"
            ? error
            : movedFrom(
                branch.name,
                follower.base,
                error._tag === "RefMoved" ? Option.getOrUndefined(error.actual) : batch.tip
              )
      Deferred.unsafeDone(follower.done, Exit.fail(cause))
    },

    /** Removes the state of a branch without staged commits. */
    forget: (name: string): void => {
      const branch = branches.get(name)
      if (branch?.open === undefined && branch?.last === undefined) branches.delete(name)
    },

    /** Fails all open batches. */
    abandon: (because: () => RemoteError): void => {
      for (const branch of branches.values()) {
        if (branch.open === undefined) continue
        close(branch.open)
        release(branch.open)
        Deferred.unsafeDone(branch.open.done, Exit.fail(because()))
        branch.open = undefined
      }
    }
  } as const
}
