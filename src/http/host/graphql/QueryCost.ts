import {
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode
} from "../../../vendor/Graphql.js"

/** The maximum number of nodes of a query, as on GitHub. */
export const maxNodes = 500_000

/** The maximum number of fields of a query after expanding fragments, and of values in its reply. */
const maxFields = 100_000
const maxValues = 5_000_000

/**
 * The maximum number of introspection fields. Introspection runs synchronously. The limit is a few times what tools
 * request.
 */
const maxIntrospection = 500

/** The maximum number of values of directory entries in a reply. Their number is not known in advance. */
export const maxListed = 2_000_000

/** Counts the fields of a selection set after expanding fragments. */
export const countFields = (
  selections: SelectionSetNode | undefined,
  fragments: (name: string) => FragmentDefinitionNode | undefined,
  known = 0
): number => {
  let count = known
  for (const selection of selections?.selections ?? []) {
    if (count > maxFields) return count
    const below =
      selection.kind === Kind.FRAGMENT_SPREAD
        ? fragments(selection.name.value)?.selectionSet
        : selection.selectionSet
    count = countFields(below, fragments, selection.kind === Kind.FIELD ? count + 1 : count)
  }
  return count
}

const defaults = (operation: OperationDefinitionNode) =>
  new Map(
    (operation.variableDefinitions ?? []).map(({ defaultValue, variable }) => [
      variable.name.value,
      defaultValue?.kind === Kind.INT ? Number(defaultValue.value) : 0
    ])
  )

/**
 * Estimates the nodes of an operation from its `first` and `last` arguments, and its cost by GitHub's formula.
 * `tooMuch` means that it exceeds a limit of fields or values.
 */
export const estimate = (
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Readonly<Record<string, unknown>>
): { readonly points: number; readonly nodes: number; readonly tooMuch: boolean } => {
  const otherwise = defaults(operation)
  let nodes = 0
  let requests = 0
  let steps = 0
  let values = 0
  let introspection = 0
  const isTooMuch = () =>
    steps > maxFields || values > maxValues || introspection > maxIntrospection || nodes > maxNodes
  // Valid documents have no cyclic fragments.
  const walk = (selections: SelectionSetNode | undefined, times: number): void => {
    for (const selection of selections?.selections ?? []) {
      steps++
      if (isTooMuch()) return
      if (selection.kind === Kind.FIELD) {
        values += times
        if (selection.name.value === "__schema" || selection.name.value === "__type") {
          introspection += countFields(selection.selectionSet, (name) => fragments.get(name))
        }
        const size = selection.arguments
          ?.filter(({ name }) => name.value === "first" || name.value === "last")
          .map(({ value }) =>
            value.kind === Kind.INT
              ? Number(value.value)
              : value.kind === Kind.VARIABLE
                ? Number(
                    value.name.value in variables
                      ? variables[value.name.value]
                      : otherwise.get(value.name.value)
                  )
                : 0
          )[0]
        if (size !== undefined && Number.isFinite(size)) {
          requests += times
          nodes += times * Math.max(0, size)
        }
        walk(selection.selectionSet, times * Math.max(1, size || 1))
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, times)
      } else walk(fragments.get(selection.name.value)?.selectionSet, times)
    }
  }
  walk(operation.selectionSet, 1)
  return { nodes, points: Math.max(1, Math.round(requests / 100)), tooMuch: isTooMuch() }
}
