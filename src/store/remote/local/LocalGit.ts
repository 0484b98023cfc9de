import { basename, dirname } from "node:path"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
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

/**
 * Options of a bare repository on this machine.
 *
 * @since 0.1.0
 * @category options
 */
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
  repo: withDefault(text, "local/store"),
  create: withDefault(flag, true),
  defaultBranch: optional(text)
} satisfies FieldsOf<Pick<LocalGitOptions, "repo" | "create" | "defaultBranch">>

/**
 * The options of a store's remote on this machine, as they are read.
 *
 * @since 0.1.0
 * @category rules
 */
export const localGitFields = {
  ...repositoriesFields,
  ...repositoryFields
} satisfies FieldsOf<LocalGitOptions>

const readRepository = optionsReader(Schema.Struct(repositoryFields))
const readOptions = optionsReader(Schema.Struct(localGitFields))

/**
 * One open repository as the remote of a store.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromRepository = (repository: GitRepository): GitRemoteService =>
  makeRepositoryRemote(repository, {
    name: `file://${repository.directory}`,
    repo: `${basename(dirname(repository.directory))}/${basename(repository.directory, ".git")}`
  })

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
 * As `layer`, over repositories that are shared with others in this process, such as the host.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFrom = (
  options: Pick<LocalGitOptions, "repo" | "create" | "defaultBranch">
): Layer.Layer<GitRemote, NotFoundError | RemoteError | ValidationError, GitRepositories> =>
  Layer.scoped(GitRemote, makeFrom(options))

/**
 * A real bare repository on this machine as the store's remote; stock Git may use it at the same time.
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
 * The same, with options from configuration.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<LocalGitOptions>
): Layer.Layer<GitRemote, ConfigError.ConfigError | NotFoundError | RemoteError | ValidationError> =>
  Layer.scoped(GitRemote, Effect.flatMap(Config.unwrap(options), scoped))

/**
 * The same as a scoped value.
 *
 * @since 0.1.0
 * @category constructors
 */
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
