import * as fs from "node:fs"
import * as path from "node:path"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import { NotFoundError, type RemoteError, ValidationError } from "../../domain/errors/StoreError.js"
import { LruCache } from "../../domain/runtime/LruCache.js"
import { isRepository } from "./BareRepository.js"
import * as Engine from "./Engine.js"
import { hasHead, makeDirectory, makeDirectorySync, pathExists } from "./files/Directories.js"
import { attempt } from "./files/EngineError.js"
import { fsyncPathSync } from "./files/FileOperations.js"
import {
  creatingPrefix,
  keepUnfinished,
  removeAbandoned,
  removingPrefix
} from "./files/UnfinishedRepositories.js"
import { type GitRepositoriesOptions, resolveOptions } from "./GitRepositoriesOptions.js"
import { hasLivingEngine } from "./lease/Lease.js"
import { MaintenanceHistory } from "./maintenance/MaintenanceHistory.js"
import type { GitRepository } from "./port/GitRepository.js"

export type { GitRepositoriesOptions, MaintenanceSchedule } from "./GitRepositoriesOptions.js"

/**
 * A repository's name in two parts.
 *
 * @since 0.1.0
 * @category models
 */
export interface RepositoryName {
  /** The directory that contains the repository. */
  readonly owner: string
  /** The name, without `.git`. */
  readonly name: string
}

class EngineKey extends Data.Class<{ readonly directory: string; readonly identity: string }> {}

/** The number of repositories whose history of maintenance is kept, and for how many milliseconds. Then everything is tried again. */
const maxHistories = 1_000
const maxHistoryAge = 24 * 60 * 60 * 1000

type OpenFailure = NotFoundError | RemoteError | ValidationError

/**
 * A new repository without a name, and the result of its preparation.
 *
 * @since 0.1.0
 * @category models
 */
export interface PreparedRepository<A> {
  /** The result of the preparation. */
  readonly result: A
  /** Publishes the repository under a name. Returns false if the name is taken. */
  readonly publish: (owner: string, name: string) => Effect.Effect<boolean, RemoteError | ValidationError>
}

/**
 * The methods of `GitRepositories`.
 *
 * @since 0.1.0
 * @category models
 */
export interface GitRepositoriesService {
  /** The absolute path of the directory of all repositories. */
  readonly directory: string
  /** Opens a repository. All users in this process share one engine. */
  readonly open: (owner: string, name: string) => Effect.Effect<GitRepository, OpenFailure, Scope.Scope>
  /** Opens a repository, and creates it with `defaultBranch` (default `main`) if it does not exist. */
  readonly create: (
    owner: string,
    name: string,
    options?: { readonly defaultBranch?: string | undefined }
  ) => Effect.Effect<
    { readonly repository: GitRepository; readonly created: boolean },
    OpenFailure,
    Scope.Scope
  >
  /**
   * Runs `write` in a new repository, which is not visible until it is published. It is removed when the scope closes, unless it
   * was published.
   */
  readonly prepare: <A, E, R>(
    write: (repository: GitRepository) => Effect.Effect<A, E, R>,
    options?: { readonly defaultBranch?: string | undefined }
  ) => Effect.Effect<PreparedRepository<A>, E | RemoteError, R | Scope.Scope>
  /** Whether a repository exists. */
  readonly exists: (owner: string, name: string) => Effect.Effect<boolean, RemoteError>
  /** Removes a repository that is not open: first its name, in one step, then its files. Returns false if it does not exist. */
  readonly remove: (owner: string, name: string) => Effect.Effect<boolean, RemoteError | ValidationError>
  /** All repositories, ordered by owner and name. */
  readonly list: Effect.Effect<ReadonlyArray<RepositoryName>, RemoteError>
}

/**
 * The bare repositories below one directory. Each has one engine, which all its users in this process share.
 *
 * @since 0.1.0
 * @category services
 */
export class GitRepositories extends Context.Tag("chainstore/git/GitRepositories")<
  GitRepositories,
  GitRepositoriesService
>() {}

const namePattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/

/**
 * Whether a text is valid as the owner or the name of a repository. It becomes a part of a path.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isRepositoryName = (text: string): boolean =>
  namePattern.test(text) && !text.endsWith(".git") && !text.endsWith(".lock") && !text.endsWith(".")

/**
 * Parses `owner/name`.
 *
 * @since 0.1.0
 * @category text
 */
export const parseName = (text: string): Effect.Effect<RepositoryName, ValidationError> => {
  const [owner = "", name = "", ...rest] = text.split("/")
  return rest.length === 0 && isRepositoryName(owner) && isRepositoryName(name)
    ? Effect.succeed({ owner, name })
    : Effect.fail(
        new ValidationError({
          operation: "GitRepositories.open",
          message: `${JSON.stringify(text)} is not a valid name of a repository`,
          hint: "Use owner/name with letters, digits, dots, dashes and underscores"
        })
      )
}

/** Identifies a directory: differs after the directory is replaced. Undefined if it does not exist. */
const identityOf = (directory: string): string | undefined => {
  const found = fs.statSync(directory, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.ino}:${found.birthtimeMs}`
}

/**
 * Opens the repositories below a directory until the scope closes. Creates the directory if it is missing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  given: GitRepositoriesOptions
): Effect.Effect<GitRepositoriesService, RemoteError | ValidationError, Scope.Scope> =>
  Effect.gen(function* () {
    const { idle, ...options } = yield* resolveOptions(given)
    const touchInterval = Duration.max(Duration.times(idle, 0.5), "1 millis")
    const root = path.resolve(options.directory)
    yield* makeDirectory(root)
    yield* Effect.forkScoped(Effect.promise(() => removeAbandoned(root, hasLivingEngine)))
    const directoryOf = ({ name, owner }: RepositoryName) => path.join(root, owner, `${name}.git`)
    /** The shared engines. A key names the directory and its identity, so that an engine never outlives its directory. */
    const engines: RcMap.RcMap<EngineKey, GitRepository, OpenFailure> = yield* RcMap.make({
      lookup: (key: EngineKey) =>
        Engine.open({
          ...options,
          directory: key.directory,
          whileMaintained: keepOpen(key),
          maintenanceHistory: historyOf(key)
        }),
      idleTimeToLive: idle
    })
    const histories = new LruCache<MaintenanceHistory>(maxHistories)
    const historyOf = ({ directory, identity }: EngineKey): MaintenanceHistory => {
      const name = `${directory}\0${identity}`
      const known = histories.get(name)
      const isRecent = known !== undefined && performance.now() - known.since < maxHistoryAge
      return isRecent ? known : histories.set(name, new MaintenanceHistory())
    }
    /** Keeps an unused engine open. A reference to it would prevent `invalidate` from closing it. */
    const keepOpen = (key: EngineKey) =>
      Effect.forever(Effect.zipRight(RcMap.touch(engines, key), Effect.sleep(touchInterval)))
    /** The key of the engine that was last opened on each directory. */
    const keys = new Map<string, EngineKey>()
    /** Closes the engine of a directory as soon as nobody uses it. */
    const invalidate = (directory: string) => {
      const key = keys.get(directory)
      return key === undefined ? Effect.void : RcMap.invalidate(engines, key)
    }
    const creationMutex = yield* Effect.makeSemaphore(1)

    const checked = (owner: string, name: string) =>
      isRepositoryName(owner) && isRepositoryName(name)
        ? Effect.succeed({ owner, name })
        : parseName(`${owner}/${name}`)

    const exists = (directory: string) =>
      attempt("GitRepositories.exists", root, () => isRepository(directory))

    /** The shared engine of a repository. It is opened again if the directory was replaced, or if opening failed before. */
    const engine = (directory: string, identity: string) =>
      Effect.suspend(() => {
        const before = keys.get(directory)
        const isSame = before?.identity === identity
        const key = isSame ? before : new EngineKey({ directory, identity })
        keys.set(directory, key)
        const found = Effect.tapErrorCause(RcMap.get(engines, key), () => RcMap.invalidate(engines, key))
        return isSame || before === undefined
          ? found
          : Effect.zipRight(RcMap.invalidate(engines, before), found)
      })

    const absent = (directory: string, { name, owner }: RepositoryName) =>
      new NotFoundError({
        operation: "GitRepositories.open",
        path: directory,
        ...(pathExists(directory)
          ? { message: `${directory} is not a bare repository`, hint: "Choose another name or directory" }
          : { message: `There is no repository ${owner}/${name} in ${root}`, hint: "Create it first" })
      })

    // Fast, because the host calls it for every request.
    const open: GitRepositoriesService["open"] = (owner, name) =>
      Effect.flatMap(checked(owner, name), (named) => {
        const directory = directoryOf(named)
        const identity = attempt("GitRepositories.open", directory, () => {
          const now = identityOf(directory)
          const isUnchanged = now !== undefined && now === keys.get(directory)?.identity
          return (isUnchanged ? hasHead(directory) : isRepository(directory)) ? now : undefined
        })
        return Effect.flatMap(
          identity,
          (now): Effect.Effect<GitRepository, OpenFailure, Scope.Scope> =>
            now === undefined ? Effect.fail(absent(directory, named)) : engine(directory, now)
        )
      })

    const create: GitRepositoriesService["create"] = (owner, name, how) =>
      Effect.gen(function* () {
        const directory = directoryOf(yield* checked(owner, name))
        const created = yield* creationMutex.withPermits(1)(
          Effect.gen(function* () {
            if (yield* exists(directory)) return false
            yield* invalidate(directory)
            yield* Engine.create({ ...options, directory, defaultBranch: how?.defaultBranch })
            return true
          })
        )
        return { repository: yield* open(owner, name), created }
      })

    const temporaryDirectory = Effect.acquireRelease(
      attempt("GitRepositories.prepare", root, () => {
        const created = fs.mkdtempSync(path.join(root, creatingPrefix))
        return { made: created, directory: path.join(created, "repository.git") }
      }),
      ({ made }) =>
        Effect.promise(() => fs.promises.rm(made, { recursive: true, force: true })).pipe(
          Effect.catchAllCause((cause) => Effect.logWarning(`${made} could not be deleted`, cause))
        )
    )

    const prepare: GitRepositoriesService["prepare"] = (write, how) =>
      Effect.gen(function* () {
        const { directory: written, made } = yield* temporaryDirectory
        yield* Effect.forkScoped(keepUnfinished(made))
        const engine = Engine.open({
          ...options,
          directory: written,
          create: true,
          defaultBranch: how?.defaultBranch,
          maintenance: false
        })
        const result = yield* Effect.scoped(Effect.flatMap(engine, write))
        return {
          result,
          publish: (owner, name) =>
            Effect.gen(function* () {
              const directory = directoryOf(yield* checked(owner, name))
              return yield* creationMutex.withPermits(1)(
                Effect.gen(function* () {
                  if (yield* exists(directory)) return false
                  yield* invalidate(directory)
                  return yield* attempt("GitRepositories.prepare", directory, () => {
                    const parent = path.dirname(directory)
                    makeDirectorySync(parent)
                    try {
                      fs.renameSync(written, directory)
                    } catch (cause) {
                      if (isRepository(directory)) return false
                      throw cause
                    }
                    if (options.durability !== "none") fsyncPathSync(parent)
                    return true
                  })
                })
              )
            }).pipe(Effect.uninterruptible)
        }
      })

    const remove: GitRepositoriesService["remove"] = (owner, name) =>
      Effect.gen(function* () {
        const directory = directoryOf(yield* checked(owner, name))
        return yield* creationMutex.withPermits(1)(
          Effect.gen(function* () {
            if (!(yield* exists(directory))) return false
            // Closes an idle engine, which would otherwise write into the directory again.
            yield* invalidate(directory)
            keys.delete(directory)
            const gone = yield* attempt("GitRepositories.remove", directory, () => {
              const parent = path.dirname(directory)
              const doomed = fs.mkdtempSync(path.join(parent, removingPrefix))
              fs.renameSync(directory, path.join(doomed, "repository.git"))
              if (options.durability !== "none") fsyncPathSync(parent)
              return doomed
            })
            yield* Effect.promise(() => fs.promises.rm(gone, { recursive: true, force: true })).pipe(
              Effect.catchAllCause((cause) => Effect.logWarning(`${gone} could not be deleted`, cause))
            )
            return true
          })
        )
      }).pipe(Effect.uninterruptible)

    const list = attempt("GitRepositories.list", root, () => {
      const found: Array<RepositoryName> = []
      for (const owner of fs.readdirSync(root).sort()) {
        if (!isRepositoryName(owner)) continue
        if (fs.statSync(path.join(root, owner), { throwIfNoEntry: false })?.isDirectory() !== true) continue
        for (const entry of fs.readdirSync(path.join(root, owner)).sort()) {
          const name = entry.slice(0, -4)
          if (
            entry.endsWith(".git") &&
            isRepositoryName(name) &&
            isRepository(path.join(root, owner, entry))
          ) {
            found.push({ owner, name })
          }
        }
      }
      return found
    })

    return {
      directory: root,
      open,
      create,
      prepare,
      exists: (owner, name) =>
        isRepositoryName(owner) && isRepositoryName(name)
          ? exists(directoryOf({ owner, name }))
          : Effect.succeed(false),
      remove,
      list
    }
  })

/**
 * A layer of `GitRepositories` for one directory.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: GitRepositoriesOptions
): Layer.Layer<GitRepositories, RemoteError | ValidationError> => Layer.scoped(GitRepositories, make(options))
