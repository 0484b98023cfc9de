import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import { NotFoundError, type ReadError } from "../../domain/StoreError.js"
import * as GitObject from "../../git/GitObject.js"
import { type Cache, MemoryCache } from "../Cache.js"
import type { GitRemoteService, Head, Probe, Tree, Wants } from "../remote/GitRemote.js"
import { Bounded } from "./Bounded.js"

/** The bytes of a file and their blob id. */
export interface FileVersion {
  readonly oid: Oid
  readonly content: Uint8Array
  /** The validator of an answer that was kept with it. */
  readonly etag?: string | undefined
}

/** What reads look at: the head of a branch as it moves, or one commit. */
export interface Source {
  /** True where every read sees the same commit. */
  readonly pinned: boolean
  /** The commit that a read sees now; none in an empty repository. A missing branch or repository is an error. */
  readonly head: Effect.Effect<Option.Option<Head>, ReadError>
  /** The same, with what will be read at it where the remote can bring it along. */
  readonly headWith: (wants: Wants) => Effect.Effect<Option.Option<Head>, ReadError>
  /**
   * One file as reads see it now, by way of the cache. The first absence costs a look at repository and branch, unless
   * the caller goes on to read something else, which shows as much (`readsOn`).
   */
  readonly file: (
    path: string,
    options?: { readonly fresh?: boolean | undefined; readonly readsOn?: boolean | undefined }
  ) => Effect.Effect<Option.Option<FileVersion>, ReadError>
  /** One directory as reads see it now. Files in it are read by their ids, `at` the tree or commit that it names. */
  readonly directory: (
    path: string,
    recursive: boolean
  ) => Effect.Effect<
    Option.Option<{ readonly tree: Tree; readonly at: Head | Oid; readonly prefix: string }>,
    ReadError
  >
  readonly cache: Cache
  readonly cacheKey: (path: string) => string
  /** Whether the path was absent when it was last looked at: a guess, as everything remembered of a branch. */
  readonly wasAbsent: (path: string) => boolean
  readonly noteAbsent: (path: string, absent: boolean) => void
}

const keyOf = (remote: GitRemoteService, ref: string) => (path: string) =>
  [remote.name, ref, path, "blob"].join("\0")

/** Our own cache keeps what it was given; another one may not, and a write stands on what it says. */
const usable = (cache: Cache, entry: FileVersion) =>
  cache.constructor === MemoryCache ||
  (entry?.content instanceof Uint8Array && GitObject.hash("blob", entry.content) === entry.oid)

/** A cache that breaks is as good as none. */
export const orBroken = <A>(use: () => Effect.Effect<A>, otherwise: A): Effect.Effect<A> =>
  Effect.catchAllCause(Effect.suspend(use), (cause) =>
    Effect.as(Effect.logDebug("a cache failed", cause), otherwise)
  )

const read = (cache: Cache, key: string): Effect.Effect<Option.Option<FileVersion>> =>
  orBroken(
    () =>
      Effect.map(
        cache.get(key),
        Option.filter((entry) => usable(cache, entry))
      ),
    Option.none()
  )

/** Puts a file into a cache, or takes it out. */
export const remember = (
  source: Source,
  path: string,
  file: Option.Option<FileVersion>
): Effect.Effect<void> => {
  const key = source.cacheKey(path)
  source.noteAbsent(path, Option.isNone(file))
  return orBroken(
    () => (Option.isSome(file) ? source.cache.set(key, file.value) : source.cache.delete(key)),
    undefined
  )
}

/** What a cache holds of a path, which may be old. */
export const recall = (source: Source, path: string): Effect.Effect<Option.Option<FileVersion>> =>
  read(source.cache, source.cacheKey(path))

const missing = (remote: GitRemoteService, branch: string, probe: Probe): NotFoundError | undefined => {
  const operation = "Store.open"
  if (probe.repository === "absent") {
    return new NotFoundError({
      operation,
      message: `${remote.name} does not exist, or these credentials may not see it`,
      hint: probe.hint ?? "check the repository's name; a private repository without rights looks absent"
    })
  }
  if (probe.repository === "empty" || probe.branch) return undefined
  const other = Option.match(probe.defaultBranch, {
    onNone: () => "create the branch first",
    onSome: (name) => `create it, or use the branch ${name}`
  })
  return new NotFoundError({
    operation,
    message: `${remote.name} has no branch ${branch}`,
    hint: probe.hint ?? other
  })
}

/** Fails unless the repository is there and has the branch, or is empty. */
export const requireBranch = (remote: GitRemoteService, branch: string): Effect.Effect<void, ReadError> =>
  Effect.flatMap(remote.probe(branch), (probe) => missing(remote, branch, probe) ?? Effect.void)

/** Reads at the head of a branch. */
export const branchSource = (
  remote: GitRemoteService,
  branch: string,
  cache: Cache,
  free: boolean
): Source & { readonly forget: Effect.Effect<void> } => {
  const cacheKey = keyOf(remote, `refs/heads/${branch}`)
  let verified = false
  const seen = Effect.sync(() => {
    verified = true
  })
  /** The first absent answer asks whether repository and branch are there at all. */
  const absent = Effect.suspend(() => {
    if (verified && !free) return Effect.void
    return Effect.zipRight(
      free
        ? Effect.flatMap(remote.head(branch), (head) =>
            Option.isSome(head) ? Effect.void : requireBranch(remote, branch)
          )
        : requireBranch(remote, branch),
      seen
    )
  })
  const settle = <A>(answer: Option.Option<A>): Effect.Effect<Option.Option<A>, ReadError> =>
    Option.isSome(answer) ? Effect.as(seen, answer) : Effect.as(absent, answer)

  const headWith = (wants?: Wants) =>
    Effect.flatMap(
      remote.head(branch, wants),
      (found): Effect.Effect<Option.Option<Head>, ReadError> =>
        Effect.as(Option.isSome(found) ? seen : requireBranch(remote, branch), found)
    )
  const head = headWith()
  const absences = new Bounded<boolean>(1024)

  const source: Source = {
    pinned: false,
    cache,
    cacheKey,
    head,
    headWith,
    wasAbsent: (path) => absences.get(path) === true,
    noteAbsent: (path, isAbsent) => {
      if (isAbsent || absences.get(path) !== undefined) absences.set(path, isAbsent)
    },
    file: (path, options) =>
      Effect.gen(function* () {
        const fresh = options?.fresh === true
        const known = fresh ? Option.none<FileVersion>() : yield* read(cache, cacheKey(path))
        const answer = yield* remote.fileAtBranch(branch, path, {
          fresh,
          known: Option.getOrUndefined(Option.map(known, (entry) => ({ path, ...entry })))
        })
        const found = options?.readsOn === true && Option.isNone(answer) ? answer : yield* settle(answer)
        if (Option.isNone(found)) {
          if (fresh || Option.isSome(known)) yield* remember(source, path, Option.none())
          source.noteAbsent(path, true)
          return Option.none()
        }
        if (found.value.notModified && Option.isSome(known)) return known
        const { notModified: _, ...version } = found.value
        yield* remember(source, path, Option.some(version))
        return Option.some(version)
      }),
    directory: (path, recursive) =>
      remote.treeAtBranch === undefined
        ? Effect.flatMap(
            head,
            Option.match({
              onNone: () => Effect.succeedNone,
              onSome: (at) => pinnedDirectory(remote, at, path, recursive)
            })
          )
        : remote
            .treeAtBranch(branch, path, { recursive })
            .pipe(
              Effect.flatMap(settle),
              Effect.map(
                Option.map(({ head, tree }) =>
                  Option.isSome(head)
                    ? { tree, at: head.value, prefix: path === "" ? "" : `${path}/` }
                    : { tree, at: tree.oid, prefix: "" }
                )
              )
            )
  }
  return {
    ...source,
    forget: Effect.sync(() => {
      verified = false
      absences.clear()
    })
  }
}

const pinnedDirectory = (remote: GitRemoteService, at: Head, path: string, recursive: boolean) =>
  Effect.map(
    remote.tree(at, path, { recursive }),
    Option.map((tree) => ({ tree, at, prefix: path === "" ? "" : `${path}/` }))
  )

/** Reads of one commit (none: an empty repository). What it caches never changes. */
export const pinnedSource = (remote: GitRemoteService, at: Option.Option<Head>, cache: Cache): Source => {
  const cacheKey = keyOf(remote, Option.isNone(at) ? "" : at.value.commit)
  const source: Source = {
    pinned: true,
    cache,
    cacheKey,
    head: Effect.succeed(at),
    headWith: () => Effect.succeed(at),
    wasAbsent: () => false,
    noteAbsent: () => {},
    file: (path) =>
      Effect.gen(function* () {
        if (Option.isNone(at)) return Option.none()
        const known = yield* read(cache, cacheKey(path))
        if (Option.isSome(known)) return known
        const answer = yield* remote.file(at.value, path)
        if (Option.isNone(answer)) return Option.none()
        const version = { oid: answer.value.oid, content: answer.value.content }
        yield* remember(source, path, Option.some(version))
        return Option.some(version)
      }),
    directory: (path, recursive) =>
      Option.isNone(at) ? Effect.succeedNone : pinnedDirectory(remote, at.value, path, recursive)
  }
  return source
}
