import {
  type DocumentNode,
  GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode
} from "../../../vendor/Graphql.js"
import { failure, resourceLimitsExceeded } from "./GraphQlFailure.js"

/**
 * What validation and execution take a document for: some of their rules compare each part with each other part, and
 * they do not pause. Programs and people stay far below these numbers.
 */
const limits = {
  operations: 100,
  fragments: 200,
  variables: 1000,
  /** Selection sets inside each other, fragments not spelled out. */
  depth: 100,
  /** Selections of one selection set that have the same name in the answer, or are not fields. */
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

/** Why a parsed document takes too long to validate, if it does. */
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

/** Validation has bounds of its own, and does not say which it met. */
export const explainAborted = (error: GraphQLError): GraphQLError =>
  error.message === "Validation aborted." ? resourceLimitsExceeded() : error

/** How many members an object inside of the variables may have; no input of the schema has more than a few. */
const maxMembers = 50

/** How many lists and objects there may be inside of the variables: the paths that one commit may change, nearly. */
const maxNested = 10_000

/** How many objects and lists of the variables may be inside each other. */
const maxLevels = 50

/**
 * Why variables cannot be the values of any input, if they cannot. A value that does not fit its type is printed in
 * up to fifty errors, each in full.
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
