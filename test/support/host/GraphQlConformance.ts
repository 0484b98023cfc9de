import {
  buildASTSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  typeFromAST
} from "graphql"
import { schema as source } from "../../../src/http/host/graphql/schema.generated.js"
import { graphqlErrors } from "./DocumentedErrors.js"

/** The host's part of GitHub's schema. `Schema.test.ts` compares it with the official one. */
const schema = buildASTSchema(parse(source, { noLocation: true }), { assumeValidSDL: true })

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const text = (pattern: RegExp) => (value: unknown) => typeof value === "string" && pattern.test(value)

/** The formats of GitHub's scalars. Scalars that are not listed may be any string. */
const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  Int: (value) => Number.isInteger(value),
  BigInt: text(/^\d+$/),
  Float: (value) => typeof value === "number",
  Boolean: (value) => typeof value === "boolean",
  ID: text(/^.+$/),
  GitObjectID: text(/^[0-9a-f]{40}$/),
  DateTime: text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  GitTimestamp: text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/),
  URI: text(/^(https?:\/\/|\/)/),
  GitSSHRemote: text(/^git@/)
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>
type Fields = Map<string, { readonly name: string; readonly selections: Array<SelectionSetNode> }>

interface Asked {
  readonly fragments: Fragments
  readonly variables: Readonly<Record<string, unknown>>
}

const skipped = (
  directives:
    | ReadonlyArray<{
        readonly name: { readonly value: string }
        readonly arguments?: ReadonlyArray<any> | undefined
      }>
    | undefined,
  variables: Asked["variables"]
): boolean =>
  (directives ?? []).some(({ arguments: given, name }) => {
    const value = given?.[0]?.value
    const holds = value?.kind === Kind.VARIABLE ? variables[value.name.value] === true : value?.value === true
    return name.value === "skip" ? holds : name.value === "include" ? !holds : false
  })

/** The selected fields of an object type by their response names. */
const collect = (type: GraphQLCompositeType, set: SelectionSetNode, asked: Asked, into: Fields): Fields => {
  for (const selection of set.selections) {
    if (skipped(selection.directives, asked.variables)) continue
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value
      const field = into.get(key) ?? { name: selection.name.value, selections: [] }
      if (selection.selectionSet !== undefined) field.selections.push(selection.selectionSet)
      into.set(key, field)
      continue
    }
    const fragment =
      selection.kind === Kind.FRAGMENT_SPREAD ? asked.fragments.get(selection.name.value) : selection
    if (fragment === undefined) continue
    const condition = fragment.typeCondition ? typeFromAST(schema, fragment.typeCondition) : type
    const fits =
      condition === type ||
      (isAbstractType(condition) && isObjectType(type) && schema.isSubType(condition, type))
    if (fits) collect(type, fragment.selectionSet, asked, into)
  }
  return into
}

const problemsOfObject = (
  type: GraphQLCompositeType,
  value: Readonly<Record<string, unknown>>,
  selections: ReadonlyArray<SelectionSetNode>,
  at: string,
  asked: Asked
): ReadonlyArray<string> => {
  if (isAbstractType(type)) {
    // If the type was not selected, the value must match at least one possible type.
    const candidates = schema.getPossibleTypes(type)
    const found = candidates.map((candidate) => problemsOfObject(candidate, value, selections, at, asked))
    return found.find((problems) => problems.length === 0) ?? found[0] ?? [`${at} is of no type`]
  }
  const fields: Fields = new Map()
  for (const set of selections) collect(type, set, asked, fields)
  const problems: Array<string> = []
  for (const key of Object.keys(value)) if (!fields.has(key)) problems.push(`${at}.${key} was not asked for`)
  for (const [key, { name, selections: inner }] of fields) {
    if (name === "__typename") {
      if (value[key] !== type.name) problems.push(`${at}.${key} is not ${type.name}`)
    } else if (!name.startsWith("__")) {
      const field = isObjectType(type) ? type.getFields()[name] : undefined
      if (field === undefined) problems.push(`${type.name} has no ${name}`)
      else problems.push(...problemsOfValue(field.type, value[key], inner, `${at}.${key}`, asked))
    }
  }
  return problems
}

const problemsOfValue = (
  type: GraphQLOutputType,
  value: unknown,
  selections: ReadonlyArray<SelectionSetNode>,
  at: string,
  asked: Asked
): ReadonlyArray<string> => {
  if (value === undefined) return [`${at} is missing`]
  if (isNonNullType(type)) {
    return value === null
      ? [`${at} is null`]
      : problemsOfValue(type.ofType as GraphQLOutputType, value, selections, at, asked)
  }
  if (value === null) return []
  if (isListType(type)) {
    return Array.isArray(value)
      ? value.flatMap((one, index) => problemsOfValue(type.ofType, one, selections, `${at}.${index}`, asked))
      : [`${at} is no list`]
  }
  if (isCompositeType(type)) {
    return isObject(value) ? problemsOfObject(type, value, selections, at, asked) : [`${at} is no object`]
  }
  const named = getNamedType(type)
  const good = isEnumType(named)
    ? named.getValue(String(value)) !== undefined
    : (scalars[named.name] ?? text(/^/))(value)
  return good ? [] : [`${at} is no ${named.name}: ${JSON.stringify(value)?.slice(0, 80)}`]
}

const problemsOfError = (error: unknown, partial: boolean): ReadonlyArray<string> => {
  if (!isObject(error) || typeof error["message"] !== "string") return ["an error without a message"]
  const { message, path, type } = error as { message: string; path?: unknown; type?: unknown }
  if (type === undefined) {
    return partial ? [`an error of a field has no type: ${message}`] : []
  }
  const known = graphqlErrors.some((row) => row.type === type && row.message.test(message))
  const problems = known ? [] : [`${type} ${JSON.stringify(message)} is not in the table`]
  return partial && !Array.isArray(path) ? [...problems, `${type} without a path`] : problems
}

const operationOf = (document: DocumentNode, name: unknown) => {
  const all = document.definitions.filter(
    (one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION
  )
  return typeof name === "string" && name !== "" ? all.find((one) => one.name?.value === name) : all[0]
}

/** Returns the differences between a GraphQL reply and GitHub's schema. */
export const graphqlProblems = (request: string, answer: unknown): ReadonlyArray<string> => {
  if (!isObject(answer)) return ["the answer is no object"]
  const { data, errors } = answer
  if (data === undefined && errors === undefined) return ["neither data nor errors"]
  if (errors !== undefined && (!Array.isArray(errors) || errors.length === 0)) return ["errors is no list"]
  const problems = ((errors as ReadonlyArray<unknown> | undefined) ?? []).flatMap((error) =>
    problemsOfError(error, data !== undefined)
  )
  if (!isObject(data)) return data === null && errors === undefined ? [...problems, "data is null"] : problems
  const body = JSON.parse(request) as Readonly<Record<string, unknown>>
  const document = parse(String(body["query"]))
  const operation = operationOf(document, body["operationName"])
  if (operation === undefined) return [...problems, "data of no operation"]
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const one of document.definitions) {
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one)
  }
  const given = isObject(body["variables"]) ? body["variables"] : {}
  const defaults = (operation.variableDefinitions ?? []).map(({ defaultValue, variable }) => [
    variable.name.value,
    defaultValue !== undefined && "value" in defaultValue ? defaultValue.value : undefined
  ])
  const root = schema.getRootType(operation.operation)!
  return [
    ...problems,
    ...problemsOfObject(root, data, [operation.selectionSet], "data", {
      fragments,
      variables: { ...Object.fromEntries(defaults), ...given }
    })
  ]
}
