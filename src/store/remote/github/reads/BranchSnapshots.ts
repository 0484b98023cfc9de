import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as Monotonic from "../../../../domain/time/MonotonicClock.js"
import type {
  Directory,
  FileVersion,
  Head,
  PrefetchRequest,
  RemoteFailure,
  RemoteFileReadOptions,
  RemoteSnapshot,
  SnapshotFile
} from "../../GitRemote.js"
import { type CommitReads, prefixOf, snapshotOf } from "../../RemoteSnapshot.js"
import type { RemoteOperation } from "../client/RemoteOperation.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { HeadLookup } from "../heads/HeadLookup.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import { toTree } from "../objects/Listing.js"
import { prefersWholeTree, type TreeReader } from "../objects/TreeReader.js"
import type { FileReader } from "./FileReader.js"
import { RecentReads } from "./RecentReads.js"

/** An edit prefers one request for the whole tree of the head. A read by branch name needs only one file or directory. */
const named = Effect.locally(prefersWholeTree, false)

/** The number of branches with recent reads. */
const mostBranches = 256

interface Parts {
  readonly reads: CommitReads
  readonly branchHeads: BranchHeads
  readonly files: FileReader
  readonly headLookup: HeadLookup
  readonly cachedTrees: CachedTrees
  readonly trees: TreeReader
  readonly readOnly: boolean
  readonly asOperation: RemoteOperation
}

export interface BranchSnapshotOptions {
  /** Returns assumed versions of files (`RemoteFileReadOptions.assume`) without a request. */
  readonly useAssumptions?: boolean | undefined
  /** Does not return recent reads again. */
  readonly ignoreRecent?: boolean | undefined
  /** Finds the commit when it is first needed. Default: the current head. */
  readonly findHead?:
    | ((wants?: PrefetchRequest) => Effect.Effect<Option.Option<Head>, RemoteFailure>)
    | undefined
}

export interface BranchSnapshot extends RemoteSnapshot {
  /** The files that were read by branch name, which are preconditions of a write: their ids, or none if absent. */
  readonly filesByName: ReadonlyMap<string, Option.Option<Oid>>
  /** Whether a recent read was returned again. */
  readonly usedRecentReads: () => boolean
  /** Whether directories were read by branch name. */
  readonly readDirectories: () => boolean
}

/** Snapshots of branches, which read by branch name until they are pinned to a commit, and their recent reads. */
export interface BranchSnapshots {
  readonly snapshot: (branch: string, options?: BranchSnapshotOptions) => BranchSnapshot
  /** A write of this process changed a file. */
  readonly forgetFile: (branch: string, path: string) => void
  /** The recent reads of a branch are outdated. */
  readonly forgetBranch: (branch: string) => void
  /** Forgets the recent reads of a branch if a write is interrupted or ambiguous: it may have moved the branch. */
  readonly forgetOnFailure: (
    branch: string
  ) => <A, E extends { readonly _tag: string }>(self: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** A branch was moved to a commit: the recent reads of another branch at that commit apply to it. */
  readonly copyReads: (branch: string, at: Oid) => void
  /** A commit of this process, whose trees are cached, is the new head: recent reads are updated. */
  readonly advance: (branch: string, made: Head) => void
  readonly clear: () => void
}

export const makeBranchSnapshots = (parts: Parts): BranchSnapshots => {
  const { branchHeads, files, headLookup, cachedTrees, readOnly, reads, asOperation, trees } = parts
  const recents = new Map<string, RecentReads>()

  const keep = (branch: string, recent: RecentReads) => {
    recents.delete(branch)
    recents.set(branch, recent)
    for (const oldest of recents.keys()) {
      if (recents.size <= mostBranches) break
      recents.delete(oldest)
    }
    return recent
  }
  const recentOf = (branch: string) => recents.get(branch) ?? keep(branch, new RecentReads())

  /**
   * Reads a directory by branch name. After a write of this process the reply may be stale, so it is accepted only if it has
   * the expected id. An absence is confirmed by the tree of the head.
   */
  const directoryNow = (branch: string, path: string, recursive: boolean) =>
    Effect.gen(function* () {
      const lately = yield* branchHeads.writtenLately(branch)
      const own = lately ? branchHeads.cachedHead(branch) : undefined
      const expected =
        own !== undefined && Option.isSome(own) ? cachedTrees.directoryAt(own.value.tree, path) : undefined
      if (!readOnly && (!lately || typeof expected === "string")) {
        const found = yield* trees.atBranch(branch, path, recursive)
        if (Option.isSome(found) && (!lately || found.value.oid === expected)) {
          const tree = found.value
          return Option.some<Directory>({ tree, at: tree.oid, prefix: "" })
        }
      }
      const head = yield* headLookup.head(branch)
      if (Option.isNone(head)) return Option.none<Directory>()
      const at = head.value
      return Option.map(
        yield* trees.list(at, path, recursive),
        (listing): Directory => ({ tree: toTree(listing, recursive), at, prefix: prefixOf(path) })
      )
    })

  const snapshot: BranchSnapshots["snapshot"] = (
    branch,
    { findHead, ignoreRecent = false, useAssumptions = false } = {}
  ) => {
    const answered = new Map<string, Option.Option<Oid>>()
    const assumed = new Set<string>()
    let hasBelieved = false
    let hasListed = false
    let pin: RemoteSnapshot | undefined
    const pinned = (wants?: PrefetchRequest) =>
      Effect.suspend(() => {
        if (pin !== undefined) return Effect.succeed(pin)
        return Effect.map(
          findHead?.(wants) ?? asOperation("head")(headLookup.head(branch, wants)),
          (head) => {
            pin ??= snapshotOf(reads, head)
            return pin
          }
        )
      })

    /** A recent read if there is one, or the same read of another caller, else a request. */
    const recently = <A>(
      key: string,
      maxAge: number | undefined,
      seen: (recent: RecentReads, now: number, maxAge: number) => Option.Option<A> | undefined,
      look: Effect.Effect<Option.Option<A>, RemoteFailure>,
      saw: (recent: RecentReads, found: Option.Option<A>, since: number) => void
    ): Effect.Effect<Option.Option<A>, RemoteFailure> =>
      maxAge === undefined
        ? look
        : Effect.flatMap(Monotonic.millis, (since) => {
            const recent = recentOf(branch)
            const { writes } = recent
            const before = ignoreRecent ? undefined : seen(recent, since, maxAge)
            if (before !== undefined) {
              hasBelieved = true
              return Effect.succeed(before)
            }
            const read = Effect.tap(look, (found) =>
              Effect.sync(() => {
                if (recent.writes === writes) saw(recent, found, since)
              })
            )
            return ignoreRecent
              ? read
              : recent.share(`${writes} ${key}`, read, () => {
                  hasBelieved = true
                })
          })

    /** The assumed version of a file; undefined if it has to be read. */
    const assumption = ({ assume: expect, cached: known }: RemoteFileReadOptions) =>
      !useAssumptions || expect === undefined
        ? undefined
        : expect === "absent"
          ? Option.none<FileVersion>()
          : known

    const byName = (path: string, look: RemoteFileReadOptions) =>
      recently<SnapshotFile>(
        `file ${path}`,
        look.maxAge,
        (recent, now, maxAge) => recent.file(path, now, maxAge),
        asOperation("file", path)(named(files.atBranch(branch, path, look))),
        (recent, found, since) => recent.putFile(path, found, since)
      )

    const file = (path: string, look: RemoteFileReadOptions) =>
      Effect.suspend((): Effect.Effect<Option.Option<SnapshotFile>, RemoteFailure> => {
        const taken = assumption(look)
        if (taken === undefined) return byName(path, look)
        assumed.add(path)
        return Effect.succeed(Option.map(taken, (version) => ({ ...version, notModified: true })))
      }).pipe(
        Effect.tap((found) => {
          if (look.maxAge !== undefined) return
          answered.set(
            path,
            Option.map(found, ({ oid }) => oid)
          )
        })
      )

    /** Reads a directory and some of its files in the query that finds the head. */
    const withPrefetchedFiles = (path: string, files: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const since = yield* Monotonic.millis
        const recent = recentOf(branch)
        const { writes } = recent
        const head = yield* asOperation("head")(headLookup.head(branch, { files, directories: [path] }))
        const at = snapshotOf(reads, head)
        if (Option.isNone(head)) return Option.none<Directory>()
        for (const wanted of files) {
          const found = yield* at.file(wanted)
          if (recent.writes === writes) recent.putFile(wanted, found, since)
        }
        return yield* at.directory(path)
      })

    return {
      isPinned: () => pin !== undefined,
      knownHead: () => pin?.knownHead(),
      head: Effect.flatMap(pinned(), ({ head }) => head),
      prefetch: (wants) =>
        headLookup.canPrefetch ? Effect.asVoid(Effect.suspend(() => pinned(wants()))) : Effect.void,
      revalidates: () => pin === undefined,
      assumedFiles: assumed,
      filesByName: answered,
      usedRecentReads: () => hasBelieved,
      readDirectories: () => hasListed,
      file: (path, look = {}) =>
        Effect.suspend(() => (pin !== undefined ? pin.file(path, look) : file(path, look))),
      files: (paths, options) => Stream.unwrap(Effect.map(pinned(), (at) => at.files(paths, options))),
      directory: (path, look = {}) =>
        Effect.suspend(() => {
          if (pin !== undefined) return pin.directory(path, look)
          const { maxAge, prefetchFiles, recursive = false } = look
          if (maxAge === undefined) hasListed = true
          return recently<Directory>(
            `${recursive} ${path}`,
            maxAge,
            (recent, now, most) => recent.directory(path, now, most),
            headLookup.canPrefetch && prefetchFiles !== undefined
              ? withPrefetchedFiles(path, prefetchFiles)
              : asOperation("directory", path)(named(directoryNow(branch, path, recursive))),
            (recent, found, since) => recent.putDirectory(path, found, since)
          )
        })
    }
  }

  /** A cached directory of a commit; none: it does not exist; undefined: not cached. */
  const directoryIn = (at: Head, path: string): Option.Option<Directory> | undefined => {
    const oid = path === "" ? at.tree : cachedTrees.directoryAt(at.tree, path)
    if (oid === null) return Option.none()
    const listing = oid === undefined ? undefined : cachedTrees.listing(oid, false)
    return listing && Option.some({ tree: toTree(listing, false), at, prefix: prefixOf(path) })
  }

  const headOf = (branch: string): Head | undefined =>
    Option.getOrUndefined(branchHeads.cachedHead(branch) ?? Option.none())

  return {
    snapshot,
    forgetFile: (branch, path) => recents.get(branch)?.fileWritten(path),
    forgetBranch: (branch) => void recents.delete(branch),
    forgetOnFailure: (branch) => (self) =>
      Effect.onExit(self, (exit) =>
        Effect.sync(() => {
          if (exit._tag === "Success") return
          const error = Cause.failureOption(exit.cause)
          const isClear = Option.exists(error, ({ _tag }) => _tag !== "AmbiguousWriteError")
          if (!isClear) recents.delete(branch)
        })
      ),
    copyReads: (branch, at) => {
      recents.delete(branch)
      const like = Array.from(recents.keys()).find((name) => headOf(name)?.commit === at)
      if (like !== undefined) keep(branch, recentOf(like).copy())
    },
    advance: (branch, made) =>
      recents.get(branch)?.advance(
        (path) => {
          const entry = cachedTrees.entryAt(made, path)
          return entry && Option.map(entry, ({ oid }) => oid)
        },
        (path) => directoryIn(made, path)
      ),
    clear: () => recents.clear()
  }
}
