import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import { RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { branchError, branchRef } from "../../../git/Names.js"
import type { Repository as GitRepository } from "../../../git/Repository.js"
import { blobSides } from "../../../git/Tree.js"
import type { Blob, GitRemoteService, Head, PrefetchRequest, Probe, RemoteFailure } from "../GitRemote.js"
import { type CommitReads, snapshotLater, snapshotOf } from "../RemoteSnapshot.js"

/** A repository whose failures are those of the port. */
type Repository = GitRepository<RemoteFailure>

const idOf = (at: Head | Oid): Oid => (typeof at === "string" ? at : at.tree)
const commitOf = (at: Head | Oid): Oid => (typeof at === "string" ? at : at.commit)

/** The number of files whose blobs are looked up together. */
const groupSize = 512

/** The number of files of one level of a small directory. */
const maxFilesOfLevel = 64

const checked = (operation: string, branch: string): Effect.Effect<string, ValidationError> =>
  Effect.suspend(() => branchError(operation, branch) ?? Effect.succeed(branchRef(branch)))

const corrupt = (repository: Repository, operation: string, message: string, hint: string) =>
  new RemoteError({ operation, reason: "Corrupt", path: repository.name, message, hint })

/** Reads of the commits of a repository. */
const readsOf = (repository: Repository): CommitReads => {
  /** The content of a blob that a tree lists. A missing blob is a corruption, not an absent file. */
  const contentOf = (operation: string, path: string, oid: Oid): Effect.Effect<Uint8Array, RemoteFailure> =>
    Effect.flatMap(
      repository.object(oid),
      Option.match({
        onNone: () =>
          corrupt(
            repository,
            operation,
            `${path} is listed, but its object ${oid} is missing`,
            "Run `git fsck` in the repository and fetch the object from a clone"
          ),
        onSome: ({ content }) => Effect.succeed(content)
      })
    )

  const blobsOf: CommitReads["blobs"] = (at, files) => {
    const unknown = files.flatMap(({ oid, path }) => (oid === undefined ? [path] : []))
    const entries = unknown.length === 0 ? Effect.succeed([]) : repository.entries(idOf(at), unknown)
    return Stream.unwrap(
      Effect.map(entries, (listed) => {
        const oids = new Map(listed.flatMap(({ kind, oid, path }) => (kind === "blob" ? [[path, oid]] : [])))
        const found = files.flatMap(({ oid: known, path }) => {
          const oid = known ?? oids.get(path)
          return oid === undefined ? [] : [{ path, oid }]
        })
        let next = 0
        return Stream.mapChunks(
          repository.blobs(found.map(({ oid }) => oid)),
          Chunk.map(({ content, oid }): Blob => ({ path: found[next++]!.path, oid, content }))
        )
      })
    )
  }

  const { prefetchBlobs } = repository

  /** The blobs of a directory, level by level, up to the first level that has too many. */
  const blobsNear = (at: Head | Oid, path: string) =>
    Effect.gen(function* () {
      const near: Array<Oid> = []
      const top = yield* repository.lookup(idOf(at), path)
      let level = Option.exists(top, ({ kind }) => kind === "tree") ? [Option.getOrThrow(top).oid] : []
      while (level.length > 0 && level.length <= maxFilesOfLevel) {
        const trees = yield* Effect.forEach(level, (oid) => repository.tree(oid, ""))
        const entries = trees.flatMap((tree) => (Option.isSome(tree) ? tree.value.entries : []))
        const blobs = entries.flatMap(({ kind, oid }) => (kind === "blob" ? [oid] : []))
        if (blobs.length > maxFilesOfLevel) break
        near.push(...blobs)
        level = entries.flatMap(({ kind, oid }) => (kind === "tree" ? [oid] : []))
      }
      return near
    })

  /** The blobs of a prefetch request: of files, of small directories, and of both versions of changed files. */
  const wanted = (at: Head | Oid, { changedFiles: changes, files, smallDirectories = [] }: PrefetchRequest) =>
    Effect.gen(function* () {
      const entries = yield* repository.entries(idOf(at), files)
      const oids = entries.flatMap(({ kind, oid }) => (kind === "blob" ? [oid] : []))
      for (const path of smallDirectories) oids.push(...(yield* blobsNear(at, path)))
      if (changes === undefined) return oids
      const commit = yield* repository.commit(commitOf(at))
      const [parent] = Option.match(commit, { onNone: () => [], onSome: ({ parents }) => parents })
      if (parent === undefined) return oids
      const changed = yield* repository.diff(Option.some(parent), commitOf(at))
      return [
        ...oids,
        ...changed.flatMap((change) => {
          if (!changes(change.path)) return []
          const { after, before } = blobSides(change)
          return [...Option.toArray(before), ...Option.toArray(after)]
        })
      ]
    })

  return {
    ...(prefetchBlobs === undefined
      ? {}
      : { prefetch: (at, wants) => Effect.flatMap(wanted(at, wants), (oids) => prefetchBlobs(oids)) }),

    resolve: (ref) => resolveHead(repository, ref),

    tree: (at, path, options) => repository.tree(idOf(at), path, options),

    file: (at, path, options) =>
      Effect.flatMap(repository.lookup(idOf(at), path), (entry) =>
        Option.isNone(entry) || entry.value.kind !== "blob"
          ? Effect.succeedNone
          : options?.known?.oid === entry.value.oid
            ? Effect.succeedSome({ path, oid: entry.value.oid, content: options.known.content })
            : Effect.map(
                contentOf("GitRemote.file", path, entry.value.oid),
                (content): Option.Option<Blob> => Option.some({ path, oid: entry.value.oid, content })
              )
      ),

    blobs: (at, files) =>
      files.length <= groupSize
        ? blobsOf(at, files)
        : Stream.flatMap(Stream.fromChunk(Chunk.chunksOf(Chunk.unsafeFromArray(files), groupSize)), (group) =>
            blobsOf(at, Chunk.toReadonlyArray(group))
          )
  }
}

const headAt = (repository: Repository, commit: Oid): Effect.Effect<Option.Option<Head>, RemoteFailure> =>
  Effect.map(
    repository.commit(commit),
    Option.map(({ tree }) => ({ commit, tree }))
  )

const resolveHead = (
  repository: Repository,
  ...args: Parameters<Repository["resolve"]>
): Effect.Effect<Option.Option<Head>, RemoteFailure> =>
  Effect.flatMap(repository.resolve(...args), (found) =>
    Option.isNone(found) ? Effect.succeedNone : headAt(repository, found.value)
  )

/** A remote over a repository. */
export const makeRepositoryRemote = (
  repository: Repository,
  names: Pick<GitRemoteService, "name" | "repo">
): GitRemoteService => {
  const reads = readsOf(repository)

  const tip = (
    operation: string,
    branch: string,
    beforeWrite?: boolean
  ): Effect.Effect<Option.Option<Head>, RemoteFailure> =>
    Effect.flatMap(checked(operation, branch), (name) =>
      Effect.flatMap(repository.ref(name, { beforeWrite }), (at) =>
        Option.isNone(at)
          ? Effect.succeed(Option.none<Head>())
          : Effect.filterOrFail(headAt(repository, at.value), Option.isSome, () =>
              corrupt(
                repository,
                operation,
                `${name} points to ${at.value}, which is not a commit`,
                "Run `git fsck` in the repository"
              )
            )
      )
    )

  const requireCommit = (operation: string, oid: Oid) =>
    Effect.filterOrFail(
      repository.commit(oid),
      Option.isSome,
      () => new ValidationError({ operation, message: `${oid} is not a commit of this repository` })
    )

  /** Fails unless the move from one commit to the other is a fast-forward. */
  const requireForward = (operation: string, ref: string, from: Option.Option<Oid>, to: Oid) =>
    Effect.gen(function* () {
      yield* requireCommit(operation, to)
      if (Option.isNone(from) || (yield* repository.isAncestor(from.value, to))) return
      yield* new RefMoved({ ref, expected: from, actual: yield* repository.ref(ref) })
    })

  const deleteRef = (name: string): Effect.Effect<void, RemoteFailure> =>
    Effect.flatMap(repository.ref(name), (at) =>
      Option.isNone(at)
        ? Effect.void
        : Effect.catchTags(repository.updateRef(name, at, Option.none()), {
            RefMoved: () => deleteRef(name),
            // Deleting is idempotent, so an ambiguous result is an ordinary failure.
            AmbiguousWriteError: ({ hint, message, operation }) =>
              new RemoteError({ operation, reason: "Server", message, hint })
          })
    )

  const { prefetchBlobs, health, temporaryFile, updateRefs } = repository

  return {
    ...names,
    ...reads,

    probe: (branch) =>
      Effect.gen(function* () {
        const { defaultBranch, names } = yield* repository.branches
        return {
          repository: names.length === 0 ? "empty" : "present",
          branch: names.includes(branch),
          defaultBranch: Option.some(defaultBranch),
          write: Option.some(true)
        } satisfies Probe
      }),

    head: (branch) => tip("GitRemote.head", branch),

    snapshot: (branch) =>
      snapshotLater(reads, (request) => tip("GitRemote.snapshot", branch, request?.beforeWrite)),

    snapshotAt: (ref) =>
      snapshotLater(reads, (request) =>
        resolveHead(repository, ref, { withParents: request?.changedFiles !== undefined })
      ),

    treeAfter: (at, path, changes) => repository.treeAfter(Option.map(at, idOf), path, changes),

    commit: (branch, expected, commit) =>
      Effect.flatMap(
        repository.commitNext(branch, (head) => {
          const at = Option.map(head, commitOf)
          const wanted = Option.map(expected, commitOf)
          return Option.getOrUndefined(at) === Option.getOrUndefined(wanted)
            ? Effect.succeed({ commit: Option.some(commit), result: undefined })
            : Effect.fail(new RefMoved({ ref: branchRef(branch), expected: wanted, actual: at }))
        }),
        ({ committed }) => Effect.orDie(committed)
      ),

    commitNext: (branch, edit) => repository.commitNext(branch, (head) => edit(snapshotOf(reads, head))),

    ...(prefetchBlobs === undefined ? {} : { prefetchBlobs: prefetchBlobs }),

    ...(health === undefined ? {} : { health }),

    ...(temporaryFile === undefined ? {} : { temporaryFile }),

    log: (at, path, options) => repository.log(commitOf(at), { path, limit: options?.limit }),

    commitInfo: repository.commit,

    diff: (before, after, options) => repository.diff(Option.map(before, idOf), idOf(after), options?.under),

    isAncestor: repository.isAncestor,

    mergeBases: repository.mergeBases,

    createBranch: (branch, at, options) =>
      Effect.gen(function* () {
        const operation = "GitRemote.createBranch"
        const name = yield* checked(operation, branch)
        yield* requireCommit(operation, at)
        const created = repository.updateRef(name, Option.none(), Option.some(at), options)
        yield* options?.unique === true
          ? Effect.catchIf(
              created,
              (error) => error._tag === "RefMoved" && Option.contains(error.actual, at),
              () => Effect.void
            )
          : created
      }),

    deleteBranch: (branch) => Effect.flatMap(checked("GitRemote.deleteBranch", branch), deleteRef),

    listBranches: (prefix) =>
      Effect.map(repository.refs(branchRef(prefix)), (refs) =>
        refs.map(({ name, oid }) => ({ name: name.slice(branchRef("").length), commit: oid }))
      ),

    advance: (branch, from, to) =>
      Effect.gen(function* () {
        const operation = "GitRemote.advance"
        const name = yield* checked(operation, branch)
        yield* requireForward(operation, name, Option.some(from), to)
        yield* repository.updateRef(name, Option.some(from), Option.some(to))
      }),

    ...(updateRefs === undefined
      ? {}
      : {
          moveBranches: (moves) =>
            Effect.gen(function* () {
              const operation = "GitRemote.moveBranches"
              const updates = yield* Effect.forEach(moves, ({ branch, from, to }) =>
                Effect.map(checked(operation, branch), (name) => ({ name, expected: from, next: to }))
              )
              for (const { expected, name, next } of updates) {
                if (Option.isSome(next)) yield* requireForward(operation, name, expected, next.value)
              }
              yield* updateRefs(updates)
            })
        }),

    budget: Effect.succeed([]),
    estimate: () => 0,
    invalidate: Effect.void
  }
}
