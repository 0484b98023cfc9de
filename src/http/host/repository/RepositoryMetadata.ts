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

/** The metadata that the creator of a repository chooses. */
export type GivenMetadata = Pick<RepositoryMetadata, "private" | "description">

const MetadataJson = Schema.parseJson(RepositoryMetadata, { space: 2 })

/** The metadata of a repository without a metadata file, which was copied into the directory. It is private. */
export const unspecified: RepositoryMetadata = {
  private: true,
  description: null,
  createdAt: "1970-01-01T00:00:00Z"
}

/** A stamp that changes with the file; empty if the file is missing. */
export const fileVersion = (file: string): string => {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? "" : `${found.ino} ${found.birthtimeMs} ${found.mtimeMs}`
}

/** The metadata file of a repository. */
export const fileIn = (directory: string): string => `${directory}/chainstore-host.json`

/** The maximum number of cached entries. */
const maxCached = 10_000

const unreadable = (cause: unknown) =>
  new RemoteError({
    operation: "Repositories",
    message: "The metadata of the repository cannot be read.",
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

/** Reads and writes metadata files by repository directory. */
export interface MetadataFiles {
  readonly read: (directory: string) => Effect.Effect<RepositoryMetadata, RemoteError>
  readonly write: (directory: string, settings: RepositoryMetadata) => Effect.Effect<void, RemoteError>
}

export const make: Effect.Effect<MetadataFiles, never, FileSystem.FileSystem> = Effect.map(
  FileSystem.FileSystem,
  (fs) => {
    const cached = new LruCache<{ readonly stamp: string; readonly settings: RepositoryMetadata }>(maxCached)
    const absent = (error: PlatformError.PlatformError) =>
      error._tag === "SystemError" && error.reason === "NotFound"
    return {
      read: (directory) =>
        Effect.suspend(() => {
          const file = fileIn(directory)
          const found = cached.get(directory)
          const stamp = fileVersion(file)
          if (found?.stamp === stamp) return Effect.succeed(found.settings)
          return fs.readFileString(file).pipe(
            Effect.flatMap((text) =>
              Effect.orElseSucceed(Schema.decode(MetadataJson)(text), () => unspecified)
            ),
            Effect.catchIf(absent, () => Effect.succeed(unspecified)),
            // A failed read is not cached.
            Effect.mapError(unreadable),
            Effect.tap((settings) => Effect.sync(() => cached.set(directory, { stamp, settings })))
          )
        }),
      // The file is replaced atomically: a partial file would be read as missing metadata.
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
