import type { Json, JsonObject } from "../../../domain/json/Json.js"

/** A schema with resolved references, as far as a form supports it. */
export interface ReadSchema {
  /** The keywords for a value that is not null. */
  readonly schema: JsonObject
  readonly nullable: boolean
  /** The allowed values, without null. */
  readonly choices: ReadonlyArray<Json> | undefined
  /** Why the form cannot determine the type. */
  readonly unknown: string | undefined
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An own property: a field may be named like a method of objects. */
export const member = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

export const objectIn = (object: JsonObject, name: string): JsonObject | undefined => {
  const found = member(object, name)
  return isObject(found) ? found : undefined
}

export const listIn = (object: JsonObject, name: string): ReadonlyArray<Json> => {
  const found = member(object, name)
  return Array.isArray(found) ? found : []
}

/** The target of a reference inside the same file. */
const resolveReference = (root: JsonObject, ref: string): Json | undefined => {
  if (ref === "#") return root
  if (!ref.startsWith("#/")) return undefined
  let found: Json | undefined = root
  for (const step of ref.slice(2).split("/")) {
    let name = step.replaceAll("~1", "/").replaceAll("~0", "~")
    try {
      name = decodeURIComponent(name)
    } catch {
      // The name contains a percent sign.
    }
    found = isObject(found) ? member(found, name) : Array.isArray(found) ? found[Number(name)] : undefined
  }
  return found
}

/** Merges two schemas: the second overrides keywords, and fields are combined. */
const mergeSchemas = (a: JsonObject, b: JsonObject): JsonObject => {
  const properties = { ...objectIn(a, "properties"), ...objectIn(b, "properties") }
  const required = [...new Set([...listIn(a, "required"), ...listIn(b, "required")])]
  return {
    ...a,
    ...b,
    ...("properties" in a || "properties" in b ? { properties } : {}),
    ...(required.length === 0 ? {} : { required })
  }
}

const without = (schema: JsonObject, ...names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))

const anyValue = (schema: JsonObject, unknown?: string): ReadSchema => ({
  schema,
  nullable: true,
  choices: undefined,
  unknown
})

/** The maximum depth of references and nested schemas. */
const maxHops = 32

/** The maximum number of schemas read for one form: nested alternatives multiply. */
const maxReads = 20_000

/** The root schema of references, and how many more schemas may be read. */
export interface SchemaRoot {
  readonly schema: JsonObject
  left: number
}

export const schemaRoot = (schema: JsonObject): SchemaRoot => ({ schema, left: maxReads })

const withoutNull = (values: ReadonlyArray<Json>) => values.filter((value) => value !== null)

const ofAlternatives = (
  root: SchemaRoot,
  base: JsonObject,
  given: ReadonlyArray<Json>,
  hops: number
): ReadSchema => {
  const all = given.map((one) => readSchema(root, one, hops + 1))
  const isNull = ({ choices, schema }: ReadSchema) =>
    schema["type"] === "null" || (choices !== undefined && choices.length === 0)
  const others = all.filter((one) => !isNull(one))
  const nullable = all.some((one) => one.nullable)
  const [only, ...more] = others
  if (only !== undefined && more.length === 0)
    return { ...only, schema: { ...only.schema, ...base }, nullable }
  if (others.length > 0 && others.every(({ choices }) => choices !== undefined)) {
    return { schema: base, nullable, choices: others.flatMap(({ choices }) => choices!), unknown: undefined }
  }
  return { ...anyValue(base, "Several types are allowed."), nullable }
}

/** Reads a schema inside the root schema. */
export const readSchema = (root: SchemaRoot, given: Json | undefined, hops = 0): ReadSchema => {
  if (!isObject(given)) return anyValue({})
  if (hops > maxHops) return anyValue({}, "Its schema refers to itself.")
  if (root.left-- <= 0) return anyValue({}, "Its schema is too complex.")
  const ref = member(given, "$ref")
  if (typeof ref === "string") {
    const target = resolveReference(root.schema, ref)
    if (target === undefined) return anyValue({}, `Its schema refers to ${ref}, which does not exist.`)
    const own = without(given, "$ref")
    return isObject(target)
      ? readSchema(root, Object.keys(own).length === 0 ? target : { allOf: [target, own] }, hops + 1)
      : anyValue(own)
  }
  const parts = listIn(given, "allOf")
  if (parts.length > 0) {
    const merged = parts.reduce<JsonObject>(
      (all, part) => mergeSchemas(all, flat(root, part, hops + 1)),
      without(given, "allOf")
    )
    return readSchema(root, merged, hops + 1)
  }
  for (const name of ["anyOf", "oneOf"]) {
    const alternatives = listIn(given, name)
    if (alternatives.length > 0) return ofAlternatives(root, without(given, name), alternatives, hops)
  }
  const values = Object.hasOwn(given, "const") ? [given["const"]!] : member(given, "enum")
  if (Array.isArray(values)) {
    return {
      schema: given,
      nullable: values.includes(null),
      choices: withoutNull(values),
      unknown: undefined
    }
  }
  const type = member(given, "type")
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== "null")
    const nullable = types.length < type.length
    if (types.length === 1)
      return { schema: { ...given, type: types[0]! }, nullable, choices: undefined, unknown: undefined }
    return { ...anyValue(without(given, "type"), "Several types are allowed."), nullable }
  }
  return { ...anyValue(given), nullable: type === undefined || type === "null" }
}

/** Flattens a part of `allOf`, with its references and nested parts. */
const flat = (root: SchemaRoot, part: Json, hops: number): JsonObject => {
  if (!isObject(part) || hops > maxHops || root.left-- <= 0) return {}
  const ref = member(part, "$ref")
  if (typeof ref === "string") {
    const target = resolveReference(root.schema, ref)
    return mergeSchemas(isObject(target) ? flat(root, target, hops + 1) : {}, without(part, "$ref"))
  }
  return listIn(part, "allOf").reduce<JsonObject>(
    (all, inner) => mergeSchemas(all, flat(root, inner, hops + 1)),
    without(part, "allOf")
  )
}
