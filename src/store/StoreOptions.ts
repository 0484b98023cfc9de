import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { ValidationError } from "../domain/errors/StoreError.js"
import {
  duration,
  type FieldsOf,
  flag,
  optional,
  optionsReader,
  person,
  text,
  valueKind,
  wholeNumber,
  withDefault
} from "../domain/options/Options.js"
import { type RequestedSettings, readSettings, type SettingsOptions } from "../domain/settings/Settings.js"
import type { DurationInput } from "../domain/time/DurationInput.js"
import { branchProblem } from "../git/Names.js"
import { type Batching, BatchingTypeId } from "./Batching.js"
import { AsyncCache, Cache, fromAsync, MemoryCache, NullCache } from "./Cache.js"
import { type CollectionDefinition, isDefinition } from "./CollectionDefinition.js"
import { normaliseRoot, rootProblem } from "./DocumentPath.js"
import type { Signature } from "./remote/GitRemote.js"

/**
 * Options of a store, on any remote. `Ref` is the type of the option `ref`: it determines the errors of opening.
 *
 * @since 0.1.0
 * @category options
 */
export interface StoreOptions<Ref extends string | undefined = string | undefined> extends SettingsOptions {
  /** Definitions, whose indexes and manifests are added to `indexes` and `manifests`. */
  readonly collections?: ReadonlyArray<CollectionDefinition> | undefined
  /** The branch for reads and writes. Default `main`. */
  readonly branch?: string | undefined
  /** The directory of the collections, `""` for the root of the repository. Default `data`. */
  readonly root?: string | undefined
  /** How often a single-document write is retried because another writer changed the document. Default 2. */
  readonly conflictRetries?: number | undefined
  /** How often a batch is retried because the branch moved. Default 2. */
  readonly batchRetries?: number | undefined
  /** `true` (default) for a `MemoryCache`, `false` for none, or a `Cache` or an `AsyncCache`. */
  readonly cache?: boolean | Cache | AsyncCache | undefined
  /**
   * Combines the reads that one fiber tree makes at the same time under `batching: true`: the value that
   * `chainstore/batching` exports. Default: each `get` reads on its own.
   */
  readonly batching?: Batching | undefined
  /** Concurrent requests of reads of many documents. Default 1. */
  readonly concurrency?: number | undefined
  /** The committer of every commit. Default: the remote's choice. */
  readonly committer?: Signature | undefined
  /** The author of every commit. Default: the remote's choice. */
  readonly author?: Signature | undefined
  /** Writes fail with `AuthError`. Default false. */
  readonly readOnly?: boolean | undefined
  /**
   * Uses index files that do not record the version of the collection that they describe, as other programs write them.
   * Such an index may lack documents. Default false: `findBy` scans until a write or `reindex` rewrites the index.
   */
  readonly trustForeignIndexes?: boolean | undefined
  /** Reads this commit or tag instead of the branch; implies `readOnly`. */
  readonly ref?: Ref | undefined
  /** How long a write is retried while other writers move the branch. Default 30 seconds. */
  readonly deadline?: DurationInput | undefined
}

/** Options with all defaults filled in. */
export interface ResolvedOptions {
  readonly collections?: ReadonlyArray<CollectionDefinition> | undefined
  readonly branch: string
  readonly root: string
  readonly conflictRetries: number
  readonly batchRetries: number
  readonly cache: Cache
  /** A new cache of the same kind, for a view. */
  readonly viewCache: () => Cache
  readonly batching: Batching | undefined
  readonly concurrency: number
  readonly committer: Signature | undefined
  readonly author: Signature | undefined
  readonly readOnly: boolean
  readonly trustForeignIndexes: boolean
  readonly ref: string | undefined
  readonly deadline: Duration.Duration
  readonly given: RequestedSettings
}

const followed = <A, I>(schema: Schema.Schema<A, I>, problemOf: (value: A) => string | undefined) =>
  schema.pipe(Schema.filter((value) => problemOf(value) ?? true))

/** The schema of one of the settings that all clients share; problems are reported with their path. */
const setting = (name: keyof SettingsOptions) =>
  optional(
    Schema.Unknown.pipe(
      Schema.filter((value) =>
        Either.match(readSettings({ [name]: value }), {
          onRight: () => [],
          onLeft: (problems) =>
            problems.map(({ message, path }) => ({ path: path.split(".").slice(1), message }))
        })
      )
    )
  )

/** The schemas of the options of a store on any remote. */
export const storeFields = {
  collections: optional(
    valueKind<ReadonlyArray<CollectionDefinition>>(
      "a list of definitions",
      (value) => Array.isArray(value) && value.every(isDefinition),
      { hint: "Collection.define makes one" }
    )
  ),
  branch: withDefault(
    followed(text, (name) => {
      const problem = branchProblem(name)
      return problem === undefined ? undefined : `is not the name of a branch: ${problem}`
    }),
    "main"
  ),
  root: withDefault(followed(text, rootProblem), "data"),
  conflictRetries: withDefault(wholeNumber(0), 2),
  batchRetries: withDefault(wholeNumber(0), 2),
  cache: withDefault(
    valueKind<boolean | Cache | AsyncCache>(
      "true, false or an instance of a subclass of Cache or AsyncCache",
      (value) => typeof value === "boolean" || value instanceof Cache || value instanceof AsyncCache
    ),
    true
  ),
  batching: optional(
    valueKind<Batching>("what chainstore/batching exports", (value) =>
      Predicate.hasProperty(value, BatchingTypeId)
    )
  ),
  concurrency: withDefault(wholeNumber(1), 1),
  committer: optional(person),
  author: optional(person),
  readOnly: withDefault(flag, false),
  trustForeignIndexes: withDefault(flag, false),
  ref: optional(
    valueKind<string>("the id of a commit, or a tag", (value) => typeof value === "string" && value !== "")
  ),
  deadline: withDefault(duration(), Duration.seconds(30)),
  format: setting("format"),
  shardBy: setting("shardBy"),
  shardDepth: setting("shardDepth"),
  shardWidth: setting("shardWidth"),
  indexes: setting("indexes"),
  manifests: setting("manifests"),
  merge: setting("merge")
} satisfies FieldsOf<StoreOptions>

const read = optionsReader(Schema.Struct(storeFields))

type Found = Either.Either.Right<ReturnType<typeof read>>

/** Adds the indexes and manifests of the definitions to those of the options. */
const withDefinitions = ({
  collections = [],
  indexes,
  manifests
}: Found): Either.Either<Found, ValidationError> => {
  const all = {
    indexes: { ...(indexes as object) },
    manifests: Array.isArray(manifests)
      ? Object.fromEntries(manifests.map((name) => [name, []]))
      : { ...(manifests as object) }
  }
  const given = { indexes, manifests }
  for (const { indexes, manifest, name } of collections) {
    for (const [setting, fields] of [["indexes", indexes] as const, ["manifests", manifest] as const]) {
      if (fields === undefined) continue
      if (Object.hasOwn(all[setting], name)) {
        return Either.left(
          new ValidationError({
            operation: "Store.make",
            message: `collections: the ${setting} of ${name} are given twice`,
            hint: "give them in its definition alone"
          })
        )
      }
      given[setting] = Object.assign(all[setting], { [name]: fields })
    }
  }
  return read("Store.make", given)
}

const cacheOf = (given: boolean | Cache | AsyncCache): Cache => {
  if (typeof given === "boolean") return given ? new MemoryCache() : new NullCache()
  return given instanceof AsyncCache ? fromAsync(given) : given
}

/**
 * Checks options and fills in the defaults.
 *
 * @since 0.1.0
 * @category utilities
 */
export const resolveOptions = (options: StoreOptions): Either.Either<ResolvedOptions, ValidationError> =>
  Either.gen(function* () {
    const found = yield* read("Store.make", options)
    const { indexes, manifests } = yield* withDefinitions(found)
    const cache = cacheOf(found.cache)
    const { format, merge, shardBy, shardDepth, shardWidth } = found
    return {
      ...found,
      root: normaliseRoot(found.root),
      cache,
      batching: found.batching,
      viewCache: () => (cache instanceof NullCache ? new NullCache() : new MemoryCache()),
      committer: found.committer,
      author: found.author,
      readOnly: found.readOnly || found.ref !== undefined,
      ref: found.ref,
      given: Either.getOrThrow(
        readSettings({ format, indexes, manifests, merge, shardBy, shardDepth, shardWidth })
      )
    }
  })
