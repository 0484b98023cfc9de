import type { Effect, Scope } from "effect"
import type { RefMoved } from "../../domain/Ref.js"
import type { AmbiguousWriteError, RemoteError, ValidationError } from "../../domain/StoreError.js"
import type { Call } from "./Call.js"
import type { Problem } from "./Problem.js"
import type { Reply } from "./Reply.js"

/** What a handler may fail with: a refusal in GitHub's words, or what the engine below could not do. */
export type Failure = Problem | RemoteError | AmbiguousWriteError | ValidationError | RefMoved

export type Answer = Effect.Effect<Reply, Failure, Scope.Scope>

/**
 * One operation of the REST API. `template` is GitHub's own, with `*` after a last parameter that may hold slashes;
 * `docs` is the operation's page below docs.github.com.
 */
export interface Route {
  readonly method: string
  readonly template: string
  readonly docs: string
  readonly handle: (call: Call) => Answer
}

export const make = (
  method: string,
  template: string,
  docs: string,
  handle: (call: Call) => Answer
): Route => ({
  method,
  template,
  docs,
  handle
})

interface Node {
  readonly literals: Map<string, Node>
  parameter: Node | undefined
  readonly routes: Map<string, { readonly route: Route; readonly names: ReadonlyArray<string> }>
  readonly greedy: Map<string, { readonly route: Route; readonly names: ReadonlyArray<string> }>
}

const node = (): Node => ({ literals: new Map(), parameter: undefined, routes: new Map(), greedy: new Map() })

export interface Match {
  readonly route: Route
  readonly parameters: Readonly<Record<string, string>>
}

const decode = (segment: string): string | undefined => {
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** Finds the route of a request by its path as it was sent; a literal segment wins over a parameter. */
export const matcher = (routes: ReadonlyArray<Route>) => {
  const root = node()
  for (const route of routes) {
    const names: Array<string> = []
    let at = root
    let greedy = false
    for (const segment of route.template.split("/").slice(1)) {
      if (segment === "") continue
      if (!segment.startsWith("{")) {
        const next = at.literals.get(segment) ?? node()
        at.literals.set(segment, next)
        at = next
        continue
      }
      greedy = segment.endsWith("*}")
      names.push(segment.slice(1, greedy ? -2 : -1))
      if (!greedy) {
        at.parameter ??= node()
        at = at.parameter
      }
    }
    const table = greedy ? at.greedy : at.routes
    table.set(route.method, { route, names })
  }

  const find = (
    at: Node,
    method: string,
    segments: ReadonlyArray<string>,
    index: number,
    values: ReadonlyArray<string>
  ): Match | undefined => {
    const found = (
      hit: { readonly route: Route; readonly names: ReadonlyArray<string> } | undefined,
      all: ReadonlyArray<string>
    ): Match | undefined =>
      hit && {
        route: hit.route,
        parameters: Object.fromEntries(hit.names.map((name, position) => [name, all[position]!]))
      }
    if (index === segments.length) return found(at.routes.get(method), values)
    const segment = segments[index]!
    const literal = at.literals.get(segment)
    const deeper = literal && find(literal, method, segments, index + 1, values)
    if (deeper !== undefined) return deeper
    const parameter =
      at.parameter && segment !== ""
        ? find(at.parameter, method, segments, index + 1, [...values, segment])
        : undefined
    if (parameter !== undefined) return parameter
    return found(at.greedy.get(method), [...values, segments.slice(index).join("/")])
  }

  return (method: string, path: string): Match | undefined => {
    const segments: Array<string> = []
    for (const raw of path.split("/").slice(1)) {
      const segment = decode(raw)
      if (segment === undefined) return undefined
      segments.push(segment)
    }
    if (segments.length === 1 && segments[0] === "") segments.pop()
    return find(root, method === "HEAD" ? "GET" : method, segments, 0, [])
  }
}
