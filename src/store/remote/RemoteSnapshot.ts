import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Head } from "../../git/Commit.js"
import type { Blob, Tree } from "../../git/Tree.js"
import type { RemoteFailure } from "./RemoteFailure.js"

/**
 * The bytes of a file and the id of their blob.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileVersion {
  /** The id of the file's blob. */
  readonly oid: Oid
  /** Its bytes. Do not modify them. */
  readonly content: Uint8Array
  /** The entity tag of this version, if the remote returned one. */
  readonly etag?: string | undefined
}

/**
 * A file that was read from a snapshot.
 *
 * @since 0.1.0
 * @category models
 */
export interface SnapshotFile extends FileVersion {
  /** Whether the remote confirmed that the caller's cached version is current (HTTP 304). */
  readonly notModified: boolean
}

/**
 * How a file is read.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteFileReadOptions {
  /** The version in the caller's cache; none: the file was absent. It may be returned again if it is current. */
  readonly cached?: Option.Option<FileVersion> | undefined
  /** Sends no validator and bypasses every cache. */
  readonly fresh?: boolean | undefined
  /** Accepts a cached result that is at most this many milliseconds old, on remotes whose reads need requests. */
  readonly maxAge?: number | undefined
  /**
   * For edits: skips the read and assumes that the file is absent, or is the `cached` version. A remote does so only if
   * the commit fails when the assumption is wrong.
   */
  readonly assume?: "absent" | "cached" | undefined
}

/**
 * How a directory is read.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteDirectoryReadOptions {
  /** Lists its subdirectories too. */
  readonly recursive?: boolean | undefined
  /** Accepts a cached result that is at most this many milliseconds old, on remotes whose reads need requests. */
  readonly maxAge?: number | undefined
  /** With `maxAge`: files of the directory that are read next, if one request can return both. */
  readonly prefetchFiles?: ReadonlyArray<string> | undefined
}

/**
 * A directory that was read from a snapshot.
 *
 * @since 0.1.0
 * @category models
 */
export interface Directory {
  /** Its entries; their paths are relative to the directory. */
  readonly tree: Tree
  /** The tree or commit from which its files can be read. */
  readonly at: Head | Oid
  /** The prefix of the paths of its entries in `at`; empty, or ends with a slash. */
  readonly prefix: string
}

/**
 * Files and directories that are read next. Missing paths are not an error.
 *
 * @since 0.1.0
 * @category models
 */
export interface PrefetchRequest {
  /** The paths of files. */
  readonly files: ReadonlyArray<string>
  /** The paths of directories whose direct entries are read. */
  readonly directories: ReadonlyArray<string>
  /**
   * Directories whose files are read too, if they are listed without a request: all files of a level of subdirectories,
   * and of the next level, up to the first level that has more than 64 files.
   */
  readonly smallDirectories?: ReadonlyArray<string> | undefined
  /** Selects files that the commit changed, of which both the old and the new version are read. */
  readonly changedFiles?: ((path: string) => boolean) | undefined
  /** Whether a write to the branch follows: a remote may find the head by a request that the write needs anyway. */
  readonly beforeWrite?: boolean | undefined
}

/**
 * A lazily read commit. If finding the head of a branch costs a request, the snapshot of the branch reads files by branch
 * name until `head` is asked for. From then on it is pinned: every read is of that commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteSnapshot {
  /** Whether every read is of the same commit. */
  readonly isPinned: () => boolean
  /** The commit, if it is known without a request. */
  readonly knownHead: () => Head | undefined
  /** The commit; none if there is none. Pins the snapshot. */
  readonly head: Effect.Effect<Option.Option<Head>, RemoteFailure>
  /** Reads the requested files and directories together with the commit, if the remote can do so in one request. */
  readonly prefetch: (request: () => PrefetchRequest) => Effect.Effect<void, RemoteFailure>
  /** None if the path does not exist or is not a file. */
  readonly file: (
    path: string,
    options?: RemoteFileReadOptions
  ) => Effect.Effect<Option.Option<SnapshotFile>, RemoteFailure>
  /** Whether passing a `cached` version can save a request or a transfer. */
  readonly revalidates: () => boolean
  /** Several files of the commit in the given order. Missing files are skipped. */
  readonly files: (
    paths: ReadonlyArray<string>,
    options: { readonly concurrency: number }
  ) => Stream.Stream<Blob, RemoteFailure>
  /** None if the path does not exist or is not a directory. */
  readonly directory: (
    path: string,
    options?: RemoteDirectoryReadOptions
  ) => Effect.Effect<Option.Option<Directory>, RemoteFailure>
  /** The paths of files whose version was assumed and not read. */
  readonly assumedFiles: ReadonlySet<string>
}

/**
 * The reads of one commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommitReads {
  /** Resolves a branch, tag, or full or short commit id. None if it does not exist or the repository is empty. */
  readonly resolve: (ref: string) => Effect.Effect<Option.Option<Head>, RemoteFailure>

  /**
   * The directory at `path` ("": the root) of a commit or tree. A recursive listing contains blobs and submodules with
   * their relative paths; another one contains the direct entries. The order is that of Git's trees. A listing is never
   * truncated: the read fails instead. None if `path` does not exist or is not a directory.
   */
  readonly tree: (
    at: Head | Oid,
    path: string,
    options?: { readonly recursive?: boolean | undefined }
  ) => Effect.Effect<Option.Option<Tree>, RemoteFailure>

  /**
   * The file at `path` of a commit. None if it does not exist or is not a file. `known` is a version that may be returned
   * again if the commit has it.
   */
  readonly file: (
    at: Head | Oid,
    path: string,
    options?: { readonly known?: Blob | undefined }
  ) => Effect.Effect<Option.Option<Blob>, RemoteFailure>

  /**
   * The contents of many files of one commit in the given order. Missing files are skipped. Files with an `oid` are read
   * by it. Memory is bounded; `concurrency` bounds the requests in flight.
   */
  readonly blobs: (
    at: Head | Oid,
    files: ReadonlyArray<{ readonly path: string; readonly oid?: Oid | undefined }>,
    options?: { readonly concurrency?: number | undefined }
  ) => Stream.Stream<Blob, RemoteFailure>

  /** Reads files and directories of a commit ahead, in one request instead of one for each. */
  readonly prefetch?:
    | ((at: Head | Oid, request: PrefetchRequest) => Effect.Effect<void, RemoteFailure>)
    | undefined
}

type Reads = Pick<RemoteSnapshot, "directory" | "file" | "files">

const noAssumptions: ReadonlySet<string> = new Set()

/**
 * The prefix of all paths below a directory: its path with a slash at the end; empty for the root.
 *
 * @since 0.1.0
 * @category utilities
 */
export const prefixOf = (path: string): string => (path === "" ? "" : `${path}/`)

const readsAt = (remote: CommitReads, at: Head | Oid): Reads => ({
  file: (path, { cached = Option.none(), fresh = false } = {}) => {
    const held = fresh ? undefined : Option.getOrUndefined(cached)
    return Effect.map(
      remote.file(at, path, held === undefined ? {} : { known: { path, ...held } }),
      Option.map(
        ({ content, oid }): SnapshotFile => ({
          oid,
          content,
          notModified: held?.oid === oid
        })
      )
    )
  },
  files: (paths, options) =>
    remote.blobs(
      at,
      paths.map((path) => ({ path })),
      options
    ),
  directory: (path, { recursive = false } = {}) =>
    Effect.map(
      remote.tree(at, path, { recursive }),
      Option.map((tree): Directory => ({ tree, at, prefix: prefixOf(path) }))
    )
})

const noReads: Reads = {
  file: () => Effect.succeedNone,
  files: () => Stream.empty,
  directory: () => Effect.succeedNone
}

/**
 * The snapshot of a known commit.
 *
 * @since 0.1.0
 * @category constructors
 */
export const snapshotAt = (remote: CommitReads, at: Head | Oid): RemoteSnapshot => ({
  isPinned: () => true,
  knownHead: () => (typeof at === "string" ? undefined : at),
  head: typeof at === "string" ? remote.resolve(at) : Effect.succeedSome(at),
  prefetch: (request) => Effect.suspend(() => remote.prefetch?.(at, request()) ?? Effect.void),
  revalidates: () => false,
  assumedFiles: noAssumptions,
  ...readsAt(remote, at)
})

/**
 * The snapshot of an empty repository.
 *
 * @since 0.1.0
 * @category constructors
 */
export const emptySnapshot: RemoteSnapshot = {
  isPinned: () => true,
  knownHead: () => undefined,
  head: Effect.succeedNone,
  prefetch: () => Effect.void,
  revalidates: () => false,
  assumedFiles: noAssumptions,
  ...noReads
}

/**
 * The snapshot of a head; the empty snapshot if there is none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const snapshotOf = (remote: CommitReads, at: Option.Option<Head>): RemoteSnapshot =>
  Option.isNone(at) ? emptySnapshot : snapshotAt(remote, at.value)

/**
 * The snapshot of the commit that `find` returns. `find` runs once, when the commit is first needed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const snapshotLater = (
  remote: CommitReads,
  find: (request?: PrefetchRequest) => Effect.Effect<Option.Option<Head>, RemoteFailure>
): RemoteSnapshot => {
  let pin: RemoteSnapshot | undefined
  const found = (request?: PrefetchRequest) =>
    Effect.suspend(() => {
      if (pin !== undefined) return Effect.succeed(pin)
      return Effect.map(find(request), (head) => {
        pin ??= snapshotOf(remote, head)
        return pin
      })
    })
  return {
    isPinned: () => true,
    knownHead: () => pin?.knownHead(),
    head: Effect.flatMap(found(), ({ head }) => head),
    prefetch: (request) =>
      Effect.suspend(() => {
        const requested = request()
        return Effect.flatMap(found(requested), ({ prefetch }) => prefetch(() => requested))
      }),
    revalidates: () => true,
    assumedFiles: noAssumptions,
    file: (path, options) => Effect.flatMap(found(), ({ file }) => file(path, options)),
    files: (paths, options) => Stream.unwrap(Effect.map(found(), ({ files }) => files(paths, options))),
    directory: (path, options) => Effect.flatMap(found(), ({ directory }) => directory(path, options))
  }
}
