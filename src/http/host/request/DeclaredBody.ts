import { Effect, type Schema, SchemaAST } from "effect"
import type { HostError } from "../reply/HostError.js"
import * as JsonFields from "./JsonFields.js"

/** The decoded type of a member. Handlers check the contents of lists and objects. */
type Member<A> = A extends string | boolean | null | undefined
  ? A
  : A extends ReadonlyArray<unknown>
    ? ReadonlyArray<unknown>
    : JsonFields.Fields

/** A request body whose members the endpoint declares. */
export interface DeclaredBody<B> {
  readonly fields: JsonFields.Fields
  /** Decodes some members, in order. */
  readonly get: <const Names extends ReadonlyArray<keyof B & string>>(
    ...names: Names
  ) => Effect.Effect<{ readonly [Name in Names[number]]: Member<B[Name]> }, HostError>
}

const readers = {
  StringKeyword: JsonFields.string,
  BooleanKeyword: JsonFields.boolean,
  TupleType: JsonFields.array,
  TypeLiteral: JsonFields.object
}

const isNull = (ast: SchemaAST.AST) => ast._tag === "Literal" && ast.literal === null

const membersOf = (body: Schema.Schema.All) => {
  const signatures = SchemaAST.getPropertySignatures(body.ast)
  const read = new Map(
    signatures.map(({ name, type }) => {
      const kinds =
        type._tag === "Union" ? type.types.flatMap((one) => (one._tag === "Union" ? one.types : one)) : [type]
      const reader = kinds.flatMap(({ _tag }) =>
        _tag in readers ? readers[_tag as keyof typeof readers] : []
      )[0]!
      return [String(name), { reader, nullable: kinds.some(isNull) }]
    })
  )
  const required = signatures.filter(({ isOptional }) => !isOptional).map(({ name }) => String(name))
  return { read, required }
}

const membersBySchema = new WeakMap<Schema.Schema.All, ReturnType<typeof membersOf>>()

/**
 * Checks a body against the endpoint's declaration. Fails if a required member is missing, and names all that are.
 */
export const fromFields = <B>(
  endpoint: { readonly body: Schema.Schema<B, any> | undefined },
  fields: JsonFields.Fields
): Effect.Effect<DeclaredBody<B>, HostError> => {
  const body = endpoint.body as Schema.Schema<B, any>
  const members = membersBySchema.get(body) ?? membersOf(body)
  membersBySchema.set(body, members)
  const one = (name: string): Effect.Effect<unknown, HostError> => {
    const { nullable, reader } = members.read.get(name)!
    return nullable && fields[name] === null ? Effect.succeed(null) : reader(fields, name)
  }
  const get = (...names: ReadonlyArray<string>) =>
    Effect.map(Effect.forEach(names, one), (values) =>
      Object.fromEntries(values.map((value, index) => [names[index]!, value]))
    )
  return Effect.as(JsonFields.requireFields(fields, ...members.required), { fields, get } as DeclaredBody<B>)
}
