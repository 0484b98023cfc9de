import { statSync } from "node:fs"
import { FileSystem, type Error as PlatformError } from "@effect/platform"
import { Effect, Schema } from "effect"
import { RemoteError } from "../../../domain/errors/StoreError.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"

export const RepositoryMetadata = Schema.Struct({
  private: Schema.Boolean,
  description: Schema.NullOr(Schema.String),
  createdAt: Schema.String
})
export type RepositoryMetadata = typeof RepositoryMetadata.Type

/** What whoever makes a repository says of it. */
export type GivenMetadata = Pick<RepositoryMetadata, "private" | "description">

const MetadataJson = Schema.parseJson(RepositoryMetadata, { space: 2 })

/** What is assumed of a repository that somebody put into the directory: only tokens see it. */
export const unspecified: RepositoryMetadata = {
  private: true,
  description: null,
  createdAt: "1970-01-01T00:00:00Z"
}

/** What a file keeps for as long as it is the same and says the same; nothing where there is none. */
export const fileVersion = (file: string): string => {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? "" : `${found.ino} ${found.birthtimeMs} ${found.mtimeMs}`
}

/** Where the settings of a repository lie. */
export const fileIn = (directory: string): string => `${directory}/chainstore-host.json`

/** Most settings remembered at once; they are small and read again when asked for. */
const maxCached = 10_000

const unreadable = (cause: unknown) =>
  new RemoteError({
    operation: "Repositories",
    message: "The settings of the repository cannot be read.",
    reason: "Server",
    cause
  })

export const unwritable = (cause: unknown) =>
  new RemoteError({
    operation: "Repositories",
    message: "The data directory cannot be written to.",
    reason: "Denied",
    cause
  })

/** The settings of repositories, each by the directory of its repository. */
export interface MetadataFiles {
  readonly read: (directory: string) => Effect.Effect<RepositoryMetadata, RemoteError>
  readonly write: (directory: string, settings: RepositoryMetadata) => Effect.Effect<void, RemoteError>
}

export const make: Effect.Effect<MetadataFiles, never, FileSystem.FileSystem> = Effect.map(
  FileSystem.FileSystem,
  (fs) => {
    const known = new LruCache<{ readonly stamp: string; readonly settings: RepositoryMetadata }>(maxCached)
    const absent = (error: PlatformError.PlatformError) =>
      error._tag === "SystemError" && error.reason === "NotFound"
    return {
      read: (directory) =>
        Effect.suspend(() => {
          const file = fileIn(directory)
          const found = known.get(directory)
          const stamp = fileVersion(file)
          if (found?.stamp === stamp) return Effect.succeed(found.settings)
          return fs.readFileString(file).pipe(
            Effect.flatMap((text) =>
              Effect.orElseSucceed(Schema.decode(MetadataJson)(text), () => unspecified)
            ),
            Effect.catchIf(absent, () => Effect.succeed(unspecified)),
            // What could not be read says nothing, and is read again by the next request.
            Effect.mapError(unreadable),
            Effect.tap((settings) => Effect.sync(() => known.set(directory, { stamp, settings })))
          )
        }),
      // At once: who reads a part of the file would take the repository for one of which nothing is said.
      write: (directory, settings) =>
        Effect.gen(function* () {
          const text = yield* Effect.orDie(Schema.encode(MetadataJson)(settings))
          const file = fileIn(directory)
          yield* fs.writeFileString(`${file}.new`, text)
          yield* fs.rename(`${file}.new`, file)
        }).pipe(Effect.mapError(unwritable))
    }
  }
)
