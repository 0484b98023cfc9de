import { Option, SchemaAST } from "effect"
import { EquivalentSchema } from "../../domain/playground/WireSchema.js"

/**
 * Returns true only if the schema would decode the value to the same value. A value for which it returns false may still
 * be valid and must be decoded by the schema.
 */
export type Validator = (input: unknown) => boolean

interface Field {
  readonly guard: Validator
  readonly isRequired: boolean
}

/** Accepts an object with these fields and no others, because decoding removes unexpected fields. */
const struct = (fields: ReadonlyMap<string, Field>): Validator => {
  const required = Array.from(fields).flatMap(([name, { isRequired }]) => (isRequired ? [name] : []))
  return (input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return false
    // Required fields are checked first: `for in` lists all names first, and a request may contain tens of thousands.
    for (const name of required) if (!Object.hasOwn(input, name)) return false
    for (const name in input) {
      const field = fields.get(name)
      if (field === undefined || !field.guard((input as Record<string, unknown>)[name])) return false
    }
    return true
  }
}

const all = (types: ReadonlyArray<SchemaAST.AST>): ReadonlyArray<Validator> | undefined => {
  const guards = types.map(compile)
  return guards.every((guard) => guard !== undefined) ? guards : undefined
}

const structOf = ({ indexSignatures, propertySignatures }: SchemaAST.TypeLiteral): Validator | undefined => {
  const guards = all(propertySignatures.map(({ type }) => type))
  if (guards === undefined || indexSignatures.length > 0) return undefined
  const fields = new Map<string, Field>()
  for (const [at, { isOptional, name }] of propertySignatures.entries()) {
    if (typeof name !== "string") return undefined
    fields.set(name, { guard: guards[at]!, isRequired: !isOptional })
  }
  return struct(fields)
}

const arrayOf = ({ elements, rest }: SchemaAST.TupleType): Validator | undefined => {
  const types = [...elements, ...rest].map(({ type }) => type)
  // Supports an array and a non-empty array.
  if (rest.length !== 1 || elements.length > 1 || types.some((type) => type !== types[0])) return undefined
  const [item] = all(types) ?? []
  return item && ((input) => Array.isArray(input) && input.length >= elements.length && input.every(item))
}

const unionOf = ({ types }: SchemaAST.Union): Validator | undefined => {
  const guards = all(types)
  return guards && ((input) => guards.some((guard) => guard(input)))
}

const refinementOf = (ast: SchemaAST.Refinement): Validator | undefined => {
  const from = compile(ast.from)
  return (
    from && ((input) => from(input) && Option.isNone(ast.filter(input, SchemaAST.defaultParseOption, ast)))
  )
}

/**
 * Compiles a schema to a validator, which takes a fraction of the time of decoding. Returns undefined if decoding may
 * change a valid value.
 */
export const compile = (ast: SchemaAST.AST): Validator | undefined => {
  switch (ast._tag) {
    case "StringKeyword":
      return (input) => typeof input === "string"
    case "NumberKeyword":
      return (input) => typeof input === "number"
    case "BooleanKeyword":
      return (input) => typeof input === "boolean"
    case "Literal":
      return (input) => input === ast.literal
    case "Refinement":
      return refinementOf(ast)
    case "Union":
      return unionOf(ast)
    case "TypeLiteral":
      return structOf(ast)
    case "TupleType":
      return arrayOf(ast)
    case "Declaration": {
      const plain = ast.annotations[EquivalentSchema]
      return plain === undefined ? undefined : compile(plain as SchemaAST.AST)
    }
    default:
      return undefined
  }
}
