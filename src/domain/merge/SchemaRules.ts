import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { MergeFields, MergeRule } from "./MergeRules.js"

/**
 * The schema annotation with the merge rule of its values.
 *
 * @example
 * ```ts
 * const Product = Schema.Struct({
 *   tags: Schema.Array(Schema.String).annotations({ [MergeRuleId]: "set" }),
 *   stock: Schema.Number.annotations({ [MergeRuleId]: "counter" })
 * })
 * ```
 *
 * @since 0.1.0
 * @category annotations
 */
export const MergeRuleId: unique symbol = Symbol.for("chainstore/annotation/MergeRule")

declare module "effect/Schema" {
  namespace Annotations {
    interface Schema<A, TypeParameters extends ReadonlyArray<any> = readonly []> {
      readonly [MergeRuleId]?: MergeRule
    }
  }
}

type Mutable = { [path: string]: MergeRule }

const annotated = (annotations: AST.Annotated): MergeRule | undefined =>
  Option.getOrUndefined(AST.getAnnotation<MergeRule>(MergeRuleId)(annotations))

class Reading {
  /** The rules of the schemas that are being read. The rules of a recursive schema contain themselves. */
  private readonly fields = new Map<AST.AST, Mutable>()

  /** The rules of the members of the encoded object. */
  fieldsOf(ast: AST.AST): Mutable | undefined {
    switch (ast._tag) {
      case "Transformation":
        return this.merged([this.fieldsOf(ast.from), this.renamed(ast)])
      case "Refinement":
        return this.fieldsOf(ast.from)
      case "Suspend":
        return this.fieldsOf(ast.f())
      case "Union":
        return this.merged(ast.types.map((type) => this.fieldsOf(type)))
      case "TypeLiteral":
        return this.fieldsOfLiteral(ast)
    }
    return undefined
  }

  private merged(each: ReadonlyArray<Mutable | undefined>): Mutable | undefined {
    const defined = each.filter((fields) => fields !== undefined)
    return defined.length > 1
      ? Object.fromEntries(defined.flatMap((fields) => Object.entries(fields)))
      : defined[0]
  }

  /** The rules of renamed or optional members, whose annotations are only on the decoded side. */
  private renamed({ to, transformation }: AST.Transformation): Mutable | undefined {
    if (!AST.isTypeLiteral(to) || !AST.isTypeLiteralTransformation(transformation)) return undefined
    const stored = new Map(
      transformation.propertySignatureTransformations.map((member) => [member.to, member.from])
    )
    const rules = to.propertySignatures.flatMap((member) => {
      const rule = annotated(member)
      const name = stored.get(member.name) ?? member.name
      return rule === undefined || typeof name !== "string"
        ? []
        : [[name, this.within(rule, member.type)!] as const]
    })
    return rules.length === 0 ? undefined : Object.fromEntries(rules)
  }

  private fieldsOfLiteral(ast: AST.TypeLiteral): Mutable | undefined {
    const before = this.fields.get(ast)
    if (before !== undefined) return before
    const fields: Mutable = Object.create(null)
    this.fields.set(ast, fields)
    const members = [
      ...ast.propertySignatures.map((member) => ({ name: member.name, member })),
      ...ast.indexSignatures.map((member) => ({ name: "*", member: { ...member, annotations: {} } }))
    ]
    for (const { name, member } of members) {
      const whole = this.within(annotated(member) ?? this.ruleOf(member.type), member.type)
      if (whole !== undefined && typeof name === "string") fields[name] = whole
    }
    return Object.keys(fields).length === 0 ? undefined : fields
  }

  /** Adds the rules of an object's members, or of the members of a list's items. */
  private within(rule: MergeRule | undefined, ast: AST.AST): MergeRule | undefined {
    if (rule === undefined) {
      const fields = this.fieldsOf(ast)
      return fields === undefined ? undefined : { fields }
    }
    if (typeof rule !== "object" || !("key" in rule) || rule.fields !== undefined) return rule
    const item = itemIn(ast)
    const fields = item === undefined ? undefined : this.fieldsOf(item)
    return fields === undefined ? rule : { ...rule, fields }
  }

  /** The rule in the annotation of a schema or of its parts. */
  private ruleOf(ast: AST.AST): MergeRule | undefined {
    const rule = annotated(ast)
    if (rule !== undefined) return rule
    switch (ast._tag) {
      case "Transformation":
        return this.ruleOf(ast.to) ?? this.ruleOf(ast.from)
      case "Refinement":
        return this.ruleOf(ast.from)
      case "Union":
        return ast.types.map((type) => this.ruleOf(type)).find((found) => found !== undefined)
    }
    return undefined
  }
}

/** The schema of the items of a list. */
const itemIn = (ast: AST.AST): AST.AST | undefined => {
  switch (ast._tag) {
    case "Transformation":
    case "Refinement":
      return itemIn(ast.from)
    case "Suspend":
      return itemIn(ast.f())
    case "Union":
      return ast.types.map(itemIn).find((item) => item !== undefined)
    case "TupleType":
      return ast.rest[0]?.type
  }
  return undefined
}

/**
 * The merge rules in the annotations of a schema, for the members of the encoded document.
 *
 * @example
 * ```ts
 * const fields = fieldsOfSchema(Schema.Struct({ stock: Schema.Number.annotations({ [MergeRuleId]: "counter" }) }))
 * // { stock: "counter" }
 * ```
 *
 * @since 0.1.0
 * @category merging
 */
export const fieldsOfSchema = (schema: Schema.Schema.All): MergeFields =>
  new Reading().fieldsOf(schema.ast) ?? {}
