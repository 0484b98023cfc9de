import { failure } from "./GraphQlFailure.js"

/** The arguments of every connection field. */
export interface ConnectionArguments {
  readonly first?: number | null
  readonly last?: number | null
  readonly after?: string | null
  readonly before?: string | null
}

const maxPageSize = 100

/**
 * The position and size of the requested page. Cursors encode positions. Throws GitHub's errors if the arguments are
 * invalid.
 */
export const window = (name: string, { after, before, first, last }: ConnectionArguments) => {
  const size = first ?? last
  if (size === undefined || size === null) {
    throw failure(
      "MISSING_PAGINATION_BOUNDARIES",
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`
    )
  }
  if (size > maxPageSize || size < 0) {
    throw failure(
      "EXCESSIVE_PAGINATION",
      `Requesting ${size} records on the \`${name}\` connection exceeds the \`first\` limit of ${maxPageSize} records.`
    )
  }
  return {
    size,
    skip: position(after) ?? 0,
    end: position(before),
    backwards: first === undefined || first === null
  }
}

const position = (cursor: string | null | undefined): number | undefined => {
  if (cursor === null || cursor === undefined) return undefined
  const match = / (\d{1,9})$/.exec(Buffer.from(cursor, "base64").toString())
  if (match === null)
    throw failure("UNPROCESSABLE", `\`${cursor.slice(0, 80)}\` does not appear to be a valid cursor.`)
  return Number(match[1])
}

const cursor = (index: number) => Buffer.from(`v1 ${index}`).toString("base64")

/** A connection with a page of nodes that begins at `skip`. */
export const page = <A>(nodes: ReadonlyArray<A>, skip: number, more: boolean, totalCount: unknown) => ({
  nodes,
  edges: nodes.map((node, index) => ({ node, cursor: cursor(skip + index + 1) })),
  totalCount,
  pageInfo: {
    startCursor: nodes.length === 0 ? null : cursor(skip + 1),
    endCursor: nodes.length === 0 ? null : cursor(skip + nodes.length),
    hasNextPage: more,
    hasPreviousPage: skip > 0
  }
})

/** The start and end of a page in a list of `total` items. */
export const bounds = ({ backwards, end, size, skip }: ReturnType<typeof window>, total: number) => {
  const before = Math.max(0, Math.min(end === undefined ? total : end - 1, total))
  const start = backwards ? Math.max(skip, before - size) : skip
  return { start, stop: Math.max(start, Math.min(start + size, before)) }
}

/** A connection with a page of a list in memory. */
export const slice = <A>(name: string, args: ConnectionArguments, all: ReadonlyArray<A>) => {
  const { backwards, end, size, skip } = window(name, args)
  const { start, stop } = bounds({ backwards, end, size, skip }, all.length)
  const nodes = all.slice(start, stop)
  return page(nodes, start, start + nodes.length < all.length, all.length)
}
