import {
  type DocumentNode,
  GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode
} from "../../../vendor/Graphql.js"
import { exhausted, failure } from "./GraphQlFailure.js"

/**
 * What validation and execution take a document for: some of their rules compare each part with each other part, and
 * they do not pause. Programs and people stay far below these numbers.
 */
const most = {
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
  if (selections.length <= most.alike) return false
  const counts = new Map<string, number>()
  for (const selection of selections) {
    const count = (counts.get(nameOf(selection)) ?? 0) + 1
    if (count > most.alike) return true
    counts.set(nameOf(selection), count)
  }
  return false
}

/** Why a parsed document takes too long to validate, if it does. */
export const documentProblem = ({ definitions }: DocumentNode): GraphQLError | undefined => {
  const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length
  if (operations > most.operations) return tooMany("operations", most.operations)
  if (definitions.length - operations > most.fragments) return tooMany("fragments", most.fragments)
  let level: Array<SelectionSetNode> = []
  for (const definition of definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      if ((definition.variableDefinitions?.length ?? 0) > most.variables)
        return tooMany("variables", most.variables)
    } else if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue
    level.push(definition.selectionSet)
  }
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most.depth) return tooMany("levels of selections", most.depth)
    const below: Array<SelectionSetNode> = []
    for (const set of level) {
      if (alikeIn(set)) return tooMany("selections of one name, or fragments, in one place", most.alike)
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
  error.message === "Validation aborted." ? exhausted() : error

/** How many members an object inside of the variables may have; no input of the schema has more than a few. */
const mostMembers = 50

/** How many lists and objects there may be inside of the variables: the paths that one commit may change, nearly. */
const mostNested = 10_000

/** How many objects and lists of the variables may be inside each other. */
const mostLevels = 50

/**
 * Why variables cannot be the values of any input, if they cannot. A value that does not fit its type is printed in
 * up to fifty errors, each in full.
 */
export const variablesProblem = (variables: Readonly<Record<string, unknown>>): GraphQLError | undefined => {
  let level: Array<unknown> = Object.values(variables)
  if (level.length > most.variables)
    return new GraphQLError(`The variables may have ${most.variables} members at most.`)
  let nested = 0
  for (let depth = 1; level.length > 0; depth++) {
    const below: Array<unknown> = []
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue
      if (depth > mostLevels)
        return new GraphQLError(`Variables may have ${mostLevels} levels of lists and objects at most.`)
      if (++nested > mostNested)
        return new GraphQLError(
          `The variables may hold ${mostNested} lists and objects at most: change fewer files in one commit.`
        )
      const members = Array.isArray(value) ? value : Object.values(value)
      if (members !== value && members.length > mostMembers)
        return new GraphQLError(`An object in the variables may have ${mostMembers} members at most.`)
      for (const member of members) if (typeof member === "object") below.push(member)
    }
    level = below
  }
  return undefined
}
