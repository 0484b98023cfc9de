import * as Either from "effect/Either"
import { collectionNameProblem } from "../identifiers/CollectionName.js"
import {
  decodeIndexDefinition,
  encodeIndexDefinition,
  type IndexDefinition,
  type IndexOptions,
  isPlainIndex,
  sameIndex
} from "../indexes/IndexDefinition.js"
import { encode, isPlainObject, JsonMap } from "../json/CanonicalJson.js"
import type { Json } from "../json/Json.js"
import { parseObject } from "../json/JsonText.js"
import type { MergeFields } from "../merge/MergeRules.js"
import { areStoredRules } from "../merge/StoredRules.js"
import { compareCodePoints } from "../text/CodePointOrder.js"

/**
 * The path of a document in its collection's directory.
 *
 * @since 0.1.0
 * @category models
 */
export interface Layout {
  /** Directories are named by the first characters of the id, or of its SHA-256 in hexadecimal. */
  readonly shardBy: "leading" | "hash"
  /** The number of directory levels; 0 for none. */
  readonly shardDepth: number
  /** The number of characters in each level's name. */
  readonly shardWidth: number
}

/** The storage of indexes and manifests: one file each, as in the reference (1), or a tree of small files each (2). */
export type DerivedFormat = 1 | 2

/** Names of fields by collection. */
export type FieldsByCollection = ReadonlyMap<string, ReadonlyArray<string>>

/** Merge rules without functions by collection. */
export type MergeRulesByCollection = ReadonlyMap<string, MergeFields>

/** Indexes by collection, sorted by name. */
export type IndexesByCollection = ReadonlyMap<string, ReadonlyArray<IndexDefinition>>

/**
 * The settings that all clients of a repository share: the content of `_chainstore.json`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings extends Layout {
  /** The storage format of indexes and manifests. */
  readonly format: DerivedFormat
  /** The indexes of each collection, sorted by name. */
  readonly indexes: IndexesByCollection
  /** The projected fields of each collection that has a manifest. */
  readonly manifests: FieldsByCollection
  /** The merge rules of each collection, unless a schema, a definition or a call gives others. */
  readonly merge: MergeRulesByCollection
}

/**
 * The settings that a client requests. A missing setting is taken from the repository.
 *
 * @since 0.1.0
 * @category options
 */
export interface SettingsOptions {
  /**
   * The storage of indexes and manifests: `1`, one file each; `2`, a tree of small files each, so that the cost of a write
   * does not grow with the collection. Default 1.
   */
  readonly format?: DerivedFormat | undefined
  /** Whether directories are named by the first characters of the id or of its hash. Default `leading`. */
  readonly shardBy?: "leading" | "hash" | undefined
  /** The number of directory levels in a collection; 0 for none. Default 0. */
  readonly shardDepth?: number | undefined
  /** The number of characters in each level's name. Default 2. */
  readonly shardWidth?: number | undefined
  /** The indexes of each collection: names of fields, or definitions. */
  readonly indexes?: { readonly [collection: string]: ReadonlyArray<string | IndexOptions> } | undefined
  /** The fields that each collection's manifest projects. */
  readonly manifests?:
    | ReadonlyArray<string>
    | { readonly [collection: string]: ReadonlyArray<string> }
    | undefined
  /**
   * The merge rules of each collection, for every client and for `git merge`: rules by path, without functions. The
   * rules of a schema, of a definition and of a call take precedence.
   */
  readonly merge?: { readonly [collection: string]: MergeFields } | undefined
}

/** One problem of settings. */
export interface SettingsProblem {
  readonly path: string
  readonly message: string
}

/**
 * The newest format of the settings file that this store supports.
 *
 * @since 0.1.0
 * @category rules
 */
export const settingsFormat = 2

/**
 * The name of the settings file in the root.
 *
 * @since 0.1.0
 * @category rules
 */
export const settingsFileName = "_chainstore.json"

/**
 * The layout without directories in a collection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const plainLayout: Layout = { shardBy: "leading", shardDepth: 0, shardWidth: 2 }

/**
 * The default settings: no sharding, no index, no manifest.
 *
 * @since 0.1.0
 * @category constructors
 */
export const plainSettings: Settings = {
  format: 1,
  ...plainLayout,
  indexes: new Map(),
  manifests: new Map(),
  merge: new Map()
}

/** Validated settings of a client. Settings that were not given are absent. */
export type RequestedSettings = Partial<Settings>

const within = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most

/** Reads a list by collection. */
const readLists = <A>(
  value: unknown,
  path: string,
  readList: (items: ReadonlyArray<unknown>) => Either.Either<ReadonlyArray<A>, ReadonlyArray<string>>,
  /** Whether a list of collection names is accepted, each with an empty list. */
  lists: boolean,
  problems: Array<SettingsProblem>
): ReadonlyMap<string, ReadonlyArray<A>> => {
  const found = new Map<string, ReadonlyArray<A>>()
  if (!isPlainObject(value) && !(lists && Array.isArray(value))) {
    problems.push({ path, message: `maps collections to lists of fields, such as { people: ["city"] }` })
    return found
  }
  const entries: ReadonlyArray<readonly [unknown, unknown]> = Array.isArray(value)
    ? value.map((name) => [name, []])
    : Object.entries(value)
  for (const [name, items] of entries) {
    const at = typeof name === "string" ? `${path}.${name}` : path
    const problem = collectionNameProblem(name)
    if (problem !== undefined) problems.push({ path: at, message: problem })
    const read = Array.isArray(items) ? readList(items) : Either.left(["is a list of fields"])
    if (Either.isLeft(read)) for (const message of read.left) problems.push({ path: at, message })
    else if (problem === undefined) found.set(String(name), read.right)
  }
  return found
}

const readProjected = (
  fields: ReadonlyArray<unknown>
): Either.Either<ReadonlyArray<string>, ReadonlyArray<string>> => {
  const wrong = fields.flatMap((field) => projectedFieldProblem(field) ?? [])
  return wrong.length > 0
    ? Either.left(wrong)
    : Either.right([...new Set(fields.map(String))].sort(compareCodePoints))
}

const readIndexes = (
  given: ReadonlyArray<unknown>
): Either.Either<ReadonlyArray<IndexDefinition>, ReadonlyArray<string>> => {
  const found = new Map<string, IndexDefinition>()
  const wrong: Array<string> = []
  for (const read of given.map(decodeIndexDefinition)) {
    if (Either.isLeft(read)) {
      wrong.push(read.left)
      continue
    }
    const index = read.right
    const other = found.get(index.name)
    if (other !== undefined && !sameIndex(other, index)) {
      wrong.push(`two indexes have the name ${index.name}: give one of them another name`)
    }
    found.set(index.name, index)
  }
  return wrong.length > 0
    ? Either.left(wrong)
    : Either.right([...found.values()].sort((a, b) => compareCodePoints(a.name, b.name)))
}

/** The problem with the name of a projected field, if any. */
export const projectedFieldProblem = (name: unknown): string | undefined =>
  typeof name === "string" && name !== "" ? undefined : "is the name of a field"

const readMerge = (given: unknown, problems: Array<SettingsProblem>): MergeRulesByCollection => {
  const found = new Map<string, MergeFields>()
  if (!isPlainObject(given)) {
    problems.push({
      path: "merge",
      message: 'maps collections to rules of merging, such as { people: { tags: "set" } }'
    })
    return found
  }
  for (const [name, fields] of Object.entries(given)) {
    const message =
      collectionNameProblem(name) ??
      (areStoredRules(fields)
        ? undefined
        : 'has rules by path, as docs/merging.md lists them, without functions: { tags: "set" }')
    if (message !== undefined) problems.push({ path: `merge.${name}`, message })
    else if (Object.keys(fields as object).length > 0) found.set(name, JSON.parse(JSON.stringify(fields)))
  }
  return found
}

/** Validates settings of options or of a settings file. */
export const readSettings = (given: {
  readonly [name: string]: unknown
}): Either.Either<RequestedSettings, ReadonlyArray<SettingsProblem>> => {
  const problems: Array<SettingsProblem> = []
  const { format, indexes, manifests, merge, shardBy, shardDepth, shardWidth } = given
  if (format !== undefined && format !== 1 && format !== 2) {
    problems.push({ path: "format", message: "is 1 or 2" })
  }
  if (shardBy !== undefined && shardBy !== "leading" && shardBy !== "hash") {
    problems.push({ path: "shardBy", message: 'is "leading" or "hash"' })
  }
  if (shardDepth !== undefined && !within(shardDepth, 0, 8)) {
    problems.push({ path: "shardDepth", message: "is a whole number from 0 to 8" })
  }
  if (shardWidth !== undefined && !within(shardWidth, 1, 8)) {
    problems.push({ path: "shardWidth", message: "is a whole number from 1 to 8" })
  }
  const settings: RequestedSettings = {
    ...(format === undefined ? {} : { format: format as DerivedFormat }),
    ...(shardBy === undefined ? {} : { shardBy: shardBy as Layout["shardBy"] }),
    ...(shardDepth === undefined ? {} : { shardDepth: shardDepth as number }),
    ...(shardWidth === undefined ? {} : { shardWidth: shardWidth as number }),
    ...(indexes === undefined || indexes === null
      ? {}
      : { indexes: readLists(indexes, "indexes", readIndexes, false, problems) }),
    ...(manifests === undefined || manifests === null
      ? {}
      : {
          manifests: readLists(manifests, "manifests", readProjected, true, problems)
        }),
    ...(merge === undefined || merge === null ? {} : { merge: readMerge(merge, problems) })
  }
  return problems.length === 0 ? Either.right(settings) : Either.left(problems)
}

/**
 * A parsed settings file.
 *
 * @since 0.1.0
 * @category models
 */
export interface SettingsFile {
  /** The format number in the file. */
  readonly format: number
  /** The settings in the file. */
  readonly settings: Settings
}

/** The first index that the settings' format does not support, if any. */
export const unsupportedIndex = ({
  format,
  indexes
}: Pick<Settings, "format" | "indexes">): (SettingsProblem & { readonly collection: string }) | undefined => {
  if (format !== 1) return undefined
  for (const [collection, list] of indexes) {
    // A format 1 file indexes members by their whole names, not values in nested objects.
    const index = list.find((one) => !isPlainIndex(one) || (one.unique && one.fields[0]!.path.includes(".")))
    if (index === undefined) continue
    const what = index.unique
      ? "one file holds one ascending field of all documents, which is at the top level if it is unique"
      : "one file holds one ascending field of all documents"
    return {
      collection,
      path: `indexes.${collection}`,
      message: `format 1 cannot hold the index ${index.name} of ${collection}: ${what}`
    }
  }
  return undefined
}

/**
 * Parses a settings file. The error is the problem in words.
 *
 * @since 0.1.0
 * @category text
 */
export const parseSettings = (content: Uint8Array): Either.Either<SettingsFile, string> =>
  Either.flatMap(parseObject(content), (file) => {
    const format = file["format"]
    if (!within(format, 1, Number.POSITIVE_INFINITY)) {
      return Either.left("has no format number")
    }
    const isNewer = format > settingsFormat
    const read = readSettings(isNewer ? { ...file, format: settingsFormat } : file)
    if (Either.isRight(read)) {
      const settings = { ...plainSettings, ...read.right }
      const unheld = unsupportedIndex(settings)
      return unheld === undefined
        ? Either.right({ format, settings })
        : Either.left(`${unheld.message}: format 2 can`)
    }
    if (isNewer) return Either.left(`is of format ${format}, newer than this program knows`)
    return Either.left(read.left.map(({ message, path }) => `${path} ${message}`).join("; "))
  })

/**
 * The bytes of a settings file.
 *
 * @since 0.1.0
 * @category text
 */
export const printSettings = (settings: Settings): Uint8Array =>
  Either.getOrThrow(
    encode({
      format: settings.format,
      shardBy: settings.shardBy,
      shardDepth: settings.shardDepth,
      shardWidth: settings.shardWidth,
      indexes: new JsonMap(
        new Map(Array.from(settings.indexes, ([name, list]) => [name, list.map(encodeIndexDefinition)]))
      ),
      manifests: new JsonMap(settings.manifests),
      ...(settings.merge.size === 0
        ? {}
        : { merge: new JsonMap(settings.merge as ReadonlyMap<string, Json>) })
    })
  )

const sameLists = <A>(
  a: ReadonlyMap<string, ReadonlyArray<A>>,
  b: ReadonlyMap<string, ReadonlyArray<A>>,
  same: (a: A, b: A) => boolean
): boolean =>
  a.size === b.size &&
  [...a].every(([name, list]) => {
    const other = b.get(name)
    return (
      other !== undefined && other.length === list.length && list.every((item, at) => same(item, other[at]!))
    )
  })

const sameField = (a: string, b: string): boolean => a === b

const printedMerge = ({ merge }: Pick<Settings, "merge">): string =>
  new TextDecoder().decode(printSettings({ ...plainSettings, merge }))

/** Whether two layouts give every document the same path. */
export const sameLayout = (a: Layout, b: Layout): boolean =>
  a.shardDepth === b.shardDepth &&
  (a.shardDepth === 0 || (a.shardBy === b.shardBy && a.shardWidth === b.shardWidth))

/** The names of the requested settings that differ from the repository's. */
export const settingsDifferences = (given: RequestedSettings, actual: Settings): ReadonlyArray<string> => {
  const differ: Array<string> = []
  if (given.format !== undefined && given.format !== actual.format) differ.push("format")
  if (given.shardDepth !== undefined && given.shardDepth !== actual.shardDepth) differ.push("shardDepth")
  if (actual.shardDepth > 0) {
    if (given.shardBy !== undefined && given.shardBy !== actual.shardBy) differ.push("shardBy")
    if (given.shardWidth !== undefined && given.shardWidth !== actual.shardWidth) differ.push("shardWidth")
  }
  if (given.indexes !== undefined && !sameLists(given.indexes, actual.indexes, sameIndex))
    differ.push("indexes")
  if (given.manifests !== undefined && !sameLists(given.manifests, actual.manifests, sameField))
    differ.push("manifests")
  if (given.merge !== undefined && printedMerge({ merge: given.merge }) !== printedMerge(actual))
    differ.push("merge")
  return differ
}

/** Whether the settings are the default ones, which need no settings file. */
export const isPlainSettings = (settings: Settings): boolean =>
  settings.format === 1 &&
  settings.shardDepth === 0 &&
  settings.indexes.size === 0 &&
  settings.manifests.size === 0 &&
  settings.merge.size === 0
