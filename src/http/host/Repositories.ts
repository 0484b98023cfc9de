import { FileSystem, Path } from "@effect/platform"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type { RemoteError } from "../../domain/StoreError.js"
import type { GitRepository } from "../../store/git/GitRepository.js"
import { isOwner, isRepositoryName } from "./Names.js"
import { anonymous, may, type Principal } from "./Principal.js"
import { notFound, notPermitted, type Problem, requiresAuthentication } from "./Problem.js"

const Settings = Schema.Struct({
  private: Schema.Boolean,
  description: Schema.NullOr(Schema.String),
  createdAt: Schema.String
})
type Settings = typeof Settings.Type

const SettingsJson = Schema.parseJson(Settings, { space: 2 })

/** A repository of this host: its name, what is said of it, and its objects and refs. */
export interface Hosted {
  readonly owner: string
  readonly name: string
  readonly fullName: string
  readonly settings: Settings
  readonly git: GitRepository
}

/** What opens and makes bare repositories; the engine's registry. */
export interface Opening {
  readonly open: (fullName: string) => Effect.Effect<Option.Option<GitRepository>, RemoteError>
  readonly create: (fullName: string, branch: string) => Effect.Effect<GitRepository, RemoteError>
  readonly list: Effect.Effect<ReadonlyArray<string>, RemoteError>
}

export interface RepositoriesOptions {
  /** A token that may write makes a repository by using it. */
  readonly createOnFirstUse: boolean
  readonly defaultBranch: string
  /** Laid around every repository that is opened: where faults come in. */
  readonly around?: (fullName: string, git: GitRepository) => GitRepository
}

/** The repositories, and who may see and change them. What may not be seen does not exist. */
export class Repositories extends Context.Tag("chainstore/http/host/Repositories")<
  Repositories,
  {
    readonly reading: (
      principal: Principal,
      owner: string,
      name: string
    ) => Effect.Effect<Hosted, Problem | RemoteError>
    readonly writing: (
      principal: Principal,
      owner: string,
      name: string
    ) => Effect.Effect<Hosted, Problem | RemoteError>
    /** Makes a repository; none when the name is taken. */
    readonly create: (
      owner: string,
      name: string,
      settings: { readonly private: boolean; readonly description: string | null }
    ) => Effect.Effect<Option.Option<Hosted>, Problem | RemoteError>
    /** Everything that a principal may see, by name. */
    readonly visible: (principal: Principal) => Effect.Effect<ReadonlyArray<Hosted>, RemoteError>
  }
>() {}

// A hidden repository without commits: what one that is not made yet looks like to those who may make it.
const blank = "_/blank"

export const layer = (opening: Opening, options: RepositoriesOptions) =>
  Layer.effect(
    Repositories,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const known = new Map<string, Hosted>()
      const making = yield* Effect.makeSemaphore(1)

      const fallback: Settings = { private: true, description: null, createdAt: "1970-01-01T00:00:00Z" }
      const settingsFile = (git: GitRepository) => path.join(git.directory, "chainstore-host.json")
      const readSettings = (git: GitRepository) =>
        fs.readFileString(settingsFile(git)).pipe(
          Effect.flatMap(Schema.decodeUnknown(SettingsJson)),
          Effect.orElseSucceed(() => fallback)
        )
      const around = options.around ?? ((_: string, git: GitRepository) => git)

      const hosted = (fullName: string, git: GitRepository, settings: Settings): Hosted => {
        const [owner = "", name = ""] = fullName.split("/")
        return { owner, name, fullName, settings, git: around(fullName, git) }
      }

      const find = (fullName: string): Effect.Effect<Option.Option<Hosted>, RemoteError> => {
        const found = known.get(fullName)
        if (found !== undefined) return Effect.succeedSome(found)
        return making.withPermits(1)(
          Effect.gen(function* () {
            const git = yield* opening.open(fullName)
            if (Option.isNone(git)) return Option.none()
            const opened = known.get(fullName) ?? hosted(fullName, git.value, yield* readSettings(git.value))
            known.set(fullName, opened)
            return Option.some(opened)
          })
        )
      }

      const make = (
        fullName: string,
        given: { readonly private: boolean; readonly description: string | null }
      ): Effect.Effect<Option.Option<Hosted>, RemoteError> =>
        making.withPermits(1)(
          Effect.gen(function* () {
            const lower = fullName.toLowerCase()
            const taken = (yield* opening.list).some((other) => other.toLowerCase() === lower)
            if (taken) return Option.none()
            const now = new Date(yield* Clock.currentTimeMillis).toISOString()
            const settings: Settings = { ...given, createdAt: `${now.slice(0, 19)}Z` }
            const git = yield* opening.create(fullName, options.defaultBranch)
            yield* Effect.orDie(
              fs.writeFileString(
                settingsFile(git),
                yield* Effect.orDie(Schema.encode(SettingsJson)(settings))
              )
            )
            const made = hosted(fullName, git, settings)
            known.set(fullName, made)
            return Option.some(made)
          })
        )

      const named = (owner: string, name: string): string | undefined =>
        isOwner(owner) && isRepositoryName(name) ? `${owner}/${name}` : undefined

      const mayCreate = (principal: Principal, fullName: string) =>
        options.createOnFirstUse && may(principal, "write", fullName)

      const blankRepository = Effect.cached(
        Effect.flatMap(
          opening.open(blank),
          Option.match({
            onSome: Effect.succeed,
            onNone: () => opening.create(blank, options.defaultBranch)
          })
        )
      )
      const blankOnce = yield* blankRepository

      const reading = (principal: Principal, owner: string, name: string) =>
        Effect.gen(function* () {
          const fullName = named(owner, name)
          if (fullName === undefined) return yield* notFound
          const found = yield* find(fullName)
          if (Option.isSome(found)) {
            const { settings } = found.value
            if (!settings.private || may(principal, "read", fullName)) return found.value
            return yield* notFound
          }
          if (!mayCreate(principal, fullName)) return yield* notFound
          return hosted(fullName, yield* blankOnce, fallback)
        })

      return Repositories.of({
        reading,
        writing: (principal, owner, name) =>
          Effect.gen(function* () {
            const fullName = named(owner, name)
            if (fullName === undefined) return yield* notFound
            if (may(principal, "write", fullName)) {
              const found = yield* find(fullName)
              if (Option.isSome(found)) return found.value
              if (!options.createOnFirstUse) return yield* notFound
              const made = yield* make(fullName, { private: true, description: null })
              return Option.isSome(made) ? made.value : yield* notFound
            }
            yield* reading(principal, owner, name)
            return yield* principal.id === anonymous.id
              ? requiresAuthentication
              : notPermitted("contents=write")
          }),
        create: (owner, name, settings) => {
          const fullName = named(owner, name)
          return fullName === undefined ? Effect.fail(notFound) : make(fullName, settings)
        },
        visible: (principal) =>
          Effect.gen(function* () {
            const all: Array<Hosted> = []
            for (const fullName of yield* opening.list) {
              const [owner = "", name = ""] = fullName.split("/")
              if (named(owner, name) === undefined) continue
              const found = yield* find(fullName)
              if (Option.isSome(found) && (!found.value.settings.private || may(principal, "read", fullName)))
                all.push(found.value)
            }
            return all.sort((a, b) => (a.fullName < b.fullName ? -1 : 1))
          })
      })
    })
  )
