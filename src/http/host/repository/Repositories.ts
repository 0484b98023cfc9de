import { FileSystem, Path } from "@effect/platform"
import { Clock, Context, Effect, Layer, Option, Predicate, Scope } from "effect"
import type { RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import * as Engine from "../../../git/disk/Engine.js"
import { hasHead } from "../../../git/disk/files/Directories.js"
import { GitRepositories, isRepositoryName } from "../../../git/disk/GitRepositories.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { anonymous, isGranted, type Principal } from "../access/Principal.js"
import {
  conflict,
  type HostError,
  notFound,
  notPermitted,
  requiresAuthentication
} from "../reply/HostError.js"
import { Faults } from "./Faults.js"
import { isOwnerName } from "./HostNames.js"
import * as PullRequestHeads from "./PullRequestHeads.js"
import * as RepositoryMetadata from "./RepositoryMetadata.js"
import * as RepositoryUsage from "./RepositoryUsage.js"

/** A repository of this host and its metadata. */
export interface RepositoryInfo {
  readonly owner: string
  readonly name: string
  readonly fullName: string
  readonly metadata: RepositoryMetadata.RepositoryMetadata
}

/** A repository that is open for the duration of a request. */
export interface HostedRepository extends RepositoryInfo {
  readonly git: GitRepository
  /** False if the repository does not exist yet. It looks empty and is created by the first successful write. */
  readonly exists: boolean
}

export interface RepositoriesOptions {
  /**
   * Whether the first write to a missing repository creates it. Until then the repository looks empty to tokens that
   * may write it.
   */
  readonly createOnFirstUse: boolean
  /** The branch that HEAD names in a new repository. Default: `main`. */
  readonly defaultBranch?: string
}

type Failure = HostError | RemoteError | ValidationError
type Opening = Effect.Effect<HostedRepository, Failure, Scope.Scope>

/** The repositories and their access control. A repository that the caller may not read is reported as missing. */
export class Repositories extends Context.Tag("chainstore/http/host/Repositories")<
  Repositories,
  {
    /** The directory of the repositories. */
    readonly directory: string
    readonly openForRead: (principal: Principal, owner: string, name: string) => Opening
    readonly openForWrite: (principal: Principal, owner: string, name: string) => Opening
    /**
     * Runs a write that may be the first one. If the repository does not exist, it is created together with the
     * write, and only if the write creates a ref. If another write creates it meanwhile, this write runs again on
     * that repository.
     */
    readonly firstWrite: <A, E, R>(
      hosted: HostedRepository,
      write: (hosted: HostedRepository) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | Failure, R | Scope.Scope>
    /** Creates a repository together with the result of `write`. None if the name is taken. */
    readonly create: <E = never, R = never>(
      owner: string,
      name: string,
      settings: RepositoryMetadata.GivenMetadata,
      write?: (hosted: HostedRepository) => Effect.Effect<unknown, E, R>
    ) => Effect.Effect<Option.Option<HostedRepository>, E | Failure, R | Scope.Scope>
    /** Opens an existing repository for a principal with write access. */
    readonly openForAdministration: (principal: Principal, owner: string, name: string) => Opening
    /** Changes some metadata and returns all of it. */
    readonly update: (
      hosted: HostedRepository,
      changes: Partial<RepositoryMetadata.GivenMetadata>
    ) => Effect.Effect<RepositoryMetadata.RepositoryMetadata, RemoteError>
    /**
     * Removes a repository after its running requests and Git processes end. New requests do not find it. Fails and
     * keeps it if they do not end in time.
     */
    readonly remove: (principal: Principal, owner: string, name: string) => Effect.Effect<void, Failure>
    /** Lists the repositories that a principal may read, ordered by name. */
    readonly listVisible: (principal: Principal) => Effect.Effect<ReadonlyArray<RepositoryInfo>, RemoteError>
  }
>() {}

/** How long a removal waits for running requests. */
const removalTimeout = "30 seconds"

const inUse = conflict("The repository is in use: try again when its transfers have ended.")

export const layer = (options: RepositoriesOptions) =>
  Layer.scoped(
    Repositories,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const registry = yield* GitRepositories
      const faults = yield* Faults
      const metadataFiles = yield* RepositoryMetadata.make
      const making = yield* Effect.makeSemaphore(1)
      const users = yield* RepositoryUsage.make
      const scope = yield* Effect.scope
      // An empty repository, which represents a missing repository to callers that may create it.
      const blank = yield* cachedWhile(
        Effect.acquireRelease(fs.makeTempDirectory({ prefix: "chainstore-blank-" }), (directory) =>
          Effect.ignore(fs.remove(directory, { recursive: true, force: true }))
        ).pipe(
          Effect.flatMap((directory) =>
            Engine.open({
              directory: path.join(directory, "blank.git"),
              create: true,
              defaultBranch: options.defaultBranch,
              durability: "none",
              maintenance: false
            })
          ),
          Effect.mapError(RepositoryMetadata.unwritable),
          Scope.extend(scope)
        ),
        // The system may delete old temporary directories.
        ({ directory }) => hasHead(directory)
      )

      const directoryOf = (fullName: string) => path.join(registry.directory, `${fullName}.git`)

      const hosted = (
        fullName: string,
        git: GitRepository,
        metadata: RepositoryMetadata.RepositoryMetadata,
        exists: boolean
      ): HostedRepository => {
        const [owner = "", name = ""] = fullName.split("/")
        return {
          owner,
          name,
          fullName,
          metadata,
          git: faults.wrap(fullName, PullRequestHeads.wrap(git)),
          exists
        }
      }

      const find = (
        owner: string,
        name: string
      ): Effect.Effect<HostedRepository | undefined, RemoteError | ValidationError, Scope.Scope> =>
        Effect.flatMap(users.acquire(`${owner}/${name}`), (entered) =>
          entered
            ? registry.open(owner, name).pipe(
                Effect.flatMap((git) =>
                  Effect.map(metadataFiles.read(git.directory), (metadata) =>
                    hosted(`${owner}/${name}`, git, metadata, true)
                  )
                ),
                Effect.catchTag("NotFoundError", () => notThere)
              )
            : notThere
        )

      /** Whether a name is taken, ignoring case. */
      const isTaken = (fullName: string) =>
        Effect.map(registry.list, (all) =>
          all.some(({ name, owner }) => `${owner}/${name}`.toLowerCase() === fullName.toLowerCase())
        )

      /**
       * Creates a repository together with the result of `write`, if `isKept` returns true. None if the name is
       * taken.
       */
      const make = <A, E, R>(
        owner: string,
        name: string,
        newMetadata: RepositoryMetadata.GivenMetadata,
        write: (hosted: HostedRepository) => Effect.Effect<A, E, R>,
        isKept: (git: GitRepository) => Effect.Effect<boolean, RemoteError>
      ) =>
        Effect.gen(function* () {
          const fullName = `${owner}/${name}`
          if (yield* isTaken(fullName)) return Option.none()
          const now = new Date(yield* Clock.currentTimeMillis).toISOString()
          const metadata: RepositoryMetadata.RepositoryMetadata = {
            ...newMetadata,
            createdAt: `${now.slice(0, 19)}Z`
          }
          const written = (git: GitRepository) =>
            Effect.gen(function* () {
              const value = yield* write(hosted(fullName, git, metadata, true))
              yield* metadataFiles.write(git.directory, metadata)
              return { value, kept: yield* isKept(git) }
            })
          const { publish, result } = yield* registry.prepare(written, {
            defaultBranch: options.defaultBranch
          })
          if (!result.kept) return Option.some(result.value)
          const done = yield* making.withPermits(1)(
            Effect.flatMap(isTaken(fullName), (taken) =>
              taken ? Effect.succeed(false) : publish(owner, name)
            )
          )
          return done ? Option.some(result.value) : Option.none()
        }).pipe(Effect.scoped)

      const areValidNames = (owner: string, name: string) => isOwnerName(owner) && isRepositoryName(name)

      const reading = (principal: Principal, owner: string, name: string): Opening => {
        if (!areValidNames(owner, name)) return Effect.fail(notFound)
        const fullName = `${owner}/${name}`
        return Effect.flatMap(find(owner, name), (found): Opening => {
          if (found !== undefined) {
            const seen = !found.metadata.private || isGranted(principal, "read", fullName)
            return seen ? Effect.succeed(found) : notFound
          }
          if (!options.createOnFirstUse || !isGranted(principal, "write", fullName))
            return Effect.fail(notFound)
          return Effect.map(blank, (git) => hosted(fullName, git, RepositoryMetadata.unspecified, false))
        })
      }

      const existing = (owner: string, name: string): Opening =>
        Effect.filterOrFail(find(owner, name), Predicate.isNotUndefined, () => notFound)

      /**
       * Opens a repository by `found` for principals with write access. Others get the error that their read access
       * allows.
       */
      const forWriters =
        (permission: string, found: typeof reading) =>
        (principal: Principal, owner: string, name: string): Opening => {
          if (!areValidNames(owner, name)) return notFound
          if (isGranted(principal, "write", `${owner}/${name}`)) return found(principal, owner, name)
          return Effect.zipRight(
            reading(principal, owner, name),
            principal.id === anonymous.id ? requiresAuthentication : notPermitted(permission)
          )
        }

      const administering = forWriters("administration=write", (_, owner, name) => existing(owner, name))

      const remove = (owner: string, name: string) => {
        const fullName = `${owner}/${name}`
        const removed = Effect.flatMap(registry.remove(owner, name), (was) => (was ? Effect.void : notFound))
        return users.whenUnused(fullName, removed, { within: removalTimeout, otherwise: inUse })
      }

      return Repositories.of({
        directory: registry.directory,
        openForRead: reading,
        openForAdministration: administering,
        update: ({ fullName }, changes) =>
          making.withPermits(1)(
            Effect.gen(function* () {
              const directory = directoryOf(fullName)
              const metadata = { ...(yield* metadataFiles.read(directory)), ...changes }
              yield* metadataFiles.write(directory, metadata)
              return metadata
            })
          ),
        remove: (principal, owner, name) =>
          Effect.zipRight(Effect.scoped(administering(principal, owner, name)), remove(owner, name)),
        openForWrite: forWriters("contents=write", reading),
        firstWrite: (hosted, write) =>
          Effect.gen(function* () {
            if (hosted.exists) return yield* write(hosted)
            const { name, owner } = hosted
            const found = yield* find(owner, name)
            if (found !== undefined) return yield* write(found)
            const created = yield* make(owner, name, { private: true, description: null }, write, hasRefs)
            return Option.isSome(created) ? created.value : yield* write(yield* existing(owner, name))
          }),
        create: (owner, name, given, write) =>
          Effect.gen(function* () {
            if (!areValidNames(owner, name)) return yield* notFound
            if (!(yield* users.acquire(`${owner}/${name}`))) return Option.none()
            const created = yield* make(owner, name, given, write ?? (() => Effect.void), () =>
              Effect.succeed(true)
            )
            return Option.isSome(created) ? Option.some(yield* existing(owner, name)) : Option.none()
          }),
        listVisible: (principal) =>
          Effect.gen(function* () {
            const all: Array<RepositoryInfo> = []
            for (const { name, owner } of yield* registry.list) {
              if (!areValidNames(owner, name)) continue
              const fullName = `${owner}/${name}`
              const metadata = yield* metadataFiles.read(directoryOf(fullName))
              if (!metadata.private || isGranted(principal, "read", fullName))
                all.push({ owner, name, fullName, metadata })
            }
            return all
          })
      })
    })
  )

const hasRefs = (git: GitRepository) => Effect.map(git.refs("refs/"), (refs) => refs.length > 0)

const notThere: Effect.Effect<HostedRepository | undefined> = Effect.void as Effect.Effect<undefined>

/** Caches the first result of an effect for as long as `isGood` holds. */
const cachedWhile = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  isGood: (found: A) => boolean
): Effect.Effect<Effect.Effect<A, E, R>> =>
  Effect.map(Effect.makeSemaphore(1), (mutex) => {
    let found: { readonly value: A } | undefined
    return mutex.withPermits(1)(
      Effect.suspend(() =>
        found !== undefined && isGood(found.value)
          ? Effect.succeed(found.value)
          : Effect.tap(effect, (value) => {
              found = { value }
            })
      )
    )
  })
