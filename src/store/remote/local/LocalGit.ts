import { accessSync, constants } from "node:fs"
import { basename, dirname, join } from "node:path"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { NotFoundError, RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import {
  type FieldsOf,
  flag,
  optional,
  optionsReader,
  text,
  withDefault
} from "../../../domain/options/Options.js"
import {
  GitRepositories,
  type GitRepositoriesOptions,
  make,
  parseName
} from "../../../git/disk/GitRepositories.js"
import { repositoriesFields } from "../../../git/disk/GitRepositoriesOptions.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { GitRemote, type GitRemoteService } from "../GitRemote.js"
import { makeRepositoryRemote } from "../repository/RepositoryRemote.js"
import { withWriteRights } from "../repository/WriteRights.js"

/**
 * Options of a bare repository on this machine.
 *
 * @since 0.1.0
 * @category options
 */
export interface LocalGitOptions extends GitRepositoriesOptions {
  /** `owner/name`, kept at `<directory>/<owner>/<name>.git`. Default `local/store`. */
  readonly repo?: string | undefined
  /**
   * The former name of `repo`, which takes precedence.
   *
   * @deprecated Use `repo`.
   */
  readonly repository?: string | undefined
  /** Whether to create a missing repository. Default true. */
  readonly create?: boolean | undefined
  /** The default branch of a new repository. Default `main`. */
  readonly defaultBranch?: string | undefined
}

/** The schemas of the options that select the repository. */
const repositoryFields = {
  repo: withDefault(text, "local/store"),
  create: withDefault(flag, true),
  defaultBranch: optional(text)
} satisfies FieldsOf<Pick<LocalGitOptions, "repo" | "create" | "defaultBranch">>

/**
 * The schemas of the options.
 *
 * @since 0.1.0
 * @category rules
 */
export const localGitFields = {
  ...repositoriesFields,
  ...repositoryFields,
  repository: optional(text)
} satisfies FieldsOf<LocalGitOptions>

const readRepository = optionsReader(Schema.Struct(repositoryFields))
const readOptions = optionsReader(Schema.Struct(localGitFields))

/** Whether this process may write the files of a repository. */
const isWritable = (directory: string): boolean => {
  try {
    for (const part of [".", "objects", "refs"]) accessSync(join(directory, part), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * The remote over an open repository.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromRepository = (repository: GitRepository): GitRemoteService =>
  withWriteRights(
    makeRepositoryRemote(repository, {
      name: `file://${repository.directory}`,
      repo: `${basename(dirname(repository.directory))}/${basename(repository.directory, ".git")}`
    }),
    () => Effect.sync(() => Option.some(isWritable(repository.directory)))
  )

/**
 * The remote over one of the repositories in the context.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeFrom = (options: Pick<LocalGitOptions, "repo" | "create" | "defaultBranch">) =>
  Effect.gen(function* () {
    const { create, defaultBranch, repo } = yield* readRepository("LocalGit.layer", options)
    const repositories = yield* GitRepositories
    const { name, owner } = yield* parseName(repo)
    if (!create) return fromRepository(yield* repositories.open(owner, name))
    const { repository } = yield* repositories.create(owner, name, { defaultBranch })
    return fromRepository(repository)
  })

/**
 * The layer over repositories that are shared within this process, for example with the host.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFrom = (
  options: Pick<LocalGitOptions, "repo" | "create" | "defaultBranch">
): Layer.Layer<GitRemote, NotFoundError | RemoteError | ValidationError, GitRepositories> =>
  Layer.scoped(GitRemote, makeFrom(options))

/**
 * A remote over a bare repository on this machine. Git may use it at the same time.
 *
 * @example
 * ```ts
 * const live = Store.layer().pipe(Layer.provide(LocalGit.layer({ directory: "repos", repo: "me/data" })))
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: LocalGitOptions
): Layer.Layer<GitRemote, NotFoundError | RemoteError | ValidationError> =>
  Layer.scoped(GitRemote, scoped(options))

/**
 * The layer with options from configuration.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<LocalGitOptions>
): Layer.Layer<GitRemote, ConfigError.ConfigError | NotFoundError | RemoteError | ValidationError> =>
  Layer.scoped(GitRemote, Effect.flatMap(Config.unwrap(options), scoped))

/**
 * The remote of `layer` as a scoped value.
 *
 * @since 0.1.0
 * @category constructors
 */
export const scoped = (
  options: LocalGitOptions
): Effect.Effect<GitRemoteService, NotFoundError | RemoteError | ValidationError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* readOptions("LocalGit.layer", options)
    const { create, defaultBranch, repository, repo = repository, ...rest } = options
    const repositories = yield* make(rest)
    return yield* Effect.provideService(
      makeFrom({ create, defaultBranch, repo }),
      GitRepositories,
      repositories
    )
  })
