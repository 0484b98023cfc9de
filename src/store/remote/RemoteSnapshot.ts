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
  /** Its bytes, not to be changed. */
  readonly content: Uint8Array
  /** The validator of this version, where the remote gave one. */
  readonly etag?: string | undefined
}

/**
 * A file as a snapshot has it.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileFound extends FileVersion {
  /** True where the remote said that the version which the caller holds still stands (HTTP 304). */
  readonly notModified: boolean
}

/**
 * How a file may be looked at.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileLook {
  /** What the caller holds of it, none where it was absent: it may be answered again where it still stands. */
  readonly known?: Option.Option<FileVersion> | undefined
  /** Ignores every validator and intermediate cache. */
  readonly fresh?: boolean | undefined
  /** An answer that is not older than so many milliseconds will do, where looking costs a request. */
  readonly maxAge?: number | undefined
  /** What an edit expects to find: it may be assumed where the write is refused if it is not so. */
  readonly expect?: "absent" | "known" | undefined
}

/**
 * How a directory may be looked at.
 *
 * @since 0.1.0
 * @category models
 */
export interface DirectoryLook {
  /** Lists what is below its directories too. */
  readonly recursive?: boolean | undefined
  /** An answer that is not older than so many milliseconds will do, where looking costs a request. */
  readonly maxAge?: number | undefined
  /** With `maxAge`: files of it that are read next, where one request brings both. */
  readonly bring?: ReadonlyArray<string> | undefined
}

/**
 * A directory as it was found. Its files are read `at` the tree or commit, below `prefix`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Directory {
  /** Its entries; their paths are relative to it. */
  readonly tree: Tree
  /** The tree or commit in which its files are read. */
  readonly at: Head | Oid
  /** What stands before a path of an entry, read `at` that place; empty or ending with a slash. */
  readonly prefix: string
}

/**
 * What is going to be read: files, and the direct entries of directories. Paths that are missing are no error.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wants {
  /** Paths of files. */
  readonly files: ReadonlyArray<string>
  /** Paths of directories whose direct entries are read. */
  readonly trees: ReadonlyArray<string>
  /** Which of the files that the commit changed are read next, as they are in it and as they were before. */
  readonly changes?: ((path: string) => boolean) | undefined
}

/**
 * A commit as its remote reads it. The snapshot of a branch whose commit costs a request to find reads by the branch's
 * name, each time in the fewest requests, until the commit is asked for: it is pinned from then on.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteSnapshot {
  /** Whether every read is of one commit. */
  readonly isPinned: () => boolean
  /** The commit, where it is known without asking. */
  readonly known: () => Head | undefined
  /** The commit; none where there is none. Later reads are of it. */
  readonly head: Effect.Effect<Option.Option<Head>, RemoteFailure>
  /** Finds the commit together with what will be read, where the remote brings both by one request. */
  readonly prefetch: (wants: () => Wants) => Effect.Effect<void, RemoteFailure>
  /** None when it is missing or is not a file. */
  readonly file: (path: string, look?: FileLook) => Effect.Effect<Option.Option<FileFound>, RemoteFailure>
  /** Whether a held version spares something now, so that it is worth handing it in. */
  readonly takesKnown: () => boolean
  /** Several files of the commit in the order asked for, skipping what is missing. */
  readonly files: (
    paths: ReadonlyArray<string>,
    options: { readonly concurrency: number }
  ) => Stream.Stream<Blob, RemoteFailure>
  /** None when it is missing or is not a directory. */
  readonly directory: (
    path: string,
    look?: DirectoryLook
  ) => Effect.Effect<Option.Option<Directory>, RemoteFailure>
  /** Files whose version was assumed, and not looked at. */
  readonly assumed: ReadonlySet<string>
}

/**
 * What a remote tells of a commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommitReads {
  /** Branch, tag, or full or short commit id to a commit with its tree. None when absent, or when the repository is empty. */
  readonly resolve: (ref: string) => Effect.Effect<Option.Option<Head>, RemoteFailure>

  /**
   * The directory at `path` ("" is the root) of a commit or tree. Recursive listings hold blobs (and submodules)
   * only, with whole relative paths; others hold the direct entries. Ordered by path as Git orders trees.
   * Complete or a failure, never silently cut. None when `path` is missing or is not a directory.
   */
  readonly tree: (
    at: Head | Oid,
    path: string,
    options?: { readonly recursive?: boolean | undefined }
  ) => Effect.Effect<Option.Option<Tree>, RemoteFailure>

  /**
   * The file at `path` of a commit. None when it is missing or is not a file. `known` may be answered again where it
   * still is what the commit has.
   */
  readonly file: (
    at: Head | Oid,
    path: string,
    options?: { readonly known?: Blob | undefined }
  ) => Effect.Effect<Option.Option<Blob>, RemoteFailure>

  /**
   * Contents of many files of one commit, in the order asked for, skipping what is missing. Entries with a known
   * `oid` are read by it. Bounded memory; `concurrency` bounds requests in flight where there are requests.
   */
  readonly blobs: (
    at: Head | Oid,
    files: ReadonlyArray<{ readonly path: string; readonly oid?: Oid | undefined }>,
    options?: { readonly concurrency?: number | undefined }
  ) => Stream.Stream<Blob, RemoteFailure>

  /** Brings what will be read of a commit by one request, where each of its files would cost one. */
  readonly prefetch?: ((at: Head | Oid, wants: Wants) => Effect.Effect<void, RemoteFailure>) | undefined
}

type Reads = Pick<RemoteSnapshot, "directory" | "file" | "files">

const nothingAssumed: ReadonlySet<string> = new Set()

/**
 * A directory's path as the beginning of the paths below it: with a slash at its end, and empty for the root.
 *
 * @since 0.1.0
 * @category utilities
 */
export const prefixOf = (path: string): string => (path === "" ? "" : `${path}/`)

const readsAt = (remote: CommitReads, at: Head | Oid): Reads => ({
  file: (path, { fresh = false, known = Option.none() } = {}) => {
    const held = fresh ? undefined : Option.getOrUndefined(known)
    return Effect.map(
      remote.file(at, path, held === undefined ? {} : { known: { path, ...held } }),
      Option.map(
        ({ content, oid }): FileFound => ({
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

const nothing: Reads = {
  file: () => Effect.succeedNone,
  files: () => Stream.empty,
  directory: () => Effect.succeedNone
}

/**
 * A commit that is known: its head, or its id alone.
 *
 * @since 0.1.0
 * @category constructors
 */
export const snapshotAt = (remote: CommitReads, at: Head | Oid): RemoteSnapshot => ({
  isPinned: () => true,
  known: () => (typeof at === "string" ? undefined : at),
  head: typeof at === "string" ? remote.resolve(at) : Effect.succeedSome(at),
  prefetch: (wants) => Effect.suspend(() => remote.prefetch?.(at, wants()) ?? Effect.void),
  takesKnown: () => false,
  assumed: nothingAssumed,
  ...readsAt(remote, at)
})

/**
 * Before the first commit.
 *
 * @since 0.1.0
 * @category constructors
 */
export const emptySnapshot: RemoteSnapshot = {
  isPinned: () => true,
  known: () => undefined,
  head: Effect.succeedNone,
  prefetch: () => Effect.void,
  takesKnown: () => false,
  assumed: nothingAssumed,
  ...nothing
}

/**
 * One commit, or what is before the first one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const snapshotOf = (remote: CommitReads, at: Option.Option<Head>): RemoteSnapshot =>
  Option.isNone(at) ? emptySnapshot : snapshotAt(remote, at.value)

/**
 * The commit that `find` answers when it is first needed, and then every time.
 *
 * @since 0.1.0
 * @category constructors
 */
export const snapshotLater = (
  remote: CommitReads,
  find: (wants?: Wants) => Effect.Effect<Option.Option<Head>, RemoteFailure>
): RemoteSnapshot => {
  let pin: RemoteSnapshot | undefined
  const found = (wants?: Wants) =>
    Effect.suspend(() => {
      if (pin !== undefined) return Effect.succeed(pin)
      return Effect.map(find(wants), (head) => {
        pin ??= snapshotOf(remote, head)
        return pin
      })
    })
  return {
    isPinned: () => true,
    known: () => pin?.known(),
    head: Effect.flatMap(found(), ({ head }) => head),
    prefetch: (wants) =>
      Effect.suspend(() => {
        const wanted = wants()
        return Effect.flatMap(found(wanted), ({ prefetch }) => prefetch(() => wanted))
      }),
    takesKnown: () => true,
    assumed: nothingAssumed,
    file: (path, look) => Effect.flatMap(found(), ({ file }) => file(path, look)),
    files: (paths, options) => Stream.unwrap(Effect.map(found(), ({ files }) => files(paths, options))),
    directory: (path, look) => Effect.flatMap(found(), ({ directory }) => directory(path, look))
  }
}
