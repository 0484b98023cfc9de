import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fromArray } from "../../../domain/concurrency/Streams.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type {
  Blob,
  Directory,
  FileVersion,
  Head,
  PrefetchRequest,
  RemoteDirectoryReadOptions,
  RemoteFileReadOptions,
  RemoteSnapshot
} from "../../remote/GitRemote.js"
import type { FileCache } from "./FileCache.js"

/** The paths that were read. The snapshots of a transaction share one read set. */
export class ReadSet {
  /** Files with the ids of their blobs, null if the file was missing. */
  readonly files = new Map<string, Oid | null>()
  /** Directories that were listed. */
  readonly directories = new Set<string>()

  /** Adds the paths of another read set. */
  add(other: ReadSet): void {
    for (const [path, oid] of other.files) this.files.set(path, oid)
    for (const path of other.directories) this.directories.add(path)
  }
}

export interface FileReadOptions extends Omit<RemoteFileReadOptions, "cached"> {
  /** The caller continues without the file: if it is missing, do not check whether the branch exists. */
  readonly optional?: boolean | undefined
}

/** The reads of one operation: a remote's snapshot whose reads are cached and recorded in a read set. */
export interface Snapshot {
  /** Whether all reads are of one commit. */
  readonly isPinned: () => boolean
  /** The commit, if it is known without a request. */
  readonly known: () => Head | undefined
  /**
   * The commit; none in an empty repository. Later reads are of this commit. Fails if the branch or the repository is
   * missing.
   */
  readonly head: Effect.Effect<Option.Option<Head>, ReadError>
  /** Finds the commit and prefetches files, if the remote can do both with one request. */
  readonly prefetch: (wants: () => PrefetchRequest) => Effect.Effect<void, ReadError>
  readonly file: (
    path: string,
    options?: FileReadOptions
  ) => Effect.Effect<Option.Option<FileVersion>, ReadError>
  /** Several files in the given order, without the missing ones. */
  readonly files: (
    paths: ReadonlyArray<string>,
    options: { readonly concurrency: number }
  ) => Stream.Stream<Blob, ReadError>
  readonly directory: (
    path: string,
    options?: RemoteDirectoryReadOptions
  ) => Effect.Effect<Option.Option<Directory>, ReadError>
  readonly readSet: ReadSet
  /** Files whose version was assumed and not read. */
  readonly assumed: ReadonlySet<string>
  /** The same snapshot without recording: for reads of derived files, which the caller did not ask for. */
  readonly untracked: Snapshot
}

/** The branch of a snapshot. */
export interface BranchState {
  /** Fails unless the repository exists and has the branch, or is empty. */
  readonly require: Effect.Effect<void, ReadError>
  /** Whether repository and branch are known to exist. */
  exists: boolean
}

export interface SnapshotOptions {
  readonly readSet?: ReadSet | undefined
  /** Cached files: versions of the branch, which may be outdated, or of exactly this commit. */
  readonly cache?: { readonly files: FileCache; readonly of: "branch" | "commit" } | undefined
  /** If undefined, a missing file does not trigger a check of the branch. */
  readonly branch?: BranchState | undefined
}

/**
 * Reads of a remote's snapshot through a cache. The first missing file or directory checks that repository and branch
 * exist.
 */
const cachedReads = (source: RemoteSnapshot, isPinned: () => boolean, { branch, cache }: SnapshotOptions) => {
  /** Whether the pinned snapshot was found to be of an empty repository. It stays empty. */
  let isEmpty = false
  const requireBranch = Effect.suspend(() => {
    const wasPinned = isPinned()
    return isEmpty || branch === undefined
      ? Effect.void
      : Effect.map(branch.require, () => {
          isEmpty = wasPinned
        })
  })

  const explained = <A>(answer: Option.Option<A>): Effect.Effect<Option.Option<A>, ReadError> => {
    if (branch === undefined) return Effect.succeed(answer)
    if (Option.isSome(answer) || (isPinned() && source.knownHead() !== undefined)) {
      branch.exists = true
      return Effect.succeed(answer)
    }
    if (branch.exists && !isPinned()) return Effect.succeed(answer)
    return Effect.zipRight(
      requireBranch,
      Effect.sync(() => {
        branch.exists = true
        return answer
      })
    )
  }

  const head = Effect.flatMap(source.head, (found): Effect.Effect<Option.Option<Head>, ReadError> => {
    if (branch === undefined) return Effect.succeed(found)
    if (Option.isNone(found)) return Effect.as(requireBranch, found)
    branch.exists = true
    return Effect.succeed(found)
  })

  const file = (path: string, { optional = false, ...look }: FileReadOptions) =>
    Effect.gen(function* () {
      const isExact = cache?.of === "commit"
      const files = isExact || source.revalidates() ? cache?.files : undefined
      const cached = files === undefined || look.fresh === true ? Option.none() : yield* files.get(path)
      if (isExact && Option.isSome(cached)) return cached
      const held = Option.isSome(cached)
        ? cached
        : files?.wasAbsent(path) === true
          ? Option.none()
          : undefined
      const answer = yield* source.file(path, { ...look, cached: held })
      if (source.assumedFiles.has(path)) return answer
      const found = optional && Option.isNone(answer) ? answer : yield* explained(answer)
      if (files === undefined) return found
      if (Option.isNone(found)) {
        // A missing file may be a reply of an outdated replica, so it is not remembered of a commit.
        if (isExact) return found
        if (look.fresh === true || Option.isSome(cached)) yield* files.set(path, Option.none())
        else files.noteAbsent(path)
        return found
      }
      if (found.value.notModified && Option.exists(cached, ({ oid }) => oid === found.value.oid))
        return cached
      const { notModified: _, ...version } = found.value
      yield* files.set(path, Option.some(version))
      return Option.some<FileVersion>(version)
    })

  return {
    head,
    file,
    directory: (path: string, look: RemoteDirectoryReadOptions) =>
      Effect.flatMap(source.directory(path, look), explained)
  }
}

/** Adds a cache and a read set to a remote's snapshot. */
export const makeSnapshot = (source: RemoteSnapshot, options: SnapshotOptions = {}): Snapshot => {
  let pinned = false
  /** A pinned snapshot stays pinned. */
  const isPinned = () => {
    pinned ||= source.isPinned()
    return pinned
  }
  const reads = cachedReads(source, isPinned, options)
  const begin = () => ({
    isPinned: isPinned(),
    files: new Map<string, Option.Option<FileVersion>>(),
    directories: new Map<string, Option.Option<Directory>>()
  })
  let memory = begin()
  /**
   * Results that were read by the branch's name may be older than the commit, so they are dropped once the commit is
   * known.
   */
  const remembered = () => {
    if (memory.isPinned !== isPinned()) memory = begin()
    return memory
  }

  /**
   * Reads a path, or returns the cached result. If the commit became known while a read by the branch's name was in
   * progress, the path is read again.
   */
  const memoized = <A>(
    kind: (of: typeof memory) => Map<string, Option.Option<A>>,
    key: string,
    look: Effect.Effect<Option.Option<A>, ReadError>,
    fresh = false
  ): Effect.Effect<Option.Option<A>, ReadError> =>
    Effect.suspend(() => {
      const began = remembered()
      const before = fresh ? undefined : kind(began).get(key)
      if (before !== undefined) return Effect.succeed(before)
      return Effect.flatMap(look, (found) => {
        if (remembered() !== began) return memoized(kind, key, look)
        kind(began).set(key, found)
        return Effect.succeed(found)
      })
    })

  const make = (noted: ReadSet | undefined): Snapshot => {
    const file: Snapshot["file"] = (path, given = {}) =>
      Effect.map(
        memoized(({ files }) => files, path, reads.file(path, given), given.fresh),
        (found) => {
          noted?.files.set(path, Option.isNone(found) ? null : found.value.oid)
          return found
        }
      )
    const one = (path: string) =>
      Effect.map(
        file(path),
        Option.map(({ content, oid }): Blob => ({ path, oid, content }))
      )
    const snapshot: Snapshot = {
      isPinned,
      known: source.knownHead,
      head: reads.head,
      prefetch: source.prefetch,
      readSet: noted ?? new ReadSet(),
      assumed: source.assumedFiles,
      file,
      files: (paths, { concurrency }) =>
        Stream.suspend(() => {
          if (!isPinned()) {
            return fromArray(paths).pipe(
              Stream.mapEffect(one, { concurrency }),
              Stream.filterMap((found) => found)
            )
          }
          for (const path of paths) noted?.files.set(path, null)
          return Stream.mapChunks(source.files(paths, { concurrency }), (blobs) => {
            for (const { oid, path } of blobs) noted?.files.set(path, oid)
            return blobs
          })
        }),
      directory: (path, look = {}) =>
        Effect.suspend(() => {
          noted?.directories.add(path)
          const key = `${look.recursive === true} ${path}`
          return memoized(({ directories }) => directories, key, reads.directory(path, look))
        }),
      get untracked() {
        return noted === undefined ? snapshot : make(undefined)
      }
    }
    return snapshot
  }
  return make(options.readSet ?? new ReadSet())
}
