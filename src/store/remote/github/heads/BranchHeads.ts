import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as MonotonicClock from "../../../../domain/time/MonotonicClock.js"
import type { Head } from "../../GitRemote.js"
import { isUnrelatedHistory } from "../client/ApiFailure.js"
import type { CallFailure } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"
import type { CommitObjects } from "./CommitObjects.js"
import { HeadCache } from "./HeadCache.js"
import type { HeadRequests, HeadWithParents } from "./HeadRequests.js"
import { LogicalClock } from "./LogicalClock.js"
import { isMissingCommit, type RefReads } from "./RefReads.js"

/** Branches with a cached head, beside those that were written lately. */
const maxBranches = 256

/**
 * Heads of branches, read from the host and never older than the writes of this process.
 *
 * A cached head is believed in one case only: as the parent of a new commit, because the host refuses the commit if the
 * branch has moved. Everything else asks the host. A reply that contradicts a write of this process within the last minute
 * comes from a replica that lags behind; the head of that write is returned instead.
 */
export interface BranchHeads {
  /** The current head. `request` replaces the usual request. */
  readonly head: (branch: string, request?: HeadRequest) => Effect.Effect<Option.Option<Head>, CallFailure>
  /** The head that the host shows, which may be older than a write of this process. */
  readonly headShownByHost: (branch: string) => Effect.Effect<Option.Option<Head>, CallFailure>
  /** The cached head, for the parent of a commit; undefined: nothing is cached. */
  readonly cachedHead: (branch: string) => Option.Option<Head> | undefined
  /** The last commit of this process on the branch. */
  readonly lastOwnCommit: (branch: string) => Oid | undefined
  /** The logical time, to be taken before a write. Something learned later may be newer than the result of the write. */
  readonly now: Effect.Effect<number>
  /**
   * Records that a write of this process moved the branch. `to.tree` is none if the reply did not contain it. Returns
   * false if a later write of this process, based on this one, was confirmed first.
   */
  readonly recordMove: (
    branch: string,
    from: Option.Option<Oid>,
    to: { readonly commit: Oid; readonly tree: Option.Option<Oid> } | undefined,
    begun: number
  ) => Effect.Effect<boolean>
  /** Records that a write of this process changed a file; `before: undefined`: unknown. */
  readonly recordFileWrite: (
    branch: string,
    path: string,
    before: Option.Option<Oid> | undefined,
    after: Option.Option<Oid>,
    begun: number
  ) => Effect.Effect<void>
  /** Whether a version of a file that was read by branch name may be older than a write of this process. */
  readonly mayBeStale: (branch: string, path: string, version: Option.Option<Oid>) => Effect.Effect<boolean>
  /** Records the version of a file in the head, as read by a request that was sent at the logical time `asked`. */
  readonly confirmFile: (
    branch: string,
    path: string,
    version: Option.Option<Oid>,
    asked: number
  ) => Effect.Effect<void>
  /** Whether a write of this process replaced this version of a file lately. */
  readonly wasReplaced: (branch: string, path: string, version: Option.Option<Oid>) => Effect.Effect<boolean>
  /** The version that the last write of this process gave a file, while replicas may lag; undefined: no such write. */
  readonly lastWrittenBlob: (branch: string, path: string) => Effect.Effect<Option.Option<Oid> | undefined>
  /** Whether this process wrote to the branch so lately that a listing by branch name may be stale. */
  readonly writtenLately: (branch: string) => Effect.Effect<boolean>
  readonly forget: (branch: string) => void
  /** Forgets the cached head if a write fails or is interrupted: it may have moved the branch. */
  readonly forgetOnFailure: (
    branch: string
  ) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly clear: () => void
}

type HeadRequest = Effect.Effect<Option.Option<HeadWithParents>, CallFailure>

const withoutParents = Option.map(({ commit, tree }: HeadWithParents): Head => ({ commit, tree }))

/** A file version as a map key; `""`: absent. */
const versionKey = (version: Option.Option<Oid>): Oid | "" => Option.getOrElse(version, () => "" as const)

export const makeBranchHeads = (
  requests: HeadRequests,
  commits: CommitObjects,
  refs: Pick<RefReads, "isAncestorOrFail">
): BranchHeads => {
  const caches = new Map<string, HeadCache>()
  const clock = new LogicalClock()

  const cacheOf = (branch: string, now: number): HeadCache => {
    const cache = caches.get(branch) ?? new HeadCache(clock)
    caches.delete(branch)
    caches.set(branch, cache)
    for (const [oldest, other] of caches) {
      // Writes that replicas may not show yet are kept, whatever the number of branches.
      if (caches.size <= maxBranches || other.writtenLately(now)) break
      caches.delete(oldest)
    }
    return cache
  }

  const fileAt = (branch: string, path: string) =>
    Effect.map(MonotonicClock.millis, (now) => caches.get(branch)?.files.get(path, now))

  /** A branch that is moved to a commit of this process has the files that were written on the other branch. */
  const copyWrittenFiles = (commit: Oid, cache: HeadCache, begun: number, now: number) => {
    for (const other of caches.values()) {
      if (other === cache || other.lastOwnCommit !== commit) continue
      for (const [path, file] of other.files.lately(now)) cache.files.note(path, file, begun, now)
    }
  }

  const ownHead = (commit: Oid | undefined): Effect.Effect<Option.Option<Head>, CallFailure> =>
    commit === undefined
      ? Effect.succeedNone
      : Effect.map(commits.getExisting(commit), ({ tree }) => Option.some({ commit, tree: tree.sha }))

  /** A reply that denies one of two existing commits comes from a stale replica. False if the descendant does not exist. */
  const isAncestor = (ancestor: Oid, descendant: Oid, wasPruned: Effect.Effect<boolean, CallFailure>) => {
    const compared = refs.isAncestorOrFail(ancestor, descendant)
    return compared.pipe(
      Effect.catchIf(isMissingCommit, () =>
        Effect.flatMap(wasPruned, (pruned) =>
          pruned ? Effect.succeed(false) : retryStaleReply(compared, isMissingCommit)
        )
      ),
      Effect.catchIf(isUnrelatedHistory, () => Effect.succeed(false))
    )
  }

  const head: BranchHeads["head"] = (branch, request) =>
    Effect.gen(function* () {
      const asked = clock.now
      const reply = yield* request ?? requests.get(branch)
      const found = withoutParents(reply)
      const parents = Option.match(reply, { onNone: () => [], onSome: (one) => one.parents })
      const now = yield* MonotonicClock.millis
      const cache = cacheOf(branch, now)
      const own = cache.lastOwnCommit
      let isStale = cache.isStale(found, parents, now)
      if (own !== undefined && Option.isSome(found)) {
        const wasPruned = Effect.tap(commits.isPruned(own), (pruned) => {
          if (pruned && cache.lastOwnCommit === own) cache.forgetOwnCommit()
        })
        if (isStale === undefined) {
          isStale = yield* isAncestor(found.value.commit, own, wasPruned)
          if (isStale) cache.supersede(found, now)
        } else if (isStale && cache.mayBePruned(now)) {
          isStale = !(yield* wasPruned)
        }
      }
      if (isStale !== true) {
        cache.put(found, asked)
        return found
      }
      requests.forget(branch)
      if (cache.head !== undefined) return cache.head
      const askedAgain = clock.now
      const newest = yield* ownHead(cache.lastOwnCommit)
      cache.put(newest, askedAgain)
      return newest
    })

  const forget = (branch: string) => {
    caches.get(branch)?.forgetHead()
    requests.forget(branch)
  }

  return {
    head,
    headShownByHost: (branch) => Effect.map(requests.get(branch), withoutParents),
    lastOwnCommit: (branch) => caches.get(branch)?.lastOwnCommit,
    cachedHead: (branch) => caches.get(branch)?.head,
    now: Effect.sync(() => clock.now),
    recordMove: (branch, from, to, begun) =>
      Effect.map(MonotonicClock.millis, (now) => {
        const cache = cacheOf(branch, now)
        requests.forget(branch)
        const isLast = cache.recordMove(from, to, begun, now)
        if (isLast && to !== undefined) copyWrittenFiles(to.commit, cache, begun, now)
        return isLast
      }),
    recordFileWrite: (branch, path, before, after, begun) =>
      Effect.map(MonotonicClock.millis, (now) => {
        const replaced = before === undefined ? [] : [versionKey(before)]
        const file = {
          after: versionKey(after),
          at: now,
          time: clock.tick(),
          superseded: new Map(replaced.map((version) => [version, now] as const)),
          newer: new Set<string>()
        }
        cacheOf(branch, now).files.note(path, file, begun, now)
      }),
    mayBeStale: (branch, path, version) =>
      Effect.map(MonotonicClock.millis, (now) => {
        const files = caches.get(branch)?.files
        const file = files?.get(path, now)
        if (file === undefined) return files?.hasForgotten(now) === true
        const key = versionKey(version)
        return key !== file.after && !file.newer.has(key)
      }),
    confirmFile: (branch, path, version, asked) =>
      Effect.map(fileAt(branch, path), (file) => {
        if (file !== undefined && file.time <= asked) file.newer.add(versionKey(version))
      }),
    wasReplaced: (branch, path, version) =>
      Effect.map(fileAt(branch, path), (file) => file?.superseded.has(versionKey(version)) === true),
    lastWrittenBlob: (branch, path) =>
      Effect.map(fileAt(branch, path), (file) => {
        if (file === undefined) return undefined
        return file.after === "" ? Option.none() : Option.some(file.after)
      }),
    writtenLately: (branch) =>
      Effect.map(MonotonicClock.millis, (now) => caches.get(branch)?.writtenLately(now) === true),
    forget,
    forgetOnFailure: (branch) => (self) =>
      Effect.onExit(self, (exit) =>
        exit._tag === "Success" ? Effect.void : Effect.sync(() => forget(branch))
      ),
    clear: () => {
      caches.clear()
      requests.clear()
    }
  }
}
