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

/** A repository of this host, and what is said of it. */
export interface RepositoryInfo {
  readonly owner: string
  readonly name: string
  readonly fullName: string
  readonly metadata: RepositoryMetadata.RepositoryMetadata
}

/** The same with its objects and refs, for as long as the request lasts. */
export interface HostedRepository extends RepositoryInfo {
  readonly git: GitRepository
  /** False of one that is made by the first write that succeeds, and looks empty until then. */
  readonly exists: boolean
}

export interface RepositoriesOptions {
  /** A token that may write makes a repository by its first write to it. Until then it looks like one without commits. */
  readonly createOnFirstUse: boolean
  /** The branch that HEAD names in a new repository. Default `main`. */
  readonly defaultBranch?: string
}

type Failure = HostError | RemoteError | ValidationError
type Opening = Effect.Effect<HostedRepository, Failure, Scope.Scope>

/** The repositories, and who may see and change them. What may not be seen does not exist. */
export class Repositories extends Context.Tag("chainstore/http/host/Repositories")<
  Repositories,
  {
    /** The directory that they lie in. */
    readonly directory: string
    readonly openForRead: (principal: Principal, owner: string, name: string) => Opening
    readonly openForWrite: (principal: Principal, owner: string, name: string) => Opening
    /**
     * Runs a write that may be the first. A repository that does not exist is made by it, and only if it leaves a ref:
     * with all that was written, or not at all. Where another write makes it meanwhile, this one is run again, on that.
     */
    readonly firstWrite: <A, E, R>(
      hosted: HostedRepository,
      write: (hosted: HostedRepository) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | Failure, R | Scope.Scope>
    /** Makes a repository with what `write` writes into it, or not at all; none when the name is taken. */
    readonly create: <E = never, R = never>(
      owner: string,
      name: string,
      settings: RepositoryMetadata.GivenMetadata,
      write?: (hosted: HostedRepository) => Effect.Effect<unknown, E, R>
    ) => Effect.Effect<Option.Option<HostedRepository>, E | Failure, R | Scope.Scope>
    /** A repository that exists, for a principal that may write to it; nothing is made by this. */
    readonly openForAdministration: (principal: Principal, owner: string, name: string) => Opening
    /** Changes what is said of a repository, and leaves the rest as it is now; returns all of it. */
    readonly update: (
      hosted: HostedRepository,
      changes: Partial<RepositoryMetadata.GivenMetadata>
    ) => Effect.Effect<RepositoryMetadata.RepositoryMetadata, RemoteError>
    /**
     * Removes a repository once its requests and their Git programs have ended; from the start, new requests do not
     * find it. Fails, and leaves it, when they do not end in time.
     */
    readonly remove: (principal: Principal, owner: string, name: string) => Effect.Effect<void, Failure>
    /** Everything that a principal may see, by name. */
    readonly listVisible: (principal: Principal) => Effect.Effect<ReadonlyArray<RepositoryInfo>, RemoteError>
  }
>() {}

/** How long the removal of a repository waits for the requests that use it. */
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
      const settings = yield* RepositoryMetadata.make
      const making = yield* Effect.makeSemaphore(1)
      const users = yield* RepositoryUsage.make
      const scope = yield* Effect.scope
      // What a repository that is not made yet looks like to those who may make it.
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
        // Systems clear temporary directories of what is old.
        ({ directory }) => hasHead(directory)
      )

      const directoryOf = (fullName: string) => path.join(registry.directory, `${fullName}.git`)

      const hosted = (
        fullName: string,
        git: GitRepository,
        said: RepositoryMetadata.RepositoryMetadata,
        exists: boolean
      ): HostedRepository => {
        const [owner = "", name = ""] = fullName.split("/")
        return {
          owner,
          name,
          fullName,
          metadata: said,
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
                  Effect.map(settings.read(git.directory), (said) =>
                    hosted(`${owner}/${name}`, git, said, true)
                  )
                ),
                Effect.catchTag("NotFoundError", () => notThere)
              )
            : notThere
        )

      /** Whether a name is taken, also where it is written in other letters. */
      const isTaken = (fullName: string) =>
        Effect.map(registry.list, (all) =>
          all.some(({ name, owner }) => `${owner}/${name}`.toLowerCase() === fullName.toLowerCase())
        )

      /** Makes a repository with what `write` writes into it, where `isKept` then says so; none when the name is taken. */
      const make = <A, E, R>(
        owner: string,
        name: string,
        given: RepositoryMetadata.GivenMetadata,
        write: (hosted: HostedRepository) => Effect.Effect<A, E, R>,
        isKept: (git: GitRepository) => Effect.Effect<boolean, RemoteError>
      ) =>
        Effect.gen(function* () {
          const fullName = `${owner}/${name}`
          if (yield* isTaken(fullName)) return Option.none()
          const now = new Date(yield* Clock.currentTimeMillis).toISOString()
          const said: RepositoryMetadata.RepositoryMetadata = { ...given, createdAt: `${now.slice(0, 19)}Z` }
          const written = (git: GitRepository) =>
            Effect.gen(function* () {
              const value = yield* write(hosted(fullName, git, said, true))
              yield* settings.write(git.directory, said)
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

      /** What `found` gives, for whoever may write; the others are told what they may know of. */
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
              const said = { ...(yield* settings.read(directory)), ...changes }
              yield* settings.write(directory, said)
              return said
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
            const made = yield* make(owner, name, { private: true, description: null }, write, hasRefs)
            return Option.isSome(made) ? made.value : yield* write(yield* existing(owner, name))
          }),
        create: (owner, name, given, write) =>
          Effect.gen(function* () {
            if (!areValidNames(owner, name)) return yield* notFound
            if (!(yield* users.acquire(`${owner}/${name}`))) return Option.none()
            const made = yield* make(owner, name, given, write ?? (() => Effect.void), () =>
              Effect.succeed(true)
            )
            return Option.isSome(made) ? Option.some(yield* existing(owner, name)) : Option.none()
          }),
        listVisible: (principal) =>
          Effect.gen(function* () {
            const all: Array<RepositoryInfo> = []
            for (const { name, owner } of yield* registry.list) {
              if (!areValidNames(owner, name)) continue
              const fullName = `${owner}/${name}`
              const said = yield* settings.read(directoryOf(fullName))
              if (!said.private || isGranted(principal, "read", fullName))
                all.push({ owner, name, fullName, metadata: said })
            }
            return all
          })
      })
    })
  )

const hasRefs = (git: GitRepository) => Effect.map(git.refs("refs/"), (refs) => refs.length > 0)

const notThere: Effect.Effect<HostedRepository | undefined> = Effect.void as Effect.Effect<undefined>

/** Runs an effect until it succeeds, and again where its result is not good any more; returns what it has found. */
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
