import { Effect, type Scope } from "effect"
import type { RefMoved } from "../../../domain/Ref.js"
import type { AmbiguousWriteError, RemoteError, ValidationError } from "../../../domain/StoreError.js"
import type { Problem } from "../reply/Problem.js"
import type { Reply } from "../reply/Reply.js"
import type { Hosted } from "../repository/Repositories.js"
import type { Call } from "./Call.js"

/** What a handler may fail with: a refusal in GitHub's words, or what the engine below could not do. */
export type Failure = Problem | RemoteError | AmbiguousWriteError | ValidationError | RefMoved

export type Answer = Effect.Effect<Reply, Failure, Scope.Scope>

/** An operation by method and path template (see `Endpoint`), with its page below docs.github.com. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly docs: string
  /** The quota that pays for it. Default `core`. */
  readonly resource?: "core" | "free"
}

/** An operation and its handler. */
export interface Route extends Operation {
  readonly handle: (call: Call) => Answer
}

/** The route of an operation that needs no repository, or opens it itself. */
export const make = (operation: Operation, handle: Route["handle"]): Route => ({ ...operation, handle })

const opening =
  (right: "reading" | "writing" | "administering") =>
  (operation: Operation, handle: (call: Call, hosted: Hosted) => Answer): Route =>
    make(operation, (call) =>
      Effect.flatMap(
        call.host.repositories[right](call.principal, call.parameters["owner"]!, call.parameters["repo"]!),
        (hosted) => handle(call, hosted)
      )
    )

/** The route of an operation for whoever may read its repository. */
export const read = opening("reading")

/** The route of an operation for whoever may write to its repository. */
export const write = opening("writing")

/** The route of an operation for whoever may change the settings of its repository. */
export const administer = opening("administering")

interface Ending {
  readonly route: Route
  readonly names: ReadonlyArray<string>
}

/** The end of a route whose last parameter may hold slashes, and the literal segments after that parameter. */
interface GreedyEnding extends Ending {
  readonly tail: ReadonlyArray<string>
}

interface Node {
  readonly literals: Map<string, Node>
  parameter: Node | undefined
  readonly routes: Map<string, Ending>
  /** By method, the longest tail first. */
  readonly greedy: Map<string, Array<GreedyEnding>>
}

const node = (): Node => ({ literals: new Map(), parameter: undefined, routes: new Map(), greedy: new Map() })

/** Whether the segments from `index` on are a value of at least one segment that is not empty, and then `tail`. */
const endsIn = (segments: ReadonlyArray<string>, index: number, tail: ReadonlyArray<string>): boolean => {
  const start = segments.length - tail.length
  return (
    tail.length === 0 ||
    (start > index && segments[index] !== "" && tail.every((text, at) => segments[start + at] === text))
  )
}

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
    const tail: Array<string> = []
    for (const segment of route.path.split("/").slice(1)) {
      if (segment === "") continue
      if (greedy) {
        tail.push(segment)
        continue
      }
      if (!segment.startsWith("{")) {
        const next = at.literals.get(segment) ?? node()
        at.literals.set(segment, next)
        at = next
        continue
      }
      greedy = /[+*]/.test(segment)
      names.push(segment.replace(/[{}+*]/g, ""))
      if (!greedy) {
        at.parameter ??= node()
        at = at.parameter
      }
    }
    if (greedy) {
      const endings = [...(at.greedy.get(route.method) ?? []), { route, names, tail }]
      at.greedy.set(
        route.method,
        endings.sort((a, b) => b.tail.length - a.tail.length)
      )
    } else at.routes.set(route.method, { route, names })
  }

  const find = (
    at: Node,
    method: string,
    segments: ReadonlyArray<string>,
    index: number,
    values: ReadonlyArray<string>
  ): Match | undefined => {
    const found = (hit: Ending | undefined, all: ReadonlyArray<string>): Match | undefined =>
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
    const greedy = at.greedy.get(method)?.find(({ tail }) => endsIn(segments, index, tail))
    const end = segments.length - (greedy?.tail.length ?? 0)
    return found(greedy, [...values, segments.slice(index, end).join("/")])
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
