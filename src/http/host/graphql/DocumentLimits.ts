import {
  type DocumentNode,
  GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode
} from "../../../vendor/Graphql.js"
import { failure, resourceLimitsExceeded } from "./GraphQlFailure.js"

/**
 * The limits of a document. Some validation rules are quadratic in these numbers and run synchronously. Real
 * documents stay far below the limits.
 */
const limits = {
  operations: 100,
  fragments: 200,
  variables: 1000,
  /** The nesting of selection sets, without expanding fragments. */
  depth: 100,
  /** The selections of one selection set that have the same response name or are fragments. */
  alike: 200
}

const tooMany = (what: string, bound: number) =>
  failure("RESOURCE_LIMITS_EXCEEDED", `The document has more than ${bound} ${what}.`)

const nameOf = (selection: SelectionNode): string =>
  selection.kind === Kind.FIELD ? (selection.alias ?? selection.name).value : ""

const alikeIn = ({ selections }: SelectionSetNode): boolean => {
  if (selections.length <= limits.alike) return false
  const counts = new Map<string, number>()
  for (const selection of selections) {
    const count = (counts.get(nameOf(selection)) ?? 0) + 1
    if (count > limits.alike) return true
    counts.set(nameOf(selection), count)
  }
  return false
}

/** The error of a parsed document that exceeds a limit; undefined if it does not. */
export const documentProblem = ({ definitions }: DocumentNode): GraphQLError | undefined => {
  const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length
  if (operations > limits.operations) return tooMany("operations", limits.operations)
  if (definitions.length - operations > limits.fragments) return tooMany("fragments", limits.fragments)
  let level: Array<SelectionSetNode> = []
  for (const definition of definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      if ((definition.variableDefinitions?.length ?? 0) > limits.variables)
        return tooMany("variables", limits.variables)
    } else if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue
    level.push(definition.selectionSet)
  }
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.depth) return tooMany("levels of selections", limits.depth)
    const below: Array<SelectionSetNode> = []
    for (const set of level) {
      if (alikeIn(set)) return tooMany("selections of one name, or fragments, in one place", limits.alike)
      for (const selection of set.selections) {
        if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet !== undefined)
          below.push(selection.selectionSet)
      }
    }
    level = below
  }
  return undefined
}

/** Replaces the error of graphql-js for too many errors, which does not name the limit. */
export const explainAborted = (error: GraphQLError): GraphQLError =>
  error.message === "Validation aborted." ? resourceLimitsExceeded() : error

/** The maximum number of members of an object in the variables. No input type of the schema has more than a few. */
const maxMembers = 50

/** The maximum number of lists and objects in the variables, which bounds the paths of one commit. */
const maxNested = 10_000

/** The maximum nesting depth of the variables. */
const maxLevels = 50

/**
 * The error of variables that exceed a limit; undefined if they do not. graphql-js prints an invalid value completely
 * in up to fifty errors.
 */
export const variablesProblem = (variables: Readonly<Record<string, unknown>>): GraphQLError | undefined => {
  let level: Array<unknown> = Object.values(variables)
  if (level.length > limits.variables)
    return new GraphQLError(`The variables may have ${limits.variables} members at most.`)
  let nested = 0
  for (let depth = 1; level.length > 0; depth++) {
    const below: Array<unknown> = []
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue
      if (depth > maxLevels)
        return new GraphQLError(`Variables may have ${maxLevels} levels of lists and objects at most.`)
      if (++nested > maxNested)
        return new GraphQLError(
          `The variables may hold ${maxNested} lists and objects at most: change fewer files in one commit.`
        )
      const members = Array.isArray(value) ? value : Object.values(value)
      if (members !== value && members.length > maxMembers)
        return new GraphQLError(`An object in the variables may have ${maxMembers} members at most.`)
      for (const member of members) if (typeof member === "object") below.push(member)
    }
    level = below
  }
  return undefined
}
