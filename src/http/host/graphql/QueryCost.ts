import {
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode
} from "../../../vendor/Graphql.js"

/** What GitHub lets one query ask for. */
export const maxNodes = 500_000

/** How many fields one query may ask for, fragments spelled out, and how many values it may answer with. */
const maxFields = 100_000
const maxValues = 5_000_000

/** Introspection is answered in one go, so it is let ask for no more than a few times what tools ask for. */
const maxIntrospection = 500

/** What directories may add to a query's values, whose sizes are not known before. */
export const maxListed = 2_000_000

/** How many fields a selection holds, fragments spelled out. */
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
 * How many nodes an operation may answer, by its `first` and `last`, and what it costs by GitHub's formula; `tooMuch`
 * where it asks for more fields or values than one answer may hold.
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
  // A valid document has no cycle of fragments.
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
