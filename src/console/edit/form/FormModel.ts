import * as Either from "effect/Either"
import { runSync } from "../../../domain/concurrency/Steps.js"
import { metadataNames } from "../../../domain/document/DocumentBody.js"
import type { Json, JsonObject } from "../../../domain/json/Json.js"
import { isTooDeep } from "../../../domain/json/JsonText.js"
import { repeatedKeySteps } from "../../../domain/json/RepeatedKey.js"
import type { Field, FieldKind } from "./Field.js"
import { fieldKind, hasChangedCharacters } from "./FieldKind.js"
import { fieldProblem } from "./FieldProblem.js"
import { type JsonNode, type ListNode, type ObjectNode, type Path, parseNodes } from "./JsonNodes.js"
import {
  listIn,
  member,
  objectIn,
  type ReadSchema,
  readSchema,
  type SchemaRoot,
  schemaRoot
} from "./SchemaReading.js"

/** The schema of a form. */
export interface FormSchema {
  readonly schema: JsonObject
  /** The number of documents that it was inferred from; undefined for a stored schema. An inferred schema requires nothing. */
  readonly documents: number | undefined
}

export interface FormModel {
  readonly fields: ReadonlyArray<Field>
  /** The invalid fields. */
  readonly problems: ReadonlyArray<Field>
}

/** Longer texts and documents with more fields are edited as JSON. */
const maxTextLength = 200_000
const maxFields = 400

/** Lists inside more lists than this are edited as JSON. */
const maxListDepth = 3

const metadata: ReadonlySet<string> = new Set(metadataNames)

const textIn = (schema: JsonObject, name: string): string | undefined => {
  const found = member(schema, name)
  return typeof found === "string" && found !== "" ? found : undefined
}

interface FieldInput {
  readonly path: Path
  readonly name: string
  readonly read: ReadSchema
  readonly node: JsonNode | undefined
  readonly optional: boolean
  /** Why the field is not allowed. */
  readonly refused?: string | undefined
}

interface FormBuild {
  readonly root: SchemaRoot
  readonly text: string
  readonly inferred: boolean
  /** Whether lists of objects and of lists have fields. */
  readonly hasNestedLists: boolean
  count: number
}

class TooManyFields extends Error {}

const isScalar = ({ kind }: JsonNode) => kind !== "object" && kind !== "list"

/** Why a list is edited as JSON, as a sentence. */
const whyListIsJson = ({ hasNestedLists }: FormBuild, node: ListNode, path: Path): string | undefined => {
  if (path.filter((step) => typeof step === "number").length >= maxListDepth)
    return "The list is nested too deeply for a form."
  return hasNestedLists || node.items.every(isScalar)
    ? undefined
    : "The form has too many fields for this list."
}

/** Why a value is edited as JSON, as a sentence. */
const whyJson = (
  build: FormBuild,
  kind: FieldKind,
  node: JsonNode | undefined,
  path: Path
): string | undefined => {
  if (kind === "list" && node?.kind === "list") return whyListIsJson(build, node, path)
  return kind === "json" && hasChangedCharacters(node)
    ? "The text has carriage returns or other characters that a form would change."
    : undefined
}

/** The schema of an item: tuples have one for each position. */
const itemSchema = (schema: JsonObject, at: number): Json | undefined => {
  const items = member(schema, "items")
  const positions = Array.isArray(items) ? items : listIn(schema, "prefixItems")
  const rest = Array.isArray(items) ? member(schema, "additionalItems") : items
  return positions[at] ?? rest
}

const fieldOf = (build: FormBuild, { name, node, optional, path, read, refused }: FieldInput): Field => {
  if (++build.count > maxFields) throw new TooManyFields()
  const { inferred, root, text } = build
  const { schema } = read
  const valueKind = fieldKind(read, node)
  const why = whyJson(build, valueKind, node, path)
  const kind = why === undefined ? valueKind : "json"
  const items = kind === "list" && node?.kind === "list" ? node.items : []
  const parts =
    kind === "object" && node?.kind === "object"
      ? fieldsOf(build, schema, node, path)
      : items.map((one, at) => {
          const given = itemSchema(schema, at)
          return fieldOf(build, {
            path: [...path, at],
            name: `${name}, item ${at + 1}`,
            read: readSchema(root, given),
            node: one,
            optional: true,
            refused: given === false ? "The schema does not allow this item." : undefined
          })
        })
  const field: Field = {
    path,
    name,
    kind,
    schema,
    node,
    optional: optional || inferred,
    nullable: read.nullable || inferred,
    choices: read.choices ?? [],
    parts,
    item: kind === "list" ? readSchema(root, itemSchema(schema, items.length)) : undefined,
    help: [textIn(schema, "description") ?? textIn(schema, "title"), read.unknown, why]
      .filter(Boolean)
      .join(" "),
    problem: undefined
  }
  return { ...field, problem: refused ?? fieldProblem(field, read, text) }
}

const fieldsOf = (
  build: FormBuild,
  schema: JsonObject,
  node: ObjectNode,
  path: Path
): ReadonlyArray<Field> => {
  const { inferred, root } = build
  const properties = objectIn(schema, "properties") ?? {}
  const required = new Set(listIn(schema, "required"))
  const isHidden = (name: string) => path.length === 0 && metadata.has(name)
  const there = new Map(node.members.map(({ key, value }) => [key, value]))
  const declared = Object.entries(properties)
    .filter(([name]) => !isHidden(name))
    .map(([name, given]) =>
      fieldOf(build, {
        path: [...path, name],
        name,
        read: readSchema(root, given),
        node: there.get(name),
        optional: !required.has(name)
      })
    )
  const others = member(schema, "additionalProperties")
  const rest = node.members
    .filter(({ key }) => !Object.hasOwn(properties, key) && !isHidden(key))
    .map(({ key, value }) =>
      fieldOf(build, {
        path: [...path, key],
        name: key,
        read: readSchema(root, others),
        node: value,
        optional: true,
        refused: others === false && !inferred ? "The schema does not define this field." : undefined
      })
    )
  return [...declared, ...rest]
}

const problemsIn = (fields: ReadonlyArray<Field>): ReadonlyArray<Field> =>
  fields.flatMap((field) => [...(field.problem === undefined ? [] : [field]), ...problemsIn(field.parts)])

/** The fields of a document; undefined if they are too many. */
const documentFields = (
  build: Omit<FormBuild, "count" | "root">,
  schema: JsonObject,
  given: JsonObject,
  node: ObjectNode
): ReadonlyArray<Field> | undefined => {
  try {
    return fieldsOf({ ...build, root: schemaRoot(given), count: 0 }, schema, node, [])
  } catch (error) {
    if (error instanceof TooManyFields) return undefined
    throw error
  }
}

/** The form of a document's text; or why it has none, as a sentence. */
export const formOf = (
  text: string,
  { documents, schema: given }: FormSchema
): Either.Either<FormModel, string> => {
  if (text.length > maxTextLength) return Either.left("The document is too long for a form.")
  try {
    JSON.parse(text)
  } catch {
    return Either.left("The text is not valid JSON. Fix it to use the form.")
  }
  if (isTooDeep(text)) return Either.left("The document is nested too deeply for a form.")
  const node = parseNodes(text)
  if (node.kind !== "object") return Either.left("The text is not a JSON object.")
  if (runSync(repeatedKeySteps(text)) !== undefined)
    return Either.left("The text has a duplicate key. Fix it to use the form.")
  const root = schemaRoot(given)
  const read = readSchema(root, given)
  const { schema, unknown } = read
  const isOfObjects =
    schema["type"] === "object" || (schema["type"] === undefined && read.choices === undefined)
  if (unknown !== undefined || !isOfObjects) {
    return Either.left("The collection's schema does not define the fields of a document.")
  }
  const build = { text, inferred: documents !== undefined }
  const fields =
    documentFields({ ...build, hasNestedLists: true }, schema, given, node) ??
    documentFields({ ...build, hasNestedLists: false }, schema, given, node)
  if (fields === undefined) return Either.left(`A form shows at most ${maxFields} fields.`)
  return fields.length === 0
    ? Either.left("No fields are known, neither from a schema nor from documents.")
    : Either.right({ fields, problems: problemsIn(fields) })
}

/** The fields of a document's text that do not fit the stored schema; none if a form cannot show the document. */
export const schemaProblems = (text: string, schema: JsonObject): ReadonlyArray<Field> =>
  Either.match(formOf(text, { schema, documents: undefined }), {
    onLeft: () => [],
    onRight: ({ problems }) => problems
  })
