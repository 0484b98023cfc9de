import * as Either from "effect/Either"
import { compareCodePoints, encode, JsonMap } from "./CanonicalJson.js"
import { collectionNameProblem, fieldNameProblem } from "./CollectionName.js"
import { parseObject } from "./JsonText.js"

/** Where in a collection's directory a document lies. */
export interface Layout {
  /** Directories are named by the leading characters of the id, or by those of its SHA-256 in hexadecimal. */
  readonly shardBy: "leading" | "hash"
  /** Levels of directories; 0 for none. */
  readonly shardDepth: number
  /** Characters of each level. */
  readonly shardWidth: number
}

/** How indexes and manifests are stored: one file each, as the reference has them (1), or a tree of small files each (2). */
export type DerivedFormat = 1 | 2

/** From a collection to the names of fields. */
export type FieldMap = ReadonlyMap<string, ReadonlyArray<string>>

/** What every client of a repository must agree on: the content of `_chainstore.json`. */
export interface Settings extends Layout {
  readonly format: DerivedFormat
  /** The indexed fields of a collection. */
  readonly indexes: FieldMap
  /** The collections with a manifest, and the fields that it projects. */
  readonly manifests: FieldMap
}

/** The settings that a client asks for; what is absent is adopted from the repository. */
export interface SettingsOptions {
  /**
   * How indexes and manifests are stored: `1`, one file each; `2`, a tree of small files each, so that what a write costs
   * does not grow with the collection. Default 1.
   */
  readonly format?: DerivedFormat | undefined
  readonly shardBy?: "leading" | "hash" | undefined
  readonly shardDepth?: number | undefined
  readonly shardWidth?: number | undefined
  readonly indexes?: { readonly [collection: string]: ReadonlyArray<string> } | undefined
  readonly manifests?:
    | ReadonlyArray<string>
    | { readonly [collection: string]: ReadonlyArray<string> }
    | undefined
}

/** One thing that is wrong with settings. */
export interface SettingsProblem {
  readonly path: string
  readonly message: string
}

/** The newest form of the settings file that this store writes and understands. */
export const settingsFormat = 2

export const settingsFileName = "_chainstore.json"

export const plainLayout: Layout = { shardBy: "leading", shardDepth: 0, shardWidth: 2 }

/** The plain layout of the document: nothing is sharded, indexed or listed. */
export const plainSettings: Settings = { format: 1, ...plainLayout, indexes: new Map(), manifests: new Map() }

/** Given settings, checked and in one form: only what was given is present. */
export type GivenSettings = Partial<Settings>

const within = (value: unknown, least: number, most: number) =>
  typeof value === "number" && Number.isInteger(value) && value >= least && value <= most

const readFields = (
  value: unknown,
  path: string,
  fieldProblem: (name: unknown) => string | undefined,
  /** Whether a list of collections without fields will do. */
  lists: boolean,
  problems: Array<SettingsProblem>
): FieldMap => {
  const found = new Map<string, ReadonlyArray<string>>()
  if (typeof value !== "object" || value === null || (Array.isArray(value) && !lists)) {
    problems.push({ path, message: `maps collections to lists of fields, such as { people: ["city"] }` })
    return found
  }
  const entries: ReadonlyArray<readonly [unknown, unknown]> = Array.isArray(value)
    ? value.map((name) => [name, []])
    : Object.entries(value)
  for (const [name, fields] of entries) {
    const at = typeof name === "string" ? `${path}.${name}` : path
    const before = problems.length
    const problem = collectionNameProblem(name)
    if (problem !== undefined) problems.push({ path: at, message: problem })
    if (!Array.isArray(fields)) {
      problems.push({ path: at, message: "is a list of fields" })
      continue
    }
    for (const field of fields) {
      const wrong = fieldProblem(field)
      if (wrong !== undefined) problems.push({ path: at, message: wrong })
    }
    if (problems.length > before) continue
    found.set(String(name), [...new Set(fields.map(String))].sort(compareCodePoints))
  }
  return found
}

/** What is wrong with the name of a field that a manifest projects. */
export const projectedFieldProblem = (name: unknown): string | undefined =>
  typeof name === "string" && name !== "" ? undefined : "is the name of a field"

/** Checks the settings that somebody gave, in options or in a file. */
export const readSettings = (given: {
  readonly [name: string]: unknown
}): Either.Either<GivenSettings, ReadonlyArray<SettingsProblem>> => {
  const problems: Array<SettingsProblem> = []
  const { format, indexes, manifests, shardBy, shardDepth, shardWidth } = given
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
  const settings: GivenSettings = {
    ...(format === undefined ? {} : { format: format as DerivedFormat }),
    ...(shardBy === undefined ? {} : { shardBy: shardBy as Layout["shardBy"] }),
    ...(shardDepth === undefined ? {} : { shardDepth: shardDepth as number }),
    ...(shardWidth === undefined ? {} : { shardWidth: shardWidth as number }),
    ...(indexes === undefined || indexes === null
      ? {}
      : { indexes: readFields(indexes, "indexes", fieldNameProblem, false, problems) }),
    ...(manifests === undefined || manifests === null
      ? {}
      : { manifests: readFields(manifests, "manifests", projectedFieldProblem, true, problems) })
  }
  return problems.length === 0 ? Either.right(settings) : Either.left(problems)
}

/** A settings file as it was read. */
export interface SettingsFile {
  readonly format: number
  readonly settings: Settings
}

/** Reads a settings file; the reason when it is not one. */
export const parseSettings = (content: Uint8Array): Either.Either<SettingsFile, string> =>
  Either.flatMap(parseObject(content), (file) => {
    const format = file["format"]
    if (typeof format !== "number" || !Number.isInteger(format) || format < 1) {
      return Either.left("has no format number")
    }
    const isNewer = format > settingsFormat
    const read = readSettings(isNewer ? { ...file, format: settingsFormat } : file)
    if (Either.isRight(read)) return Either.right({ format, settings: { ...plainSettings, ...read.right } })
    if (isNewer) return Either.left(`is of format ${format}, newer than this program knows`)
    return Either.left(read.left.map(({ message, path }) => `${path} ${message}`).join("; "))
  })

/** The bytes of a settings file. */
export const printSettings = (settings: Settings): Uint8Array =>
  Either.getOrThrow(
    encode({
      format: settings.format,
      shardBy: settings.shardBy,
      shardDepth: settings.shardDepth,
      shardWidth: settings.shardWidth,
      indexes: new JsonMap(settings.indexes),
      manifests: new JsonMap(settings.manifests)
    })
  )

const sameFields = (a: FieldMap, b: FieldMap): boolean =>
  a.size === b.size &&
  [...a].every(([name, fields]) => {
    const other = b.get(name)
    return (
      other !== undefined &&
      other.length === fields.length &&
      fields.every((field, at) => field === other[at])
    )
  })

/** Whether two layouts put documents at the same places. */
export const sameLayout = (a: Layout, b: Layout): boolean =>
  a.shardDepth === b.shardDepth &&
  (a.shardDepth === 0 || (a.shardBy === b.shardBy && a.shardWidth === b.shardWidth))

/** The given settings that differ from those of the repository, by name. */
export const differences = (given: GivenSettings, actual: Settings): ReadonlyArray<string> => {
  const differ: Array<string> = []
  if (given.format !== undefined && given.format !== actual.format) differ.push("format")
  if (given.shardDepth !== undefined && given.shardDepth !== actual.shardDepth) differ.push("shardDepth")
  if (actual.shardDepth > 0) {
    if (given.shardBy !== undefined && given.shardBy !== actual.shardBy) differ.push("shardBy")
    if (given.shardWidth !== undefined && given.shardWidth !== actual.shardWidth) differ.push("shardWidth")
  }
  if (given.indexes !== undefined && !sameFields(given.indexes, actual.indexes)) differ.push("indexes")
  if (given.manifests !== undefined && !sameFields(given.manifests, actual.manifests))
    differ.push("manifests")
  return differ
}

/** Whether settings promise no more than the plain layout does without a settings file. */
export const isPlain = (settings: Settings): boolean =>
  settings.format === 1 &&
  settings.shardDepth === 0 &&
  settings.indexes.size === 0 &&
  settings.manifests.size === 0
