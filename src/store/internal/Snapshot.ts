import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import type { ReadError } from "../../domain/StoreError.js"
import type { Blob, GitRemoteService, Head, KnownFile, Tree, Wants } from "../remote/GitRemote.js"
import type { FileCache, FileVersion } from "./FileCache.js"

/** A directory as it was found. Its files are read `at` the tree or commit, below `prefix`. */
export interface Directory {
  readonly tree: Tree
  readonly at: Head | Oid
  readonly prefix: string
}

/** Which paths were looked at. A transaction shares one among its snapshots. */
export class ReadSet {
  /** Files with the ids of their blobs, null where there was none. */
  readonly files = new Map<string, Oid | null>()
  /** Directories that were listed. */
  readonly directories = new Set<string>()
}

export interface FileOptions {
  /** Ignores every validator and intermediate cache. */
  readonly fresh?: boolean | undefined
  /** An answer that is not older than so many milliseconds will do, where looking costs a request. */
  readonly maxAge?: number | undefined
  /** The caller goes on to read something else: that nothing is found need not be explained. */
  readonly readsOn?: boolean | undefined
  /** What an edit expects to find: it may be taken for granted where the write is refused if it is not so. */
  readonly expect?: "absent" | "known" | undefined
}

export interface DirectoryOptions {
  readonly recursive?: boolean | undefined
  readonly maxAge?: number | undefined
  /** With `maxAge`: files of it that are read next, where one request brings both. */
  readonly bring?: ReadonlyArray<string> | undefined
}

/**
 * What the reads of one operation see: one commit, or, where finding a branch's commit costs a request, the branch by
 * its name. What was read is remembered and not asked for again.
 */
export interface Snapshot {
  /** Whether every read is of one commit. */
  readonly isPinned: () => boolean
  /** The commit, where it is known without asking. */
  readonly known: () => Head | undefined
  /** The commit; none in an empty repository. Later reads are of it. A missing branch or repository is an error. */
  readonly head: Effect.Effect<Option.Option<Head>, ReadError>
  /** Finds the commit together with what will be read, where the remote brings both by one request. */
  readonly prefetch: (wants: Wants) => Effect.Effect<void, ReadError>
  readonly file: (path: string, options?: FileOptions) => Effect.Effect<Option.Option<FileVersion>, ReadError>
  /** Several files in the order asked for, skipping what is missing. */
  readonly files: (
    paths: ReadonlyArray<string>,
    options: { readonly concurrency: number }
  ) => Stream.Stream<Blob, ReadError>
  readonly directory: (
    path: string,
    options?: DirectoryOptions
  ) => Effect.Effect<Option.Option<Directory>, ReadError>
  readonly reads: ReadSet
  /** Files whose version was taken for granted. */
  readonly assumed: ReadonlySet<string>
  /** The same snapshot, whose reads are not noted: for what is derived from documents and not asked for. */
  readonly aside: Snapshot
}

/** Answers that are believed for a while, of paths that were asked for with a `maxAge`. */
export class Recent {
  readonly #files = new Map<string, { readonly file: Option.Option<FileVersion>; readonly since: number }>()
  readonly #directories = new Map<
    string,
    { readonly directory: Option.Option<Directory>; readonly since: number }
  >()

  /** Where its directory was seen later, a file that this does not name is absent. */
  file(path: string, now: number, maxAge: number): Option.Option<FileVersion> | undefined {
    const slash = path.lastIndexOf("/")
    const above = this.directory(path.slice(0, Math.max(slash, 0)), now, maxAge)
    if (above !== undefined) {
      const name = path.slice(slash + 1)
      const entries = Option.isNone(above) ? [] : above.value.tree.entries
      if (!entries.some((entry) => entry.path === name)) return Option.none()
    }
    const found = this.#files.get(path)
    return found !== undefined && now - found.since < maxAge ? found.file : undefined
  }

  directory(path: string, now: number, maxAge: number): Option.Option<Directory> | undefined {
    const found = this.#directories.get(path)
    return found !== undefined && now - found.since < maxAge ? found.directory : undefined
  }

  sawFile(path: string, file: Option.Option<FileVersion>, since: number): void {
    this.#files.set(path, { file, since })
  }

  sawDirectory(path: string, directory: Option.Option<Directory>, since: number): void {
    this.#directories.set(path, { directory, since })
  }

  /** What another one believes. */
  copy(): Recent {
    const made = new Recent()
    for (const [path, { file, since }] of this.#files) made.sawFile(path, file, since)
    for (const [path, { directory, since }] of this.#directories) made.sawDirectory(path, directory, since)
    return made
  }

  clear(): void {
    this.#files.clear()
    this.#directories.clear()
  }
}

const prefixOf = (path: string) => (path === "" ? "" : `${path}/`)

const directoryAt = (remote: GitRemoteService, at: Head | Oid, path: string, recursive: boolean) =>
  Effect.map(
    remote.tree(at, path, { recursive }),
    Option.map((tree): Directory => ({ tree, at, prefix: prefixOf(path) }))
  )

/** How a kind of snapshot reads what it has not read yet. */
interface Reads {
  readonly isPinned: () => boolean
  readonly known: () => Head | undefined
  readonly head: Effect.Effect<Option.Option<Head>, ReadError>
  readonly prefetch: (wants: Wants) => Effect.Effect<void, ReadError>
  readonly file: (
    path: string,
    options: FileOptions
  ) => Effect.Effect<{ readonly found: Option.Option<FileVersion>; readonly assumed?: boolean }, ReadError>
  readonly files: (
    paths: ReadonlyArray<string>,
    concurrency: number
  ) => Stream.Stream<Blob, ReadError> | undefined
  readonly directory: (
    path: string,
    options: DirectoryOptions
  ) => Effect.Effect<Option.Option<Directory>, ReadError>
}

/** A snapshot that remembers what it read. */
const remembering = (reads: Reads, noted: ReadSet): Snapshot => {
  const files = new Map<string, Option.Option<FileVersion>>()
  const directories = new Map<string, Option.Option<Directory>>()
  const assumed = new Set<string>()

  const make = (noted: ReadSet | undefined): Snapshot => {
    const file: Snapshot["file"] = (path, options = {}) =>
      Effect.suspend(() => {
        const before = options.fresh === true ? undefined : files.get(path)
        return Effect.map(
          before !== undefined ? Effect.succeed({ found: before }) : reads.file(path, options),
          (answer) => {
            const { found } = answer
            files.set(path, found)
            if ("assumed" in answer && answer.assumed === true) assumed.add(path)
            noted?.files.set(path, Option.isNone(found) ? null : found.value.oid)
            return found
          }
        )
      })
    const one = (path: string) =>
      Effect.map(
        file(path),
        Option.map(({ content, oid }): Blob => ({ path, oid, content }))
      )
    const snapshot: Snapshot = {
      isPinned: reads.isPinned,
      known: reads.known,
      head: reads.head,
      prefetch: reads.prefetch,
      reads: noted ?? new ReadSet(),
      assumed,
      file,
      files: (paths, { concurrency }) =>
        Stream.suspend(() => {
          const together = reads.files(paths, concurrency)
          if (together === undefined) {
            return Stream.fromIterable(paths).pipe(
              Stream.mapEffect(one, { concurrency }),
              Stream.filterMap((found) => found)
            )
          }
          for (const path of paths) noted?.files.set(path, null)
          return Stream.mapChunks(together, (blobs) => {
            for (const { oid, path } of blobs) noted?.files.set(path, oid)
            return blobs
          })
        }),
      directory: (path, options = {}) =>
        Effect.suspend(() => {
          noted?.directories.add(path)
          const key = `${options.recursive === true} ${path}`
          const before = directories.get(key)
          if (before !== undefined) return Effect.succeed(before)
          return Effect.tap(reads.directory(path, options), (found) =>
            Effect.sync(() => directories.set(key, found))
          )
        }),
      get aside() {
        return noted === undefined ? snapshot : make(undefined)
      }
    }
    return snapshot
  }
  return make(noted)
}

/** What is read at one commit. A cache of that commit holds the answer, one of a branch may hold an older one. */
const atCommit = (
  remote: GitRemoteService,
  at: Head | Oid,
  cache?: { readonly files: FileCache; readonly of: "commit" | "branch" }
): Pick<Reads, "file" | "files" | "directory"> => ({
  file: (path, { fresh = false }) =>
    Effect.gen(function* () {
      const known = cache === undefined || fresh ? Option.none() : yield* cache.files.get(path)
      if (cache?.of === "commit" && Option.isSome(known)) return { found: known }
      const answer = yield* remote.file(at, path, {
        known: Option.getOrUndefined(Option.map(known, (entry) => ({ path, ...entry })))
      })
      const found = Option.map(answer, ({ content, oid }): FileVersion => ({ oid, content }))
      if (cache === undefined) return { found }
      const isKept = Option.isSome(found) ? Option.getOrUndefined(known)?.oid === found.value.oid : false
      if (isKept) return { found: known }
      if (Option.isSome(found) || Option.isSome(known) || fresh) {
        if (Option.isSome(found) || cache.of === "branch") yield* cache.files.set(path, found)
      }
      return { found }
    }),
  files: (paths, concurrency) =>
    remote.blobs(
      at,
      paths.map((path) => ({ path })),
      { concurrency }
    ),
  directory: (path, { recursive = false }) => directoryAt(remote, at, path, recursive)
})

const nothing: Pick<Reads, "file" | "files" | "directory"> = {
  file: () => Effect.succeed({ found: Option.none() }),
  files: () => Stream.empty,
  directory: () => Effect.succeedNone
}

/** One commit, or nothing: an empty repository. The cache is one of this commit alone. */
export const snapshotAt = (
  remote: GitRemoteService,
  at: Option.Option<Head>,
  options: { readonly cache?: FileCache | undefined; readonly reads?: ReadSet | undefined } = {}
): Snapshot =>
  remembering(
    {
      isPinned: () => true,
      known: () => Option.getOrUndefined(at),
      head: Effect.succeed(at),
      prefetch: () => Effect.void,
      ...(Option.isNone(at)
        ? nothing
        : atCommit(
            remote,
            at.value,
            options.cache === undefined ? undefined : { files: options.cache, of: "commit" }
          ))
    },
    options.reads ?? new ReadSet()
  )

/** The commit that an id stands for, of which nothing else is known. */
export const snapshotOf = (remote: GitRemoteService, commit: Oid): Snapshot =>
  remembering(
    {
      isPinned: () => true,
      known: () => undefined,
      head: remote.resolve(commit),
      prefetch: () => Effect.void,
      ...atCommit(remote, commit)
    },
    new ReadSet()
  )

/** What snapshots of a branch are made of. */
export interface BranchReads {
  readonly remote: GitRemoteService
  readonly branch: string
  readonly cache: FileCache
  /** Fails unless the repository is there and has the branch, or is empty. */
  readonly requireBranch: Effect.Effect<void, ReadError>
  readonly recent: Recent
  /** Whether finding the branch's commit takes no request. */
  readonly free: boolean
  /** Whether repository and branch were seen to be there. */
  verified: boolean
}

const headOf = (parts: BranchReads, wants?: Wants) =>
  Effect.flatMap(
    parts.remote.head(parts.branch, wants),
    (found): Effect.Effect<Option.Option<Head>, ReadError> => {
      if (Option.isNone(found)) return Effect.as(parts.requireBranch, found)
      parts.verified = true
      return Effect.succeed(found)
    }
  )

/** The first absent answer asks whether repository and branch are there at all. */
const settled = <A>(
  parts: BranchReads,
  answer: Option.Option<A>
): Effect.Effect<Option.Option<A>, ReadError> =>
  Effect.suspend(() => {
    if (parts.verified || Option.isSome(answer)) {
      parts.verified = true
      return Effect.succeed(answer)
    }
    return Effect.as(
      Effect.tap(parts.requireBranch, () =>
        Effect.sync(() => {
          parts.verified = true
        })
      ),
      answer
    )
  })

/** A file at the branch's head, by way of the cache. */
const fileByName = (parts: BranchReads, path: string, { fresh = false, readsOn = false }: FileOptions) =>
  Effect.gen(function* () {
    const { branch, cache, remote } = parts
    const known = fresh ? Option.none<FileVersion>() : yield* cache.get(path)
    const answer = yield* remote.fileAtBranch(branch, path, {
      fresh,
      known: Option.getOrUndefined(Option.map(known, (entry): KnownFile => ({ path, ...entry })))
    })
    const found = readsOn && Option.isNone(answer) ? answer : yield* settled(parts, answer)
    if (Option.isNone(found)) {
      if (fresh || Option.isSome(known)) yield* cache.set(path, Option.none())
      else cache.noteAbsent(path)
      return Option.none()
    }
    if (found.value.notModified && Option.isSome(known)) return known
    const { notModified: _, ...version } = found.value
    yield* cache.set(path, Option.some(version))
    return Option.some<FileVersion>(version)
  })

const directoryByName = (
  parts: BranchReads,
  path: string,
  recursive: boolean
): Effect.Effect<Option.Option<Directory>, ReadError> => {
  const { branch, remote } = parts
  if (remote.treeAtBranch === undefined) {
    return Effect.flatMap(
      headOf(parts),
      Option.match({
        onNone: () => Effect.succeedNone,
        onSome: (at) => directoryAt(remote, at, path, recursive)
      })
    )
  }
  return remote.treeAtBranch(branch, path, { recursive }).pipe(
    Effect.flatMap((found) => settled(parts, found)),
    Effect.map(
      Option.map(({ head, tree }) =>
        Option.isSome(head)
          ? { tree, at: head.value, prefix: prefixOf(path) }
          : { tree, at: tree.oid, prefix: "" }
      )
    )
  )
}

/**
 * The branch as it is now. Where finding its commit is free, that commit. Elsewhere reads go by the branch's name, each
 * in the fewest requests, until the commit is asked for; with `assume` an edit may be given what was expected or seen
 * lately, since the write is refused where that is wrong.
 */
export const snapshotNow = (
  parts: BranchReads,
  options: { readonly reads?: ReadSet | undefined; readonly assume?: boolean | undefined } = {}
): Snapshot => {
  const { cache, free, recent, remote } = parts
  let pin:
    | { readonly head: Option.Option<Head>; readonly reads: Pick<Reads, "file" | "files" | "directory"> }
    | undefined
  const pinTo = (head: Option.Option<Head>) => {
    const kept = free ? ({ files: cache, of: "branch" } as const) : undefined
    pin ??= { head, reads: Option.isNone(head) ? nothing : atCommit(remote, head.value, kept) }
    return pin
  }
  const found = (wants?: Wants) =>
    Effect.suspend(() => (pin !== undefined ? Effect.succeed(pin) : Effect.map(headOf(parts, wants), pinTo)))

  const known = () => (pin === undefined ? undefined : Option.getOrUndefined(pin.head))
  const pinned: Reads = {
    isPinned: () => true,
    known,
    head: Effect.map(found(), ({ head }) => head),
    prefetch: (wants) => Effect.asVoid(found(wants)),
    file: (path, given) => Effect.flatMap(found(), ({ reads }) => reads.file(path, given)),
    files: (paths, concurrency) =>
      Stream.unwrap(Effect.map(found(), ({ reads }) => reads.files(paths, concurrency) ?? Stream.empty)),
    directory: (path, given) => Effect.flatMap(found(), ({ reads }) => reads.directory(path, given))
  }
  if (free) return remembering(pinned, options.reads ?? new ReadSet())

  /** A look, or what another one saw lately. */
  const believed = <A>(
    maxAge: number | undefined,
    seen: (now: number, maxAge: number) => A | undefined,
    look: Effect.Effect<A, ReadError>,
    saw: (found: A, since: number) => void
  ): Effect.Effect<A, ReadError> =>
    maxAge === undefined
      ? look
      : Effect.flatMap(Clock.currentTimeMillis, (since) => {
          const before = seen(since, maxAge)
          if (before !== undefined) return Effect.succeed(before)
          return Effect.tap(look, (answer) => Effect.sync(() => saw(answer, since)))
        })

  /** A directory together with files of it, by the request that finds the commit. */
  const brought = (path: string, bring: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const since = yield* Clock.currentTimeMillis
      const head = yield* headOf(parts, { files: bring, trees: [path] })
      if (Option.isNone(head)) return Option.none<Directory>()
      for (const file of bring) {
        const found = yield* remote.file(head.value, file)
        recent.sawFile(file, found, since)
      }
      return yield* directoryAt(remote, head.value, path, false)
    })

  /** What is taken for granted of a document: what is expected, or what the cache holds of it. */
  const assumption = (path: string, { expect }: FileOptions) =>
    Effect.gen(function* () {
      if (options.assume !== true || expect === undefined) return undefined
      if (expect === "absent") return Option.none<FileVersion>()
      const known = yield* cache.get(path)
      if (Option.isSome(known)) return known
      return cache.wasAbsent(path) ? Option.none<FileVersion>() : undefined
    })

  const byName: Reads = {
    isPinned: () => pin !== undefined,
    known,
    head: pinned.head,
    prefetch: (wants) => (remote.brings === true ? pinned.prefetch(wants) : Effect.void),
    file: (path, given) =>
      Effect.gen(function* () {
        if (pin !== undefined) return yield* pinned.file(path, given)
        const taken = yield* assumption(path, given)
        if (taken !== undefined) return { found: taken, assumed: true }
        const found = yield* believed(
          given.maxAge,
          (now, maxAge) => recent.file(path, now, maxAge),
          fileByName(parts, path, given),
          (file, since) => recent.sawFile(path, file, since)
        )
        return { found }
      }),
    files: (paths, concurrency) => (pin === undefined ? undefined : pinned.files(paths, concurrency)),
    directory: (path, given) => {
      if (pin !== undefined) return pinned.directory(path, given)
      const { bring, maxAge, recursive = false } = given
      return believed(
        maxAge,
        (now, most) => recent.directory(path, now, most),
        remote.brings === true && bring !== undefined
          ? brought(path, bring)
          : directoryByName(parts, path, recursive),
        (directory, since) => recent.sawDirectory(path, directory, since)
      )
    }
  }
  return remembering(byName, options.reads ?? new ReadSet())
}
