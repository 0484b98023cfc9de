import * as Either from "effect/Either"
import { fieldNameProblem } from "../identifiers/CollectionName.js"
import { encodeInline, isPlainObject, JsonMap } from "../json/CanonicalJson.js"
import { fieldPathProblem, valueAt } from "../json/FieldPath.js"
import type { Json } from "../json/Json.js"
import { fieldMatches } from "../json/JsonEquality.js"
import { type LosslessObject, toJson } from "../json/LosslessJson.js"
import { compareCodePoints } from "../text/CodePointOrder.js"
import type { Direction } from "./SortKey.js"

/**
 * One field of an index. The fields are compared in order.
 *
 * @since 0.1.0
 * @category models
 */
export interface IndexField {
  /** The path of the field (see `valueAt`). */
  readonly path: string
  /** The direction of its values. */
  readonly order: Direction
}

/**
 * An index of a collection.
 *
 * @since 0.1.0
 * @category models
 */
export interface IndexDefinition {
  /** The name of the index and of its directory in the collection. */
  readonly name: string
  /** The fields in order; at least one. */
  readonly fields: ReadonlyArray<IndexField>
  /** Whether no two documents may have the same values in the fields. */
  readonly unique: boolean
  /** The index contains only documents whose values at these paths match (see `fieldMatches`); undefined for all. */
  readonly where: ReadonlyMap<string, Json> | undefined
}

/**
 * The definition of an index in options. A text is short for an index of one field with the field's name.
 *
 * @since 0.1.0
 * @category settings
 */
export interface IndexOptions {
  /** Default: the paths of the fields, joined by `_`. */
  readonly name?: string | undefined
  /** Names or paths of fields (`address.city`), compared in order, each ascending or descending. */
  readonly fields: ReadonlyArray<
    string | { readonly field: string; readonly order?: "asc" | "desc" | undefined }
  >
  /** Whether the store rejects a write that would give two documents the same values. Default false. */
  readonly unique?: boolean | undefined
  /** The index contains only documents with these values, by path. */
  readonly where?: { readonly [path: string]: Json } | undefined
}

/** An index of one field with the field's name. */
export const plainIndex = (path: string): IndexDefinition => ({
  name: path,
  fields: [{ path, order: "asc" }],
  unique: false,
  where: undefined
})

const mostFields = 16

/** The maximum length of a value in `where`, as JSON. */
const mostWhere = 1024

const unknownMember = (given: object, known: ReadonlyArray<string>): string | undefined =>
  Object.keys(given).find((key) => !known.includes(key))

const readField = (given: unknown): Either.Either<IndexField, string> => {
  const { field, order = "asc", ...rest } = isPlainObject(given) ? given : { field: given }
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) {
    return Either.left(`${JSON.stringify(unknown)} is not a member of a field: use field and order`)
  }
  const problem = fieldPathProblem(field)
  if (problem !== undefined) return Either.left(problem)
  if (order !== "asc" && order !== "desc") return Either.left('the order of a field is "asc" or "desc"')
  return Either.right({ path: field as string, order })
}

const readFields = (given: unknown): Either.Either<ReadonlyArray<IndexField>, string> => {
  if (!Array.isArray(given) || given.length === 0) {
    return Either.left('fields is a list of at least one field, such as ["city"]')
  }
  if (given.length > mostFields) return Either.left(`an index has at most ${mostFields} fields`)
  return Either.flatMap(Either.all(given.map(readField)), (fields) => {
    const twice = fields.find(({ path }, at) => fields.findIndex((other) => other.path === path) !== at)
    return twice === undefined ? Either.right(fields) : Either.left(`fields names ${twice.path} twice`)
  })
}

const readWhere = (given: unknown): Either.Either<IndexDefinition["where"], string> => {
  if (given === undefined) return Either.right(undefined)
  const conditions = isPlainObject(given) ? Object.entries(given) : []
  if (conditions.length === 0 || conditions.length > mostFields) {
    return Either.left(`where gives 1 to ${mostFields} values by path, such as { status: "active" }`)
  }
  const where = new Map<string, Json>()
  for (const [path, value] of conditions.sort(([a], [b]) => compareCodePoints(a, b))) {
    const problem = fieldPathProblem(path)
    if (problem !== undefined) return Either.left(`where: ${problem}`)
    const text = encodeInline(value)
    if (Either.isLeft(text)) return Either.left(`where: the value of ${path} is not JSON`)
    if (text.right.length > mostWhere) {
      return Either.left(`where: the value of ${path} has more than ${mostWhere} characters`)
    }
    where.set(path, JSON.parse(text.right) as Json)
  }
  return Either.right(where)
}

const members = ["name", "fields", "unique", "where"]

/** Validates an index definition of options or of a settings file. */
export const decodeIndexDefinition = (given: unknown): Either.Either<IndexDefinition, string> => {
  if (!isPlainObject(given)) {
    const problem = fieldNameProblem(given)
    return problem === undefined ? Either.right(plainIndex(given as string)) : Either.left(problem)
  }
  const unknown = unknownMember(given, members)
  if (unknown !== undefined) {
    return Either.left(`${JSON.stringify(unknown)} is not a member of an index: use ${members.join(", ")}`)
  }
  return Either.gen(function* () {
    const fields = yield* readFields(given["fields"])
    const where = yield* readWhere(given["where"])
    const { unique = false } = given
    if (typeof unique !== "boolean") return yield* Either.left("unique is true or false")
    const name = given["name"] ?? fields.map(({ path }) => path).join("_")
    const problem = fieldNameProblem(name)?.replace("an indexed field's name", "the name of an index")
    if (problem === undefined) return { name: name as string, fields, unique, where }
    return yield* Either.left(given["name"] === undefined ? `${problem}: give the index a name` : problem)
  })
}

/** Whether an index has one ascending field and contains all documents. */
export const isPlainIndex = ({ fields, where }: IndexDefinition): boolean =>
  where === undefined && fields.length === 1 && fields[0]!.order === "asc"

/** Encodes an index definition for the settings file. */
export const encodeIndexDefinition = (index: IndexDefinition): unknown => {
  const { fields, name, unique, where } = index
  if (isPlainIndex(index) && !unique && name === fields[0]!.path) return name
  return {
    name,
    fields: fields.map(({ order, path }) => (order === "asc" ? path : { field: path, order })),
    ...(unique ? { unique } : {}),
    ...(where === undefined ? {} : { where: new JsonMap(where) })
  }
}

/** The parts of a definition that the rows depend on, as JSON in one line; undefined for a plain index with its field's name. */
export const definitionText = (index: IndexDefinition): string | undefined => {
  const printed = encodeIndexDefinition({ ...index, unique: false })
  if (typeof printed === "string") return undefined
  return Either.getOrThrow(encodeInline({ ...(printed as object), name: undefined }))
}

/** Whether two definitions are equal. */
export const sameIndex = (a: IndexDefinition, b: IndexDefinition): boolean =>
  Either.getOrThrow(encodeInline(encodeIndexDefinition(a))) ===
  Either.getOrThrow(encodeInline(encodeIndexDefinition(b)))

/** Whether an index contains a document. */
export const indexHolds = ({ where }: Pick<IndexDefinition, "where">, document: LosslessObject): boolean => {
  for (const [path, value] of where ?? []) {
    if (!fieldMatches(toJson(valueAt(document, path)), value)) return false
  }
  return true
}

/** The paths of a document that an index depends on. */
export const indexPaths = ({ fields, where }: IndexDefinition): ReadonlyArray<string> => [
  ...new Set([...fields.map(({ path }) => path), ...(where?.keys() ?? [])])
]
