import { basename, dirname } from "node:path"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Oid } from "../../../domain/Oid.js"
import { type FieldsOf, flag, maybe, or, reader, text } from "../../../domain/Options.js"
import { RefMoved } from "../../../domain/Ref.js"
import { type NotFoundError, RemoteError, ValidationError } from "../../../domain/StoreError.js"
import {
  GitRepositories,
  type GitRepositoriesOptions,
  make,
  parseName
} from "../../../git/disk/GitRepositories.js"
import type { GitRepository } from "../../../git/disk/GitRepository.js"
import { repositoriesFields } from "../../../git/disk/RepositoriesOptions.js"
import { branchError, branchRef } from "../../../git/Names.js"
import { type Blob, GitRemote, type GitRemoteService, type Head, type Probe } from "../GitRemote.js"
import { type CommitReads, snapshotLater, snapshotOf } from "../RemoteSnapshot.js"

export interface LocalGitOptions extends GitRepositoriesOptions {
  /** `owner/name`, kept at `<directory>/<owner>/<name>.git`. Default `local/store`. */
  readonly repo?: string | undefined
  /** Create the repository when it is missing. Default true. */
  readonly create?: boolean | undefined
  /** The branch that HEAD names in a repository that is created. Default `main`. */
  readonly defaultBranch?: string | undefined
}

/** Which of the repositories, as it is read. */
const repositoryFields = {
  repo: or(text, "local/store"),
  create: or(flag, true),
  defaultBranch: maybe(text)
} satisfies FieldsOf<Pick<LocalGitOptions, "repo" | "create" | "defaultBranch">>

/** The options of a store's remote on this machine, as they are read. */
export const localGitFields = {
  ...repositoriesFields,
  ...repositoryFields
} satisfies FieldsOf<LocalGitOptions>

const readRepository = reader(Schema.Struct(repositoryFields))
const readOptions = reader(Schema.Struct(localGitFields))

const idOf = (at: Head | Oid): Oid => (typeof at === "string" ? at : at.tree)
const commitOf = (at: Head | Oid): Oid => (typeof at === "string" ? at : at.commit)

/** One open repository as the remote of a store. */
export const fromRepository = (repository: GitRepository): GitRemoteService => {
  const checked = (operation: string, branch: string): Effect.Effect<string, ValidationError> => {
    const wrong = branchError(operation, branch)
    return wrong === undefined ? Effect.succeed(branchRef(branch)) : Effect.fail(wrong)
  }

  const headAt = (commit: Oid): Effect.Effect<Option.Option<Head>, RemoteError> =>
    Effect.map(
      repository.commit(commit),
      Option.map(({ tree }) => ({ commit, tree }))
    )

  const tip = (operation: string, branch: string) =>
    Effect.flatMap(checked(operation, branch), (name) =>
      Effect.flatMap(repository.ref(name), (found) =>
        Option.isNone(found)
          ? Effect.succeed(Option.none<Head>())
          : Effect.flatMap(headAt(found.value), (head) =>
              Option.isSome(head)
                ? Effect.succeed(head)
                : Effect.fail(
                    new RemoteError({
                      operation,
                      reason: "Corrupt",
                      path: repository.directory,
                      message: `${name} points to ${found.value}, which is no commit`,
                      hint: "Run `git fsck` in the repository"
                    })
                  )
            )
      )
    )

  /** The content of a blob that a tree lists: one that cannot be found is lost, not absent. */
  const listed = (operation: string, path: string, oid: Oid): Effect.Effect<Uint8Array, RemoteError> =>
    Effect.flatMap(
      repository.object(oid),
      Option.match({
        onNone: () =>
          new RemoteError({
            operation,
            reason: "Corrupt",
            path: repository.directory,
            message: `${path} is listed, but its object ${oid} is missing`,
            hint: "Run `git fsck` in the repository and fetch the object from a clone"
          }),
        onSome: ({ content }) => Effect.succeed(content)
      })
    )

  const file: GitRemoteService["file"] = (at, path, options) =>
    Effect.flatMap(repository.lookup(idOf(at), path), (entry) =>
      Option.isNone(entry) || entry.value.kind !== "blob"
        ? Effect.succeedNone
        : options?.known?.oid === entry.value.oid
          ? Effect.succeedSome({ path, oid: entry.value.oid, content: options.known.content })
          : Effect.map(
              listed("GitRemote.file", path, entry.value.oid),
              (content): Option.Option<Blob> => Option.some({ path, oid: entry.value.oid, content })
            )
    )

  const reads: CommitReads = {
    resolve: (ref) =>
      Effect.flatMap(repository.resolve(ref), (found) =>
        Option.isNone(found) ? Effect.succeedNone : headAt(found.value)
      ),

    tree: (at, path, options) => repository.tree(idOf(at), path, options),

    file,

    blobs: (at, files) =>
      Stream.fromIterable(files).pipe(
        Stream.grouped(512),
        Stream.mapEffect((group) => {
          const wanted = Array.from(group)
          const unknown = wanted.flatMap(({ oid, path }) => (oid === undefined ? [path] : []))
          const entries = unknown.length === 0 ? Effect.succeed([]) : repository.entries(idOf(at), unknown)
          return Effect.map(entries, (listed) => {
            const blobs = new Map(
              listed.flatMap(({ kind, oid, path }) => (kind === "blob" ? [[path, oid]] : []))
            )
            return wanted.flatMap(({ oid, path }) => {
              const found = oid ?? blobs.get(path)
              return found === undefined ? [] : [{ path, oid: found }]
            })
          })
        }),
        Stream.flatMap((found) =>
          repository.blobs(found.map(({ oid }) => oid)).pipe(
            Stream.mapChunks((chunk) => chunk),
            Stream.zipWithIndex,
            Stream.mapChunks(
              Chunk.map(([{ content, oid }, index]): Blob => ({ path: found[index]!.path, oid, content }))
            )
          )
        )
      )
  }

  const commitNext: GitRemoteService["commitNext"] = (branch, build) =>
    repository.commitNext(branch, (head) => build(snapshotOf(reads, head)))

  return {
    name: `file://${repository.directory}`,
    repo: `${basename(dirname(repository.directory))}/${basename(repository.directory, ".git")}`,

    probe: (branch) =>
      Effect.gen(function* () {
        const heads = yield* repository.refs("refs/heads/")
        const defaultBranch = yield* repository.defaultBranch
        return {
          repository: heads.length === 0 ? "empty" : "present",
          branch: heads.some(({ name }) => name === branchRef(branch)),
          defaultBranch: Option.some(defaultBranch),
          write: Option.some(true)
        } satisfies Probe
      }),

    ...reads,

    head: (branch) => tip("GitRemote.head", branch),

    snapshot: (branch) => snapshotLater(reads, () => tip("GitRemote.snapshot", branch)),

    snapshotAt: (ref) => snapshotLater(reads, () => reads.resolve(ref)),

    treeAfter: (at, path, changes) =>
      repository.treeAfter(
        Option.map(at, ({ tree }) => tree),
        path,
        changes
      ),

    commit: (branch, expected, commit) =>
      Effect.flatMap(
        repository.commitNext(branch, (head) => {
          const at = Option.map(head, ({ commit: oid }) => oid)
          const wanted = Option.map(expected, ({ commit: oid }) => oid)
          return Option.getOrUndefined(at) === Option.getOrUndefined(wanted)
            ? Effect.succeed({ commit: Option.some(commit), result: undefined })
            : Effect.fail(new RefMoved({ ref: branchRef(branch), expected: wanted, actual: at }))
        }),
        ({ committed }) => Effect.orDie(committed)
      ),

    commitNext,

    health: repository.health,

    log: (at, path, options) => repository.log(commitOf(at), { path, limit: options?.limit }),

    commitInfo: (oid) => repository.commit(oid),

    diff: (before, after, options) => repository.diff(Option.map(before, idOf), idOf(after), options?.under),

    isAncestor: (ancestor, descendant) => repository.isAncestor(ancestor, descendant),

    createBranch: (branch, at) =>
      Effect.gen(function* () {
        const name = yield* checked("GitRemote.createBranch", branch)
        yield* requireCommit(repository, "GitRemote.createBranch", at)
        yield* repository.updateRef(name, Option.none(), Option.some(at))
      }),

    deleteBranch: (branch) => {
      const remove = (name: string): Effect.Effect<void, RemoteError> =>
        Effect.flatMap(repository.ref(name), (at) =>
          Option.isNone(at)
            ? Effect.void
            : Effect.catchTags(repository.updateRef(name, at, Option.none()), {
                RefMoved: () => remove(name),
                // Deleting again does no harm: that it is uncertain need not be told apart.
                AmbiguousWriteError: ({ hint, message, operation }) =>
                  new RemoteError({ operation, reason: "Server", message, hint })
              })
        )
      return Effect.flatMap(checked("GitRemote.deleteBranch", branch), remove)
    },

    listBranches: (prefix) =>
      Effect.map(repository.refs(branchRef(prefix)), (refs) =>
        refs.map(({ name, oid }) => ({ name: name.slice("refs/heads/".length), commit: oid }))
      ),

    advance: (branch, from, to) =>
      Effect.gen(function* () {
        const name = yield* checked("GitRemote.advance", branch)
        yield* requireCommit(repository, "GitRemote.advance", to)
        if (!(yield* repository.isAncestor(from, to))) {
          const actual = yield* repository.ref(name)
          return yield* Effect.fail(new RefMoved({ ref: name, expected: Option.some(from), actual }))
        }
        yield* repository.updateRef(name, Option.some(from), Option.some(to))
      }),

    budget: Effect.succeed([]),
    estimate: () => 0,
    invalidate: Effect.void
  }
}

const requireCommit = (repository: GitRepository, operation: string, oid: Oid) =>
  Effect.filterOrFail(
    repository.commit(oid),
    Option.isSome,
    () => new ValidationError({ operation, message: `${oid} is no commit of this repository` })
  )

/** The remote over one of the repositories in the context. */
export const makeFrom = (options: Pick<LocalGitOptions, "repo" | "create" | "defaultBranch">) =>
  Effect.gen(function* () {
    const { create, defaultBranch, repo } = yield* readRepository("LocalGit.layer", options)
    const repositories = yield* GitRepositories
    const { name, owner } = yield* parseName(repo)
    if (!create) return fromRepository(yield* repositories.open(owner, name))
    const { repository } = yield* repositories.create(owner, name, { defaultBranch })
    return fromRepository(repository)
  })

/** As `layer`, over repositories that are shared with others in this process, such as the host. */
export const layerFrom = (
  options: Pick<LocalGitOptions, "repo" | "create" | "defaultBranch">
): Layer.Layer<GitRemote, NotFoundError | RemoteError | ValidationError, GitRepositories> =>
  Layer.scoped(GitRemote, makeFrom(options))

/** A real bare repository on this machine as the store's remote; stock Git may use it at the same time. */
export const layer = (
  options: LocalGitOptions
): Layer.Layer<GitRemote, NotFoundError | RemoteError | ValidationError> =>
  Layer.scoped(GitRemote, scoped(options))

/** The same as a scoped value. */
export const scoped = (
  options: LocalGitOptions
): Effect.Effect<GitRemoteService, NotFoundError | RemoteError | ValidationError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* readOptions("LocalGit.layer", options)
    const { create, defaultBranch, repo, ...rest } = options
    const repositories = yield* make(rest)
    return yield* Effect.provideService(
      makeFrom({ create, defaultBranch, repo }),
      GitRepositories,
      repositories
    )
  })
