import * as Option from "effect/Option"
import * as SchemaAST from "effect/SchemaAST"

/** Accepts a value that its schema would decode to that same value. What it refuses may be valid all the same. */
export type Guard = (input: unknown) => boolean

/** The annotation by which a declared schema gives its guard, made of the guards of its type parameters. */
export const GuardAnnotation: unique symbol = Symbol.for("chainstore/Guard")

interface Field {
  readonly guard: Guard
  readonly isRequired: boolean
}

/** An object with these fields and no other: a decoder leaves out what is unexpected. */
const struct = (fields: ReadonlyMap<string, Field>): Guard => {
  const required = Array.from(fields.values()).filter(({ isRequired }) => isRequired).length
  return (input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return false
    let found = 0
    for (const name in input) {
      const field = fields.get(name)
      if (field === undefined || !field.guard((input as Record<string, unknown>)[name])) return false
      if (field.isRequired) found++
    }
    return found === required
  }
}

const all = (types: ReadonlyArray<SchemaAST.AST>): ReadonlyArray<Guard> | undefined => {
  const guards = types.map(compile)
  return guards.every((guard) => guard !== undefined) ? guards : undefined
}

const structOf = ({ indexSignatures, propertySignatures }: SchemaAST.TypeLiteral): Guard | undefined => {
  const guards = all(propertySignatures.map(({ type }) => type))
  if (guards === undefined || indexSignatures.length > 0) return undefined
  const fields = new Map<string, Field>()
  for (const [at, { isOptional, name }] of propertySignatures.entries()) {
    if (typeof name !== "string") return undefined
    fields.set(name, { guard: guards[at]!, isRequired: !isOptional })
  }
  return struct(fields)
}

const arrayOf = ({ elements, rest }: SchemaAST.TupleType): Guard | undefined => {
  const [item] = all(rest.map(({ type }) => type)) ?? []
  if (item === undefined || rest.length > 1 || elements.length > 0) return undefined
  return (input) => Array.isArray(input) && input.every(item)
}

const unionOf = ({ types }: SchemaAST.Union): Guard | undefined => {
  const guards = all(types)
  return guards && ((input) => guards.some((guard) => guard(input)))
}

const refinementOf = (ast: SchemaAST.Refinement): Guard | undefined => {
  const from = compile(ast.from)
  return (
    from && ((input) => from(input) && Option.isNone(ast.filter(input, SchemaAST.defaultParseOption, ast)))
  )
}

const declared = ({ annotations, typeParameters }: SchemaAST.Declaration): Guard | undefined => {
  const make = annotations[GuardAnnotation] as ((...of: ReadonlyArray<Guard>) => Guard) | undefined
  const guards = all(typeParameters)
  return guards && make?.(...guards)
}

/** The guard of a schema: a fraction of what decoding costs. Nothing where decoding may change a valid value. */
export const compile = (ast: SchemaAST.AST): Guard | undefined => {
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
    case "Declaration":
      return declared(ast)
    default:
      return undefined
  }
}
