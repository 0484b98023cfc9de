import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { type GivenSettings, readSettings, type SettingsOptions } from "../domain/Settings.js"
import { ValidationError } from "../domain/StoreError.js"
import { AsyncCache, Cache, fromAsync, MemoryCache, NullCache } from "./Cache.js"
import { normaliseRoot, rootProblem } from "./DocumentPath.js"
import { branchProblem } from "./GitName.js"
import type { Signature } from "./GitRemote.js"

/** How a store works, on any remote. */
export interface StoreOptions extends SettingsOptions {
  /** Branch for reads and writes. Default `main`. */
  readonly branch?: string | undefined
  /** Directory of the collections, `""` for the repository's own root. Default `data`. */
  readonly root?: string | undefined
  /** How often a single-document write starts again because somebody changed its document. Default 2. */
  readonly conflictRetries?: number | undefined
  /** How often a batch starts again because the branch moved. Default 2. */
  readonly batchRetries?: number | undefined
  /** `true` (default) for a `MemoryCache`, `false` for none, or a `Cache` or an `AsyncCache`. */
  readonly cache?: boolean | Cache | AsyncCache | undefined
  /** Requests in flight of reads of many documents. Default 1. */
  readonly concurrency?: number | undefined
  readonly committer?: Signature | undefined
  readonly author?: Signature | undefined
  /** Writes fail with `AuthError`. Default false. */
  readonly readOnly?: boolean | undefined
  /**
   * Answers from index files that do not name the version of the collection that they describe, as other programs
   * write them. Such an index may lack documents. Default false: `findBy` scans until a write or `reindex` renews it.
   */
  readonly trustForeignIndexes?: boolean | undefined
  /** Reads this commit or tag instead of the branch; implies `readOnly`. */
  readonly ref?: string | undefined
  /** How long a write goes on when others keep moving the branch. Default 30 seconds. */
  readonly deadline?: Duration.DurationInput | undefined
}

/** Options with every default in place. */
export interface ResolvedOptions {
  readonly branch: string
  readonly root: string
  readonly conflictRetries: number
  readonly batchRetries: number
  readonly cache: Cache
  /** A new cache of the same kind, for a view. */
  readonly viewCache: () => Cache
  readonly concurrency: number
  readonly committer: Signature | undefined
  readonly author: Signature | undefined
  readonly readOnly: boolean
  readonly trustForeignIndexes: boolean
  readonly ref: string | undefined
  readonly deadline: Duration.Duration
  readonly given: GivenSettings
}

type Issue = { readonly path: string; readonly message: string }

const count = (
  issues: Array<Issue>,
  path: string,
  value: unknown,
  least: number,
  fallback: number
): number => {
  if (value === undefined) return fallback
  if (typeof value === "number" && Number.isInteger(value) && value >= least) return value
  issues.push({ path, message: `is a whole number, at least ${least}` })
  return fallback
}

const person = (issues: Array<Issue>, path: string, value: Signature | undefined): Signature | undefined => {
  if (value === undefined || value === null) return undefined
  const { email, name } = value
  if (typeof name === "string" && typeof email === "string" && name.trim() !== "") {
    if (!/[<>\n\0]/.test(name + email)) return { name, email }
  }
  issues.push({ path, message: "has a name and an email without '<', '>' and line breaks" })
  return undefined
}

const cacheOf = (issues: Array<Issue>, cache: unknown): Cache => {
  if (cache === undefined || cache === true) return new MemoryCache()
  if (cache === false) return new NullCache()
  if (cache instanceof Cache) return cache
  if (cache instanceof AsyncCache) return fromAsync(cache)
  issues.push({
    path: "cache",
    message: "is true, false or an instance of a subclass of Cache or AsyncCache"
  })
  return new NullCache()
}

const text = (issues: Array<Issue>, path: string, value: unknown, fallback: string): string => {
  if (value === undefined) return fallback
  if (typeof value === "string") return value
  issues.push({ path, message: "is text" })
  return fallback
}

/** Checks options and fills in the defaults. */
export const resolveOptions = (options: StoreOptions): Either.Either<ResolvedOptions, ValidationError> => {
  const issues: Array<Issue> = []
  const branch = text(issues, "branch", options.branch, "main")
  const wrongBranch = branchProblem(branch)
  if (wrongBranch !== undefined) issues.push({ path: "branch", message: wrongBranch })
  const root = text(issues, "root", options.root, "data")
  const wrongRoot = rootProblem(root)
  if (wrongRoot !== undefined) issues.push({ path: "root", message: wrongRoot })
  const given = readSettings({ ...options })
  if (Either.isLeft(given)) issues.push(...given.left)
  const deadline = Duration.decodeUnknown(options.deadline ?? "30 seconds")
  if (deadline._tag === "None") issues.push({ path: "deadline", message: "is a duration" })
  for (const flag of ["readOnly", "trustForeignIndexes"] as const) {
    if (options[flag] !== undefined && typeof options[flag] !== "boolean") {
      issues.push({ path: flag, message: "is true or false" })
    }
  }
  if (options.ref !== undefined && (typeof options.ref !== "string" || options.ref === "")) {
    issues.push({ path: "ref", message: "is the id of a commit, or a tag" })
  }
  const cache = cacheOf(issues, options.cache)
  const resolved: ResolvedOptions = {
    branch,
    root: normaliseRoot(root),
    conflictRetries: count(issues, "conflictRetries", options.conflictRetries, 0, 2),
    batchRetries: count(issues, "batchRetries", options.batchRetries, 0, 2),
    cache,
    viewCache: () => (cache instanceof NullCache ? new NullCache() : new MemoryCache()),
    concurrency: count(issues, "concurrency", options.concurrency, 1, 1),
    committer: person(issues, "committer", options.committer),
    author: person(issues, "author", options.author),
    readOnly: options.readOnly === true || options.ref !== undefined,
    trustForeignIndexes: options.trustForeignIndexes === true,
    ref: options.ref,
    deadline: deadline._tag === "Some" ? deadline.value : Duration.seconds(30),
    given: Either.getOrElse(given, () => ({}))
  }
  if (issues.length === 0) return Either.right(resolved)
  return Either.left(
    new ValidationError({
      operation: "Store.make",
      message: `wrong options: ${issues.map(({ message, path }) => `${path} ${message}`).join("; ")}`,
      issues
    })
  )
}
