import {
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode
} from "graphql"

/** What GitHub lets one query ask for. */
export const mostNodes = 500_000

/** How many nodes an operation may answer, by its `first` and `last`, and what it costs by GitHub's formula. */
export const estimate = (
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Readonly<Record<string, unknown>>
): { readonly points: number; readonly nodes: number } => {
  let nodes = 0
  let requests = 0
  let steps = 0
  const walk = (
    selections: SelectionSetNode | undefined,
    times: number,
    inside: ReadonlyArray<string>
  ): void => {
    for (const selection of selections?.selections ?? []) {
      if (++steps > 1_000_000) nodes = Number.POSITIVE_INFINITY
      if (nodes > mostNodes) return
      if (selection.kind === Kind.FIELD) {
        const size = selection.arguments
          ?.filter(({ name }) => name.value === "first" || name.value === "last")
          .map(({ value }) =>
            value.kind === Kind.INT
              ? Number(value.value)
              : value.kind === Kind.VARIABLE
                ? Number(variables[value.name.value] ?? 0)
                : 0
          )[0]
        if (size !== undefined && Number.isFinite(size)) {
          requests += times
          nodes += times * Math.max(0, size)
        }
        walk(selection.selectionSet, times * Math.max(1, size || 1), inside)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, times, inside)
      } else if (!inside.includes(selection.name.value)) {
        walk(fragments.get(selection.name.value)?.selectionSet, times, [...inside, selection.name.value])
      }
    }
  }
  walk(operation.selectionSet, 1, [])
  return { nodes, points: Math.max(1, Math.round(requests / 100)) }
}
