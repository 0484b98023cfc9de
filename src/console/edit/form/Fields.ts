import * as Either from "effect/Either"
import { runSync } from "../../../domain/concurrency/Steps.js"
import { metadataNames } from "../../../domain/document/DocumentBody.js"
import type { Json, JsonObject } from "../../../domain/json/Json.js"
import { isTooDeep } from "../../../domain/json/JsonText.js"
import { repeatedKeySteps } from "../../../domain/json/RepeatedKey.js"
import { fieldProblem } from "./FieldProblem.js"
import { type JsonNode, type Path, parseNodes } from "./JsonNodes.js"
import {
  listIn,
  member,
  objectIn,
  type ReadSchema,
  readSchema,
  type SchemaRoot,
  schemaRoot
} from "./SchemaReading.js"

/** The kind of control for a field. */
export type FieldKind =
  | "text"
  | "long"
  | "moment"
  | "number"
  | "integer"
  | "boolean"
  | "choice"
  | "list"
  | "object"
  | "json"

/** A field of a form with its value. */
export interface Field {
  readonly path: Path
  readonly name: string
  readonly kind: FieldKind
  readonly schema: JsonObject
  /** The value; undefined if the field is absent. */
  readonly node: JsonNode | undefined
  /** Whether it may be absent, and whether it may be null. */
  readonly optional: boolean
  readonly nullable: boolean
  readonly choices: ReadonlyArray<Json>
  /** The fields of an object, or the items of a list. */
  readonly parts: ReadonlyArray<Field>
  /** The schema of a list's items. */
  readonly item: ReadSchema | undefined
  readonly help: string | undefined
  readonly problem: string | undefined
}

/** The schema of a form. */
export interface FormSchema {
  readonly schema: JsonObject
  /** The number of documents that it was inferred from; undefined for a stored schema. An inferred schema requires nothing. */
  readonly documents: number | undefined
}

export interface FormModel {
  readonly fields: ReadonlyArray<Field>
  /** The number of invalid fields. */
  readonly problems: number
}

/** Longer texts and documents with more fields are edited as JSON. */
const maxTextLength = 200_000
const maxFields = 400

/** More allowed values than this are not shown as a select. */
const maxChoices = 300

/** Longer texts get several lines. */
const longText = 80

const metadata: ReadonlySet<string> = new Set(metadataNames)

const scalarKinds: ReadonlySet<FieldKind> = new Set([
  "text",
  "long",
  "moment",
  "number",
  "integer",
  "boolean",
  "choice"
])

const isScalar = (value: Json): boolean => typeof value !== "object"

const isLong = (schema: JsonObject, node: JsonNode | undefined) => {
  const most = member(schema, "maxLength")
  const value = node?.kind === "text" ? (node.value as string) : ""
  return (
    (typeof most === "number" && most > 2 * longText) ||
    member(schema, "contentMediaType") !== undefined ||
    value.length > longText ||
    /[\n\u2028\u2029]/.test(value)
  )
}

/** The kind of a value without a schema. */
const kindOfNode = (node: JsonNode | undefined): FieldKind => {
  if (node === undefined || node.kind === "null") return "json"
  if (node.kind === "list") return node.items.every(({ kind }) => isPlain(kind)) ? "list" : "json"
  if (node.kind === "text") return isLong({}, node) ? "long" : "text"
  return node.kind
}

const isPlain = (kind: JsonNode["kind"]) => kind !== "object" && kind !== "list"

const schemaKind = (root: SchemaRoot, { choices, schema, unknown }: ReadSchema): FieldKind => {
  if (unknown !== undefined) return "json"
  if (choices !== undefined && choices.length <= maxChoices) {
    return choices.every(isScalar) ? "choice" : "json"
  }
  if (choices !== undefined) return choices.every((one) => typeof one === "string") ? "text" : "json"
  switch (schema["type"]) {
    case "string":
      return member(schema, "format") === "date-time" ? "moment" : "text"
    case "number":
    case "integer":
    case "boolean":
      return schema["type"]
    case "array": {
      const items = member(schema, "items")
      if (Array.isArray(items) || member(schema, "prefixItems") !== undefined) return "json"
      return items === undefined || scalarKinds.has(schemaKind(root, readSchema(root, items)))
        ? "list"
        : "json"
    }
    case "object":
      return "object"
    default:
      return member(schema, "properties") === undefined ? "json" : "object"
  }
}

const nodeKinds: Readonly<Partial<Record<FieldKind, JsonNode["kind"]>>> = {
  text: "text",
  long: "text",
  moment: "text",
  number: "number",
  integer: "number",
  boolean: "boolean",
  list: "list",
  object: "object"
}

/** The kind by the schema, or by the value if the value does not match the schema. */
const kindOf = (root: SchemaRoot, read: ReadSchema, node: JsonNode | undefined): FieldKind => {
  const kind = schemaKind(root, read)
  if (node === undefined || node.kind === "null") return kind
  if (kind === "choice") return node.kind === "object" || node.kind === "list" ? kindOfNode(node) : kind
  if (nodeKinds[kind] !== node.kind) return kindOfNode(node)
  if (node.kind === "list") return kindOfNode(node)
  if (node.kind === "text") {
    // An input element would change these characters.
    if (/[\r\0]/.test(node.value as string)) return "json"
    return kind === "text" && isLong(read.schema, node) ? "long" : kind
  }
  return kind
}

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
  count: number
}

class TooManyFields extends Error {}

const fieldOf = (making: FormBuild, { name, node, optional, path, read, refused }: FieldInput): Field => {
  if (++making.count > maxFields) throw new TooManyFields()
  const { inferred, root, text } = making
  const kind = kindOf(root, read, node)
  const { schema } = read
  const item =
    kind === "list" && !Array.isArray(member(schema, "items"))
      ? readSchema(root, member(schema, "items"))
      : undefined
  const parts =
    kind === "object" && node?.kind === "object"
      ? fieldsOf(making, schema, node, path)
      : kind === "list" && node?.kind === "list"
        ? node.items.map((one, at) =>
            fieldOf(making, {
              path: [...path, at],
              name: `${name}, item ${at + 1}`,
              read: item!,
              node: one,
              optional: true
            })
          )
        : []
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
    item,
    help: [textIn(schema, "description") ?? textIn(schema, "title"), read.unknown].filter(Boolean).join(" "),
    problem: undefined
  }
  return { ...field, problem: refused ?? fieldProblem(field, read, text) }
}

const fieldsOf = (
  making: FormBuild,
  schema: JsonObject,
  node: Extract<JsonNode, { readonly kind: "object" }>,
  path: Path
): ReadonlyArray<Field> => {
  const { inferred, root } = making
  const properties = objectIn(schema, "properties") ?? {}
  const required = new Set(listIn(schema, "required"))
  const isHidden = (name: string) => path.length === 0 && metadata.has(name)
  const there = new Map(node.members.map(({ key, value }) => [key, value]))
  const known = Object.entries(properties)
    .filter(([name]) => !isHidden(name))
    .map(([name, given]) =>
      fieldOf(making, {
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
      fieldOf(making, {
        path: [...path, key],
        name: key,
        read: readSchema(root, others),
        node: value,
        optional: true,
        refused: others === false && !inferred ? "The schema does not define this field." : undefined
      })
    )
  return [...known, ...rest]
}

const problemsIn = (fields: ReadonlyArray<Field>): number =>
  fields.reduce((sum, { parts, problem }) => sum + (problem === undefined ? 0 : 1) + problemsIn(parts), 0)

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
  try {
    const making = { root, text, inferred: documents !== undefined, count: 0 }
    const fields = fieldsOf(making, schema, node, [])
    return fields.length === 0
      ? Either.left("No fields are known, neither from a schema nor from documents.")
      : Either.right({ fields, problems: problemsIn(fields) })
  } catch (error) {
    if (error instanceof TooManyFields) return Either.left(`A form shows at most ${maxFields} fields.`)
    throw error
  }
}

/** The JSON of a field that was null or absent and gets a value. */
export const initialValue = ({
  choices,
  kind,
  schema
}: Pick<Field, "choices" | "kind" | "schema">): string => {
  const given = member(schema, "default")
  const isGiven = given !== undefined && given !== null
  if (isGiven) return JSON.stringify(given)
  if (choices.length > 0) return JSON.stringify(choices[0])
  switch (kind) {
    case "moment":
      return JSON.stringify(new Date().toISOString())
    case "number":
    case "integer":
      return "0"
    case "boolean":
      return "false"
    case "list":
      return "[]"
    case "object":
      return "{}"
    case "json":
      return "null"
    default:
      return '""'
  }
}

/** The JSON of a new list item. */
export const newItem = (list: Field): string => {
  const last = list.parts.at(-1)
  const kind = list.item === undefined ? "json" : schemaKind(schemaRoot({}), list.item)
  return initialValue({
    choices: list.item?.choices ?? [],
    kind: kind === "json" ? (last?.kind ?? "text") : kind,
    schema: list.item?.schema ?? {}
  })
}
