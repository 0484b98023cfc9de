import { statSync } from "node:fs"
import { FileSystem, Path, type Error as PlatformError } from "@effect/platform"
import { Clock, Context, Effect, Layer, Option, Predicate, Schema, Scope } from "effect"
import { Bounded } from "../../../domain/Bounded.js"
import { RemoteError, type ValidationError } from "../../../domain/StoreError.js"
import * as Engine from "../../../git/disk/Engine.js"
import { GitRepositories, isRepositoryName } from "../../../git/disk/GitRepositories.js"
import type { GitRepository } from "../../../git/disk/GitRepository.js"
import { anonymous, may, type Principal } from "../access/Principal.js"
import { conflict, notFound, notPermitted, type Problem, requiresAuthentication } from "../reply/Problem.js"
import { Faults } from "./Faults.js"
import { isOwner } from "./Names.js"
import * as Pool from "./Pool.js"
import * as Quarantine from "./Quarantine.js"
import * as Users from "./Users.js"

const Settings = Schema.Struct({
  private: Schema.Boolean,
  description: Schema.NullOr(Schema.String),
  createdAt: Schema.String
})
export type Settings = typeof Settings.Type

const SettingsJson = Schema.parseJson(Settings, { space: 2 })

/** A repository of this host, and what is said of it. */
export interface Named {
  readonly owner: string
  readonly name: string
  readonly fullName: string
  readonly settings: Settings
}

/** The same with its objects and refs, for as long as the request lasts. */
export interface Hosted extends Named {
  readonly git: GitRepository
}

export interface RepositoriesOptions {
  /** A token that may write makes a repository by using it. Until then it looks like one without commits. */
  readonly createOnFirstUse: boolean
  /** The branch that HEAD names in a new repository. Default `main`. */
  readonly defaultBranch?: string
}

type Opening = Effect.Effect<Hosted, Problem | RemoteError | ValidationError, Scope.Scope>

/** The repositories, and who may see and change them. What may not be seen does not exist. */
export class Repositories extends Context.Tag("chainstore/http/host/Repositories")<
  Repositories,
  {
    /** The directory that they lie in. */
    readonly directory: string
    readonly reading: (principal: Principal, owner: string, name: string) => Opening
    readonly writing: (principal: Principal, owner: string, name: string) => Opening
    /** Makes a repository; none when the name is taken. */
    readonly create: (
      owner: string,
      name: string,
      settings: Pick<Settings, "private" | "description">
    ) => Effect.Effect<Option.Option<Hosted>, Problem | RemoteError | ValidationError, Scope.Scope>
    /** A repository that exists, for a principal that may write to it; nothing is made by this. */
    readonly administering: (principal: Principal, owner: string, name: string) => Opening
    /** Changes what is said of a repository, and leaves the rest as it is now; returns all of it. */
    readonly update: (
      hosted: Hosted,
      changes: Partial<Pick<Settings, "private" | "description">>
    ) => Effect.Effect<Settings, RemoteError>
    /**
     * Removes a repository once its requests and their Git programs have ended; from the start, new requests do not
     * find it. Fails, and leaves it, when they do not end in time.
     */
    readonly remove: (
      principal: Principal,
      owner: string,
      name: string
    ) => Effect.Effect<void, Problem | RemoteError | ValidationError>
    /** Everything that a principal may see, by name. */
    readonly visible: (principal: Principal) => Effect.Effect<ReadonlyArray<Named>, RemoteError>
  }
>() {}

/** What is assumed of a repository that somebody put into the directory: only tokens see it. */
const unsaid: Settings = { private: true, description: null, createdAt: "1970-01-01T00:00:00Z" }

/** What a file keeps for as long as it is the same and says the same; nothing where there is none. */
const stampOf = (file: string): string => {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? "" : `${found.ino} ${found.birthtimeMs} ${found.mtimeMs}`
}

/** How long the removal of a repository waits for the requests that use it. */
const patience = "30 seconds"

const inUse = conflict("The repository is in use: try again when its transfers have ended.")

/** Most settings remembered at once; they are small and read again when asked for. */
const mostKnown = 10_000

export const layer = (options: RepositoriesOptions) =>
  Layer.scoped(
    Repositories,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const registry = yield* GitRepositories
      const faults = yield* Faults
      const known = new Bounded<{ readonly stamp: string; readonly settings: Settings }>(mostKnown)
      const pool = yield* Pool.make<{ readonly stamp: string; readonly hosted: Hosted }>()
      const making = yield* Effect.makeSemaphore(1)
      const users = yield* Users.make
      const scope = yield* Effect.scope
      // What a repository that is not made yet looks like to those who may make it.
      const blank = yield* remembered(
        Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "chainstore-blank-" }), (directory) =>
          Engine.open({
            directory: path.join(directory, "blank.git"),
            create: true,
            durability: "none",
            maintenance: false
          })
        ).pipe(Effect.mapError(unwritable), Scope.extend(scope))
      )

      const inside = (fullName: string, name: string) =>
        path.join(registry.directory, `${fullName}.git`, name)
      const file = (fullName: string) => inside(fullName, "chainstore-host.json")

      const settingsOf = (fullName: string): Effect.Effect<Settings, RemoteError> =>
        Effect.suspend(() => {
          const found = known.get(fullName)
          const stamp = stampOf(file(fullName))
          if (found?.stamp === stamp) return Effect.succeed(found.settings)
          const absent = (error: PlatformError.PlatformError) =>
            error._tag === "SystemError" && error.reason === "NotFound"
          return fs.readFileString(file(fullName)).pipe(
            Effect.flatMap((text) => Effect.orElseSucceed(Schema.decode(SettingsJson)(text), () => unsaid)),
            Effect.catchIf(absent, () => Effect.succeed(unsaid)),
            // What could not be read says nothing, and is read again by the next request.
            Effect.mapError(unreadable),
            Effect.tap((settings) => Effect.sync(() => known.set(fullName, { stamp, settings })))
          )
        })

      const hosted = (fullName: string, git: GitRepository, settings: Settings): Hosted => {
        const [owner = "", name = ""] = fullName.split("/")
        return { owner, name, fullName, settings, git: faults.around(fullName, git) }
      }

      const stampsOf = (fullName: string) =>
        `${stampOf(inside(fullName, "HEAD"))}\n${stampOf(file(fullName))}`

      const opened = (owner: string, name: string) =>
        Effect.gen(function* () {
          const fullName = `${owner}/${name}`
          const stamp = stampsOf(fullName)
          const git = yield* registry.open(owner, name)
          yield* Quarantine.clean(git.directory)
          return { stamp, hosted: hosted(fullName, git, yield* settingsOf(fullName)) }
        })

      const find = (
        owner: string,
        name: string
      ): Effect.Effect<Hosted | undefined, RemoteError | ValidationError, Scope.Scope> =>
        Effect.flatMap(users.enter(`${owner}/${name}`), (entered) => {
          if (!entered) return absent
          const fullName = `${owner}/${name}`
          const held = pool.hold(fullName, opened(owner, name)).pipe(
            Effect.map((lease) => lease.hosted),
            Effect.catchTag("NotFoundError", () => absent)
          )
          const open = pool.peek(fullName)
          // What is open is what it was, unless somebody took it away, replaced it or changed what is said of it.
          if (open !== undefined && open.stamp === stampsOf(fullName)) return held
          return Effect.zipRight(
            pool.drop(fullName),
            Effect.flatMap(registry.exists(owner, name), (exists) => (exists ? held : absent))
          )
        })

      /** At once: who reads a part of the file would take the repository for one of which nothing is said. */
      const write = (fullName: string, settings: Settings) =>
        Effect.gen(function* () {
          const text = yield* Effect.orDie(Schema.encode(SettingsJson)(settings))
          const whole = `${file(fullName)}.new`
          yield* fs.writeFileString(whole, text)
          yield* fs.rename(whole, file(fullName))
        }).pipe(Effect.mapError(unwritable))

      const make = (owner: string, name: string, given: Pick<Settings, "private" | "description">) =>
        making.withPermits(1)(
          Effect.gen(function* () {
            const fullName = `${owner}/${name}`
            const lower = fullName.toLowerCase()
            const all = yield* registry.list
            if (all.some((other) => `${other.owner}/${other.name}`.toLowerCase() === lower))
              return Option.none()
            yield* pool.drop(fullName)
            const now = new Date(yield* Clock.currentTimeMillis).toISOString()
            const settings: Settings = { ...given, createdAt: `${now.slice(0, 19)}Z` }
            const { repository } = yield* registry
              .create(owner, name, { defaultBranch: options.defaultBranch })
              .pipe(Effect.catchTag("NotFoundError", (error) => Effect.die(error)))
            yield* write(fullName, settings)
            return Option.some(hosted(fullName, repository, settings))
          })
        )

      const proper = (owner: string, name: string) => isOwner(owner) && isRepositoryName(name)

      const reading = (principal: Principal, owner: string, name: string): Opening => {
        if (!proper(owner, name)) return Effect.fail(notFound)
        const fullName = `${owner}/${name}`
        return Effect.flatMap(find(owner, name), (found): Opening => {
          if (found !== undefined) {
            const seen = !found.settings.private || may(principal, "read", fullName)
            return seen ? Effect.succeed(found) : notFound
          }
          if (!options.createOnFirstUse || !may(principal, "write", fullName)) return Effect.fail(notFound)
          return Effect.map(blank, (git) => hosted(fullName, git, unsaid))
        })
      }

      /** What `found` gives, for whoever may write; the others are told what they may know of. */
      const forWriters =
        (permission: string, found: (owner: string, name: string) => Opening) =>
        (principal: Principal, owner: string, name: string): Opening => {
          if (!proper(owner, name)) return notFound
          if (may(principal, "write", `${owner}/${name}`)) return found(owner, name)
          return Effect.zipRight(
            reading(principal, owner, name),
            principal.id === anonymous.id ? requiresAuthentication : notPermitted(permission)
          )
        }

      const existing = (owner: string, name: string): Opening =>
        Effect.filterOrFail(find(owner, name), Predicate.isNotUndefined, () => notFound)

      const administering = forWriters("administration=write", existing)

      const remove = (owner: string, name: string) => {
        const fullName = `${owner}/${name}`
        const removed = Effect.zipRight(pool.drop(fullName), registry.remove(owner, name)).pipe(
          Effect.flatMap((was) => (was ? Effect.void : notFound))
        )
        return users.without(fullName, removed, { within: patience, otherwise: inUse })
      }

      return Repositories.of({
        directory: registry.directory,
        reading,
        administering,
        update: ({ fullName }, changes) =>
          making.withPermits(1)(
            Effect.gen(function* () {
              const settings = { ...(yield* settingsOf(fullName)), ...changes }
              yield* write(fullName, settings)
              return settings
            })
          ),
        remove: (principal, owner, name) =>
          Effect.zipRight(Effect.scoped(administering(principal, owner, name)), remove(owner, name)),
        writing: forWriters("contents=write", (owner, name) =>
          Effect.gen(function* () {
            const found = yield* find(owner, name)
            if (found !== undefined) return found
            if (!options.createOnFirstUse) return yield* notFound
            const made = yield* make(owner, name, { private: true, description: null })
            return Option.isSome(made) ? made.value : yield* existing(owner, name)
          })
        ),
        create: (owner, name, settings) =>
          proper(owner, name)
            ? Effect.flatMap(users.enter(`${owner}/${name}`), (entered) =>
                entered ? make(owner, name, settings) : Effect.succeedNone
              )
            : Effect.fail(notFound),
        visible: (principal) =>
          Effect.gen(function* () {
            const all: Array<Named> = []
            for (const { name, owner } of yield* registry.list) {
              if (!proper(owner, name)) continue
              const fullName = `${owner}/${name}`
              const settings = yield* settingsOf(fullName)
              if (!settings.private || may(principal, "read", fullName))
                all.push({ owner, name, fullName, settings })
            }
            return all
          })
      })
    })
  )

const absent: Effect.Effect<Hosted | undefined> = Effect.void as Effect.Effect<undefined>

/** Runs an effect until it succeeds, and remembers only its success. */
const remembered = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E, R>> =>
  Effect.map(Effect.makeSemaphore(1), (mutex) => {
    let found: { readonly value: A } | undefined
    const find = Effect.suspend(() =>
      found === undefined
        ? Effect.tap(effect, (value) => {
            found = { value }
          })
        : Effect.succeed(found.value)
    )
    return Effect.suspend(() =>
      found === undefined ? mutex.withPermits(1)(find) : Effect.succeed(found.value)
    )
  })

const unreadable = (cause: unknown) =>
  new RemoteError({
    operation: "Repositories",
    message: "The settings of the repository cannot be read.",
    reason: "Server",
    cause
  })

const unwritable = (cause: unknown) =>
  new RemoteError({
    operation: "Repositories",
    message: "The data directory cannot be written to.",
    reason: "Denied",
    cause
  })
